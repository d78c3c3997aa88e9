"""Many tables at once, planted in a store of their own, and the bot workers that play there, each a process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from domain import commands as c
from domain import events as e
from domain.bots import BOTS, STAND_IN, house_move
from domain.game import advance, to_act
from domain.ruleset import RuleSet
from domain.state import State
from domain.variants import ruleset_of
from services.codec import CODEC, Stored
from services.embedded import EmbeddedStore
from services.folded import follow
from services.owed import of_bots
from services.settings import Settings
from services.snapshot import take_snapshot
from services.store import Entry
from services.wiring import Services, build, now_ms
from tests.bench.servers import Cpu, store_cpu
from tests.support.auditing import HEARTS, process_environ

BOT: Final = c.SeatPlan(kind="bot", bot=BOTS["rules"].id)
KEY: Final = "ab" * 32
"""No server's key: who only plays on does not ask for it."""
PERSON: Final = "p000000000000000a"
MOVES: Final = (b'"t":"card_played"', b'"t":"cards_passed"')
"""What the public bytes of a move have, and of no other event."""
LEAD_SECONDS: Final = 1.5
"""So long after the last table is planted all become due."""
PATIENCE: Final = 180


class Planted(NamedTuple):
    """A table before it is in a store."""

    game: str
    stored: list[Stored]
    state: State
    snapshot: bytes


class Crowd:
    """A house without an API: a store, its services in this process, and bot workers as processes."""

    def __init__(self, services: Services, store: EmbeddedStore, fsync: str) -> None:
        self.services = services
        self.store_cpu = store_cpu(store)
        self.fsync = fsync

    @contextmanager
    def workers(self, count: int) -> Iterator[list[Cpu]]:
        """So many bot workers that wait for work; what each spends."""
        command = [str(HEARTS), "worker", "bots"]
        environ = process_environ(self.services.settings) | {"HEARTS_LOG_LEVEL": "warning"}
        with ExitStack() as stack:
            found = [stack.enter_context(subprocess.Popen(command, env=environ)) for _ in range(count)]
            try:
                until(lambda: self.services.queue.workers() == count)
                yield [Cpu(process.pid) for process in found]
            finally:
                for process in found:
                    process.terminate()

    def plant(self, tables: Sequence[Planted]) -> int:
        """Put tables into the store, all due at one moment soon, which is returned (Unix ms)."""
        client = self.services.client
        client.config_set("appendfsync", "everysec")  # only what is measured has to wait for the disk
        due = self.services.clock() + 1000 * PATIENCE
        for one in tables:
            at = one.state.last_at
            self.services.store.append(one.game, 0, one.stored, now=at, due=due, snapshot=one.snapshot)
        client.config_set("appendfsync", self.fsync)
        moment = self.services.clock() + int(1000 * LEAD_SECONDS)
        self._make_due(tables, moment)
        return moment

    def _make_due(self, tables: Sequence[Planted], moment: int) -> None:
        """As appends do it: in the due sets, and by a pointer for the sweep."""
        keys, line = self.services.keys, self.services.client.pipeline(transaction=False)
        for one in tables:
            partition = keys.partition(one.game)
            pointer = {"g": one.game, "n": len(one.stored), "d": moment}
            line.xadd(keys.feed(partition), pointer | ({"b": 1} if of_bots(one.state) else {}))
            line.zadd(keys.due(partition), {one.game: moment})
        line.execute()

    def lengths(self, tables: Sequence[Planted]) -> list[int]:
        """How many events each table has."""
        keys = self.services.keys
        return self.services.store.wire.pipeline([("XLEN", keys.stream(one.game)) for one in tables])

    def pointers(self) -> dict[str, list[tuple[int, int]]]:
        """Of each game, its appends: the server's time, ms, and the last seq then; oldest first."""
        found: dict[str, list[tuple[int, int]]] = {}
        cursors = dict.fromkeys(range(self.services.keys.partitions), b"0-0")
        while news := self.services.feed.follow(cursors, 0, 10_000):
            for pointer in (one for batch in news.values() for one in batch):
                at = int(pointer.id.partition(b"-")[0])
                found.setdefault(pointer.game, []).append((at, pointer.seq))
        return found


@contextmanager
def crowd(fsync: str) -> Iterator[Crowd]:
    """A house on a new folder."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedStore(Path(folder), fsync) as store:
        services = build(Settings(data=Path(folder), store_url=store.url, fsync=fsync))
        try:
            yield Crowd(services, store, fsync)
        finally:
            services.client.close()


def tables_of_bots(numbers: range, **rules: object) -> list[Planted]:
    """New tables of four bots, whose ids follow from their numbers."""
    chosen = ruleset_of({"variant": "standard", **rules})
    return [_planted(*_opened(number, (BOT,) * 4, chosen)) for number in numbers]


def tables_with_a_person(numbers: range) -> list[Planted]:
    """Tables of a person and three bots, each in some trick of its first hand, in which the person has just played."""
    found, chosen = [], ruleset_of({"variant": "standard"})
    seats = (c.SeatPlan(kind="player", player=PERSON), BOT, BOT, BOT)
    for number in numbers:
        events, state = _opened(number, seats, chosen)
        more, state = advance(state, c.GetReady(at=state.last_at, player=PERSON))
        while not _has_played(state, number % 5):
            events += more
            more, state = advance(state, _move(state))
        found.append(_planted(events + more, state))
    return found


def _opened(number: int, seats: tuple[c.SeatPlan, ...], rules: RuleSet) -> tuple[list[e.Event], State]:
    opening = c.OpenTable(
        at=now_ms(),
        game=f"{number:024x}",
        rules=rules,
        secret=number.to_bytes(32, "big"),
        seats=seats,
        server_key=KEY,
        stand_in=BOTS[STAND_IN].id,
    )
    return advance(None, opening)


def _planted(events: list[e.Event], state: State) -> Planted:
    stored = [CODEC.encode(event, seq) for seq, event in enumerate(events, 1)]
    table = follow(state.game, None, [(seq, *pair) for seq, pair in enumerate(stored, 1)])
    return Planted(state.game, stored, state, take_snapshot(*table))


def _has_played(state: State, tricks: int) -> bool:
    """Whether so many tricks are over, and the person has played to this one while a bot has still to."""
    hand = state.hand
    if hand is None or state.phase != "play" or len(hand.history) < tricks:
        return False
    return hand.turn != 0 and -hand.leader % len(state.seats) < len(hand.trick)


def _move(state: State) -> c.AnyCommand:
    """The next move, as a bot would make it for whoever it is."""
    seat = to_act(state)[0]
    move = house_move(state, seat, state.last_at)
    return move if seat else msgspec.structs.replace(move, who=PERSON)


def moves_of(entries: Sequence[Entry]) -> int:
    """How many of the entries are moves."""
    return sum(any(mark in public for mark in MOVES) for _, public, _ in entries)


def until(condition: Callable[[], object], pause: float = 0.01) -> None:
    """Wait for something that has no event of its own."""
    nap, end = threading.Event(), time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit("what is measured does not end")
        nap.wait(pause)
