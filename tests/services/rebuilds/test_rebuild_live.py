"""A rebuild while others play, read and are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from threading import Event, Thread
from typing import Any

import msgspec
import pytest

from domain.bots import BOTS
from domain.commands import GetReady, SeatPlan, SitDown, StandUp
from domain.variants import ruleset_of
from services.projections import Projections
from services.rebuild import KINDS, Rebuild
from services.rebuild_desks import RebuildDesks
from services.rebuild_games import RebuildGames
from services.rebuild_kinds import Folded
from services.rebuild_standings import RebuildStandings
from services.supervise import Stop
from services.versions import GAMES, Fence, Superseded
from services.wiring import Services, build
from tests.support.rebuilt import (
    desks_folded,
    desks_read,
    games_folded,
    games_read,
    of_version,
    open_table,
    over,
    project,
)
from workers.projector import Projector

PLAYERS = [f"p00000000000000{number:02}" for number in range(2)]


class Crowd:
    """Players and a projector at work in threads, until they are told to stop."""

    def __init__(self, house: Services) -> None:
        self.stop = Stop()
        self.moved = Event()
        self.errors: list[BaseException] = []
        self.threads = [Thread(target=self._guarded, args=(self._project, build(house.settings)))]
        self.threads += [
            Thread(target=self._guarded, args=(self._play, build(house.settings), player))
            for player in PLAYERS
        ]

    def __enter__(self) -> Crowd:
        for thread in self.threads:
            thread.start()
        assert self.moved.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()
        assert [] == self.errors

    def _guarded(self, do: Any, *args: Any) -> None:
        try:
            do(*args)
        except BaseException as error:  # noqa: BLE001 (told by the test)
            self.errors.append(error)

    def _project(self, house: Services) -> None:
        Projector(house.store, house.feed, house.projections, house.clock, block_ms=5).run(self.stop)

    def _play(self, house: Services, player: str) -> None:
        """Sit down, stand up, and play games with bots, one after another."""
        bot = SeatPlan(kind="bot", bot=BOTS["random"].id)
        rules = ruleset_of({"variant": "basic", "target": 20})
        while not self.stop.is_set():
            waits = open_table(house)
            house.tables.handle(waits, SitDown(player=player))
            house.tables.handle(waits, StandUp(player=player, seat=0))
            seats = [SeatPlan(kind="player", player=player), bot, bot, bot]
            game = house.tables.open(rules, seats, chain=1).table.state.game
            house.tables.handle(game, GetReady(player=player))
            bots = house.tables.open(rules, [bot] * 4, chain=1).table
            while bots.state.phase != "over" and not self.stop.is_set():
                bots = house.tables.act_for_house(bots.state.game)
                self.moved.set()


def test_under_live_play(house: Services) -> None:
    """Given games that are played all the time, when everything is made anew, then nothing differs, and all is as by the log."""
    over(house)
    with Crowd(house):
        for kind in [*KINDS.values()] * 2:
            report = Rebuild(house, kind, jobs=1).run()
            assert ([], {}, True) == (report.differences, report.failed, report.switched)
        standings = RebuildStandings(house, jobs=1).run()
        assert ([], True) == (standings.differences, standings.switched)
    check_all(house)


def test_under_live_play_in_several_processes(house: Services) -> None:
    """The same where others than this process read the log and write."""
    with Crowd(house):
        report = Rebuild(house, KINDS[GAMES], jobs=2).run()
    assert ([], {}, True) == (report.differences, report.failed, report.switched)
    check_all(house)


def check_all(house: Services) -> None:
    """What is read is what the log says, when the projector has come to its end."""
    project(house)
    assert games_folded(house) == games_read(house)
    assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)
    for kind in KINDS.values():
        assert 0 == Rebuild(house, kind, jobs=1).run(compare_only=True).differing


def lie(house: Services, games: list[str]) -> None:
    """Have the version that is read say of games that are over that they are open, in every list and summary."""
    version, keys, client = house.projections.versions.live(), house.keys, house.client
    for game in games:
        p, table = keys.partition(game), keys.table(game, version)
        summary = msgspec.json.decode(client.hget(table, "summary"))
        client.hset(table, "summary", msgspec.json.encode(summary | {"status": "open"}))
        client.zrem(keys.lobby(p, "over", version), game)
        client.zadd(keys.lobby(p, "open", version), {game: summary["created_at"]})


def answers(house: Services) -> list[tuple[int, set[str]]]:
    """How many games a request for the open ones, for those that are over and for all gives, and their statuses."""
    asked: list[dict[str, Any]] = [{"status": "open"}, {"status": "over"}, {}]
    found = [house.projections.list_games(limit=50, **one)[0] for one in asked]
    return [(len(one), {game["status"] for game in one}) for one in found]


def test_a_request_that_began_before_the_switch_ends_in_the_old_version(
    house: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a request that has read a list, when all readers are switched before it reads the tables, then it sees one version."""
    games = [over(house) for _ in range(3)]
    project(house)
    lie(house, games)
    places = Projections._places

    def slow(self: Projections, *args: Any) -> Any:
        found = places(self, *args)
        monkeypatch.setattr(Projections, "_places", places)
        assert Rebuild(house, RebuildGames(), jobs=1).run().switched
        return found

    monkeypatch.setattr(Projections, "_places", slow)
    found, _ = house.projections.list_games(status="open")
    assert sorted(games) == sorted(one["id"] for one in found)
    assert [(0, set()), (3, {"over"}), (3, {"over"})] == answers(house)


def test_readers_never_see_a_mix(house: Services) -> None:
    """Given readers that ask all the time, when versions that say different things are switched, then each answer is of one."""
    games = [over(house) for _ in range(6)]
    project(house)
    stop, seen, wrong = Event(), set[str](), list[Any]()

    def read() -> None:
        mine = build(house.settings)
        while not stop.is_set():
            for count, statuses in answers(mine):
                if (count, len(statuses)) not in ((0, 0), (6, 1)):
                    wrong.append((count, statuses))
                seen.update(statuses)

    readers = [Thread(target=read) for _ in range(2)]
    lie(house, games)
    for reader in readers:
        reader.start()
    for _ in range(5):
        assert 6 == Rebuild(house, RebuildGames(), jobs=1).run().differing
        house.client.hset(house.keys.versions, GAMES, 0)  # nobody would; the readers follow at once
        for p in range(4):
            house.client.hset(house.keys.written(p), GAMES, "0")
        keys = [*house.client.scan_iter("h:{p*}:t:*"), *house.client.scan_iter("h:{p*}:lobby:*")]
        for key in [*keys, *house.client.scan_iter("h:{p*}:seats")]:
            house.client.persist(key)
    stop.set()
    for reader in readers:
        reader.join()
    assert [] == wrong
    assert {"open", "over"} == seen


HALF = """
import sys
from services.cli import read_settings
from services.rebuild import KINDS, Rebuild
from services.wiring import build

kind, pieces = KINDS[sys.argv[1]], []
fold = kind.fold

def half(house, games, fence):
    if pieces:
        print("half", flush=True)
        sys.stdin.read()
    pieces.append(games)
    return fold(house, games, fence)

kind.fold = half
Rebuild(build(read_settings()), kind, jobs=1).run()
"""


@pytest.mark.parametrize("name", [*KINDS])
def test_killed_in_the_middle_and_begun_again(house: Services, name: str) -> None:
    """Given a process that is killed when it has folded half, when play goes on and it is begun again, then all is right."""
    for _ in range(60):
        open_table(house, PLAYERS[0])
    project(house)
    command = [sys.executable, "-c", HALF, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "half\n" == process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert of_version(house, 1)
    before = games_read(house)
    with pytest.raises(Superseded, match="another rebuild"):
        Rebuild(house, KINDS[name]).run()
    assert before == games_read(house)
    house.client.delete(house.keys.rebuild_lease(name))  # as half a minute does
    open_table(house, PLAYERS[1])
    project(house)
    report = Rebuild(house, KINDS[name], jobs=1).run()
    assert (0, {}, 2) == (report.differing, report.failed, report.version)
    assert games_folded(house) == games_read(house)
    assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)
    assert [] == of_version(house, 1)


def test_a_projector_that_dies_in_between(house: Services) -> None:
    """Given a projector that has told the desks and not yet the games when a version is made, then it is told once."""
    game = open_table(house, PLAYERS[0])
    project(house)
    dead = Projector(house.store, house.feed, house.projections, house.clock, block_ms=1, stale_ms=0)

    class Between(RebuildDesks):
        def fold(self, house: Services, games: list[str], fence: Fence) -> Folded:
            house.tables.handle(game, SitDown(player=PLAYERS[1]))
            dead._projections.write = die  # type: ignore[method-assign]
            with pytest.raises(InterruptedError):
                dead.round()
            del dead._projections.write
            return super().fold(house, games, fence)

    def die(*_: object) -> int:
        raise InterruptedError

    cursor = house.desks.read(PLAYERS[0])[0]
    assert 0 == Rebuild(house, Between(), jobs=1).run().differing
    again = Projector(house.store, house.feed, house.projections, house.clock, block_ms=1, stale_ms=0)
    again.begin()
    while again.round():
        pass
    assert 0 == house.projections.lag()
    assert [(game, 2, 3)] == [
        (one.game, one.after, one.upto) for one in house.desks.behind(PLAYERS[0], cursor)[0]
    ]
    assert games_folded(house) == games_read(house)
    assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)
