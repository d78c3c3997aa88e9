"""Projectors and bot workers share the partitions, on one server and on a cluster: they join and leave, and all is done."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from domain.bots import BOTS
from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.settings import Settings
from services.wiring import Services, build
from tests.support.auditing import HEARTS, process_environ
from tests.support.house import PATIENCE, until
from tests.support.places import PARTITIONS, Place, place

BOT = SeatPlan(kind="bot", bot=BOTS["rules"].id)
TABLES = 12


class Crew:
    """A store, and the processes that work on it."""

    def __init__(self, one: Place, data: Path) -> None:
        settings = Settings.from_environ(
            one.environ | {"HEARTS_DATA": str(data), "HEARTS_REPLICAS": "0", "HEARTS_LOG_LEVEL": "warning"}
        )
        self.services: Services = build(settings)
        self.games: list[str] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        self._environ = process_environ(settings)

    def join(self, kind: str) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        self.processes.append(subprocess.Popen([HEARTS, "worker", kind], env=self._environ))
        return self.processes[-1]

    def open_tables(self) -> None:
        """Open tables of bots in every partition, and wait until some of them are played and projected."""
        rules = ruleset_of({"variant": "standard", "hand_limit": 2})
        before = len(self.games)
        for _ in range(TABLES):
            self.games.append(self.services.tables.open(rules, [BOT] * 4).table.state.game)
        until(lambda: any(told["status"] == "over" for told in self.projected(self.games[before:])))

    def projected(self, games: list[str]) -> list[dict[str, object]]:
        """The games as they are projected."""
        return self.services.projections.tables(games)

    def end(self) -> None:
        """End all that is left."""
        for process in self.processes:
            process.kill()
            process.wait(PATIENCE)
        self.services.client.close()


@pytest.fixture(params=["one", "cluster"])
def crew(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crew]:
    """Nobody works yet."""
    with place(request.param, tmp_path / "servers", replicas=0) as one:
        made = Crew(one, tmp_path / "data")
        try:
            yield made
        finally:
            made.end()


def leave(process: subprocess.Popen[bytes], how: Callable[[], None]) -> None:
    """Let a worker go."""
    how()
    process.wait(PATIENCE)


def test_workers_join_and_leave(crew: Crew) -> None:
    """Given tables in play, when workers of each kind come, are killed and are stopped, then every game is folded to its end."""
    first = crew.join("projector"), crew.join("bots")
    crew.open_tables()
    second = crew.join("projector"), crew.join("bots")
    crew.open_tables()
    for process in first:
        leave(process, process.kill)
    crew.open_tables()
    third = crew.join("projector"), crew.join("bots")
    for process in second:
        leave(process, lambda process=process: process.send_signal(signal.SIGTERM))
    crew.open_tables()
    assert [None, None] == [process.poll() for process in third]
    services = crew.services
    until(lambda: not services.store.dues() and services.feed.lag("projector") == 0)
    assert len({services.keys.partition(game) for game in crew.games}) > PARTITIONS // 2
    assert {} == services.projections.parked()
    told = {one["id"]: (one["status"], one["seq"]) for one in crew.projected(crew.games)}
    assert told == {game: ("over", services.store.last(game)) for game in crew.games}
    for game in crew.games[:: TABLES // 2]:
        report = services.auditor.audit(game)
        assert () == tuple(report.problems)
        assert "holds" == {claim.name: claim.status for claim in report.claims}["B"]
