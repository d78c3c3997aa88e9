"""Judges a trial: a pure function of its whole history and of what the house has in the end, as Jepsen's checkers are.

A command is known by its idempotency key. It was acknowledged where some try of it was answered 2xx; refused where the
last was answered 4xx; else nobody knows. A refused one that had a try without an answer is in doubt: that try may still
have been on its way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.faults.history import OPEN, READ, Call


class Logged(NamedTuple):
    """An event of the log, as far as commands go."""

    seq: int
    head: str
    kind: str
    """That of the command which it answers; empty for what follows by itself, and for moves of the house."""
    player: str = ""
    what: str = ""


class Final(NamedTuple):
    """What the house has when all is over."""

    logs: Mapping[str, Sequence[Logged]]
    """The events of each game, from the first on."""
    unfinished: Sequence[str] = ()
    """Games that could not be played to their end."""
    problems: Sequence[str] = ()
    """What the audits say: of games, keys, the transparency log and the standings."""


class Violation(NamedTuple):
    """Something that was promised and is not so."""

    kind: str
    game: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: game {self.game or '-'}: {self.detail}"


LOST = "an acknowledged command is not in the log"
TWICE = "an event that nobody asked for, or that was appended twice"
SHARED = "two commands were told the same event"
SURE = "a refused command is in the log"
FORKED = "a head that was told is not the log's"
BACKWARDS = "who came later was told less"
CHANGED = "a repeat was answered otherwise"
STUCK = "a table is stuck"
AUDIT = "an audit finds something"


def check(history: Iterable[Call], final: Final) -> list[Violation]:
    """Everything that is wrong, the most telling first."""
    calls = list(history)
    commands = _Commands(calls)
    found = [
        *_each_command(commands, final),
        *_heads(calls, final),
        *_repeats(commands),
        *_order(calls),
        *(Violation(STUCK, game, "it could not be played to its end") for game in final.unfinished),
        *(Violation(AUDIT, "", problem) for problem in final.problems),
    ]
    return list(dict.fromkeys(found))


class _Commands:
    """The commands of a history by who asked and the key, each with all its tries."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self.tries: dict[tuple[str, str], list[Call]] = defaultdict(list)
        for call in calls:
            if call.kind != READ:
                self.tries[call.player, call.key].append(call)
        self.acknowledged = [
            next(one for one in tries if one.done)
            for tries in self.tries.values()
            if any(one.done for one in tries)
        ]
        rest = [tries for tries in self.tries.values() if not any(one.done for one in tries)]
        self.refused = [tries[-1] for tries in rest if all(one.refused for one in tries)]
        self.possible = [tries[-1] for tries in rest if not all(one.refused for one in tries)]
        """In the log or not: either is right."""


def _identity(call: Call) -> tuple[str, str, str, str]:
    return call.game, call.player, call.kind, call.what


def _each_command(commands: _Commands, final: Final) -> Iterator[Violation]:
    """Each acknowledged command has an event of its own, and each event a command."""
    claimed: dict[tuple[str, int], Call] = {}
    for call in commands.acknowledged:
        event = _event_of(call, final.logs.get(call.game, ()))
        if event is None:
            yield Violation(
                LOST, call.game, f"{call.kind} {call.what} of {call.player}, told event {call.seq}"
            )
            continue
        other = claimed.setdefault((call.game, event.seq), call)
        if other is not call:
            yield Violation(SHARED, call.game, f"event {event.seq}: keys {other.key} and {call.key}")
    possible = Counter(map(_identity, commands.possible))
    refused = {_identity(call) for call in commands.refused}
    for game, log in final.logs.items():
        for event in log:
            who = (game, event.player, event.kind, event.what)
            # of a table whose opening was not answered, the caller does not know the id
            names = [who, ("", *who[1:])] if event.kind == OPEN else [who]
            if not event.kind or (game, event.seq) in claimed:
                continue
            asked = next((name for name in names if possible[name] > 0), None)
            if asked is not None:
                possible[asked] -= 1
            else:
                kind = SURE if who in refused else TWICE
                yield Violation(kind, game, f"event {event.seq}: {event.kind} {event.what} of {event.player}")


def _event_of(call: Call, log: Sequence[Logged]) -> Logged | None:
    """The event that an acknowledged command has caused: the last act up to the event that its answer was of."""
    if call.kind == OPEN:
        return (
            log[0] if len(log) >= call.seq and log[0].kind == OPEN and log[0].player == call.player else None
        )
    act = next((event for event in reversed(log[: call.seq]) if event.kind), None)
    if len(log) < call.seq or act is None:
        return None
    return act if (act.player, act.kind, act.what) == (call.player, call.kind, call.what) else None


def _heads(calls: Iterable[Call], final: Final) -> Iterator[Violation]:
    """What anybody was told of an event is what the log has: no history beside it."""
    for call in calls:
        if not call.done or not call.head:
            continue
        log = final.logs.get(call.game, ())
        there = log[call.seq - 1].head if 0 < call.seq <= len(log) else "no such event"
        if not there.startswith(call.head) and not call.head.startswith(there):
            detail = f"{call.client} was told {call.head[:16]} of event {call.seq}, and there is {there[:16]}"
            yield Violation(FORKED, call.game, detail)


def _repeats(commands: _Commands) -> Iterator[Violation]:
    """Whoever asks again under a key is told the same."""
    for (_, key), tries in commands.tries.items():
        done = [one for one in tries if one.done]
        told = {(one.game, one.seq, one.head[:16]) for one in done}
        if len(told) > 1:
            yield Violation(CHANGED, done[0].game, f"key {key}: {sorted(told)}")
        fresh = [one for one in done if not one.replayed]
        if len(fresh) > 1:
            yield Violation(CHANGED, done[0].game, f"key {key} was carried out {len(fresh)} times")
        refused = next((one for one in tries if done and one.refused and one.began > done[0].ended), None)
        if refused is not None:
            yield Violation(CHANGED, done[0].game, f"key {key}: 2xx, then {refused.status} {refused.code}")


def _order(calls: Iterable[Call]) -> Iterator[Violation]:
    """Who asks when somebody has been told of event n is told of event n at least. Of a repeat the first answer counts."""
    of_game: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        if call.done and call.seq and not call.replayed:
            of_game[call.game].append(call)
    for game, answered in of_game.items():
        ended = sorted(answered, key=lambda one: one.ended)
        known, at = 0, 0
        for call in sorted(answered, key=lambda one: one.began):
            while ended[at].ended < call.began:
                known, at = max(known, ended[at].seq), at + 1
            if call.seq < known:
                yield Violation(
                    BACKWARDS, game, f"{call.client} was told event {call.seq}, after others event {known}"
                )
