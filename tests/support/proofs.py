"""A game, its proof file and what is said of it, for the tests of proofs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from domain import events as e
from domain.variants import ruleset_of
from services.audit import KeyMissing, ServerKey
from services.proof import Claim, Report, proof_lines, read_proof
from services.verdicts import verify_proof
from tests.support.games import Game, play_game, stored

KEY = ServerKey(bytes(range(32)))
OTHER_KEY = ServerKey(bytes(32))
THIRD_KEY = ServerKey(bytes([3]) * 32)
Events = list[Any]


class Ring:
    """Several keys of one server in order, all of which games name, as `services.keyring.KeyRing` has them."""

    def __init__(self, *keys: ServerKey) -> None:
        self.keys, self.first, self.public = keys, keys[0], keys[-1].public

    def all(self) -> tuple[ServerKey, ...]:
        """All of them."""
        return self.keys

    def of(self, public: str) -> ServerKey:
        """One of them."""
        found = [key for key in self.keys if key.public == public]
        if not found:
            raise KeyMissing(public)
        return found[0]

    def derive(self, purpose: str, *parts: str) -> bytes:
        """By the first."""
        return self.first.derive(purpose, *parts)


class Always(ServerKey):
    """The key of a server that signs by it whatever its games name."""

    def of(self, public: str) -> ServerKey:
        """This key."""
        return self


@cache
def played(kinds: str = "ppnb", moves: int | None = None, **rules: Any) -> Game:
    """A game of two hands of four, by players with and without entropy and a bot."""
    given = {"variant": "standard", "players": 4, "hand_limit": 2} | rules
    return play_game(ruleset_of(given), 7, moves=moves, kinds=kinds, server_key=KEY.public)


def file_of(events: Iterable[e.Event], key: ServerKey | None = KEY) -> bytes:
    """The proof file of events, its chain and receipt made for just these, by the key whatever they name."""
    return b"".join(proof_lines(stored(list(events)), None if key is None else Always(key._seed)))


def report_of(data: bytes, server_key: str | None = None, *, rerun_bots: bool = False) -> Report:
    """What a proof file shows."""
    return verify_proof(read_proof(data), server_key, rerun_bots=rerun_bots)


def claim(report: Report, name: str) -> Claim:
    """One claim of a report."""
    return next(one for one in report.claims if one.name == name)


def claim_of(events: Iterable[e.Event], name: str) -> Claim:
    """A claim on the proof file of ``events``, its chain made for just these."""
    return claim(report_of(file_of(events)), name)


def statuses(report: Report) -> dict[str, str]:
    """Every claim's status by its name."""
    return {one.name: one.status for one in report.claims}


def at_of(events: Events, kind: type[e.Event], which: int = 0) -> int:
    """The index of an event of a kind."""
    return [at for at, event in enumerate(events) if type(event) is kind][which]


def changed(events: Events, at: int, **fields: Any) -> int:
    """Change fields of an event in place; its number."""
    events[at] = msgspec.structs.replace(events[at], **fields)
    return at + 1


def dropped(events: Events, kind: type[e.Event], which: int = 0) -> int:
    """Leave out an event of a kind; the number of what comes in its place."""
    at = at_of(events, kind, which)
    del events[at]
    return at + 1


def repeated(events: Events, kind: type[e.Event]) -> int:
    """Let the first event of a kind happen twice in a row; the number of the second."""
    at = at_of(events, kind)
    events.insert(at + 1, events[at])
    return at + 2


def replaced(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """A tuple with one entry changed."""
    return (*values[:at], value, *values[at + 1 :])


def delayed(events: Events, at: int, ms: int) -> int:
    """Let an event and all after it happen later, in place; its number."""
    events[at:] = [msgspec.structs.replace(event, at=event.at + ms) for event in events[at:]]
    return at + 1


def opened_late(kinds: str = "pppb", count: int = 1) -> Events:
    """A game of a table that took the last openings when the time for them was over."""
    events = list(played(kinds).events)
    delayed(events, at_of(events, e.SeatReady, kinds.count("p") - count), events[0].ready_seconds * 1000)
    return events


def first_opening(events: Events) -> int:
    """The index of the first opening of real entropy."""
    return next(at for at, event in enumerate(events) if isinstance(event, e.SeatReady) and event.entropy)
