"""Bot workers join, leave and are killed while many tables are played: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from domain.bots import BOTS, house_move
from domain.commands import GetReady, SeatPlan
from domain.game import to_act
from domain.variants import ruleset_of
from services.embedded import EmbeddedStore
from services.folded import follow
from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import project
from tests.support.auditing import HEARTS, process_environ

PATIENCE = 60
"""Seconds after which a test that waits has failed."""
PARTITIONS = 8
TABLES = 20
"""So many are in play as long as workers come and go: those that end are replaced."""
PERSONS = 4
"""Tables with one person each."""
PLAYER = "p000000000000000a"


class House:
    """A store, its tables, the persons at some of them, and bot workers as processes."""

    def __init__(self, settings: Settings) -> None:
        self.services: Services = build(settings)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.appends = 0
        """How many have been heard of."""
        self.receipts: list[tuple[str, int, bytes]] = []
        """Of each move that a person was told is done: the game, its last event then, and the head."""
        self._environ = process_environ(settings)
        self._cursors = self.services.feed.heads()
        self.games: list[str] = []
        self._of_persons = {self._open(1) for _ in range(PERSONS)}

    def _open(self, persons: int) -> str:
        bot = SeatPlan(kind="bot", bot=BOTS["rules"].id)
        seats = [SeatPlan(kind="player", player=PLAYER)] * persons + [bot] * (4 - persons)
        rules = ruleset_of({"variant": "standard", "hand_limit": 2 if persons else 6})
        game = self.services.tables.open(rules, seats).table.state.game
        self.games.append(game)
        if persons:
            self._do(game, GetReady(player=PLAYER))
        return game

    def _do(self, game: str, command) -> None:
        table = self.services.tables.handle(game, command).table
        self.receipts.append((game, table.seq, table.head))

    def join(self) -> subprocess.Popen[bytes]:
        """Start one more worker, and wait until it serves the queue."""
        before = self.services.queue.workers()
        self.workers.append(subprocess.Popen([HEARTS, "worker", "bots"], env=self._environ))
        self.play_until(lambda: self.services.queue.workers() > before)
        return self.workers[-1]

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """End a worker in the middle of whatever it does."""
        worker.kill()
        worker.wait(PATIENCE)

    def play_until(self, condition: Callable[[], object], *, refill: bool = True) -> None:
        """Let persons move whenever it is their turn, and open new tables for those that end, until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline
            if refill:
                self._refill()
            for pointers in self.services.feed.follow(self._cursors, 100).values():
                self.appends += len(pointers)
                for game in {pointer.game for pointer in pointers} & self._of_persons:
                    self._move(game)

    def _refill(self) -> None:
        keys, store = self.services.keys, self.services.store
        waiting = sum(store.wire.pipeline([("ZCARD", keys.due(p)) for p in range(PARTITIONS)]))
        for _ in range(waiting, TABLES):
            self._open(0)

    def play_on(self, appends: int) -> None:
        """Wait for so many more appends."""
        enough = self.appends + appends
        self.play_until(lambda: self.appends >= enough)

    def _move(self, game: str) -> None:
        state = self.services.tables.load(game).state
        while state.phase != "over" and 0 in to_act(state):
            self._do(game, msgspec.structs.replace(house_move(state, 0, 0), who=PLAYER))
            state = self.services.tables.load(game).state

    def play_to_the_end(self) -> None:
        """Go on until nothing is owed any more, at any table."""
        assert self.services.store.dues(), "there was work whenever a worker was killed"
        self.play_until(lambda: not self.services.store.dues(), refill=False)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house whose workers are gone at the end."""
    with EmbeddedStore(tmp_path, fsync="everysec") as store:
        one = House(Settings(data=tmp_path, store_url=store.url, partitions=PARTITIONS, log_level="warning"))
        try:
            yield one
        finally:
            for process in one.workers:
                one.kill(process)
            one.services.client.close()


def assert_played_once(house: House) -> None:
    """Every game is over, is what the rules and its bots make of it, and has all that persons were told is done."""
    for game in house.games:
        entries = house.services.store.read(game)  # raises where an event is missing
        table = follow(game, None, entries)
        assert "over" == table.state.phase
        live = house.services.tables.load(game)
        assert (live.seq, live.head) == (table.seq, table.head)
        project(house.services, game)
        report = house.services.auditor.audit(game)
        assert () == tuple(report.problems)
        told = {claim.name: claim.status for claim in report.claims}
        assert ("holds", "holds") == (told["R"], told["B"]), "the rules, and the decisions of bots"
    for game, seq, head in house.receipts:
        assert house.services.tables.at(game, seq).head == head


def test_workers_come_and_go(house) -> None:
    """Given tables in play, when workers are killed, are stopped in order and join, then every game ends as it must."""
    first, second = house.join(), house.join()
    house.play_on(20)
    house.kill(first)
    house.play_on(20)
    third = house.join()
    house.play_on(20)
    second.send_signal(signal.SIGTERM)
    house.play_until(lambda: second.poll() is not None)
    assert 0 == second.returncode
    house.kill(third)
    house.join()
    house.play_to_the_end()
    assert_played_once(house)


def test_all_are_killed_and_the_queue_is_lost(house) -> None:
    """Given all workers killed at once, and their jobs forgotten, then new ones find everything that is owed."""
    for worker in [house.join() for _ in range(2)]:
        house.play_on(10)
        worker.kill()
    for worker in house.workers:
        worker.wait(PATIENCE)
    client = house.services.client
    client.delete(*client.scan_iter("rq:*"))
    house.join()
    house.join()
    house.play_to_the_end()
    assert_played_once(house)
