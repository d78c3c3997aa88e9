"""A rebuild of what cannot be folded, and one that is broken off, killed or not alone."""

from __future__ import annotations

import pytest

from domain.commands import SitDown, StandUp
from services.cli_rebuild import MEANINGS
from services.projections import Parked
from services.rebuild import KINDS, Rebuild
from services.rebuild_work import FOLDED_AT_ONCE
from services.snapshot import fold_hash
from services.standings_fold import Ledger
from services.versions import DESKS, GAMES, Lease, Making, Superseded
from services.wire import StoreUnavailable
from services.wiring import Services
from tests.support.rebuilt import (
    ANNA,
    BEN,
    BURNT,
    PLAYERS,
    desks_folded,
    desks_read,
    each_kind,
    games_folded,
    games_read,
    of_version,
    open_table,
    over,
    project,
    run,
    told,
    versions_of,
    work_off,
    world,
)


class TestSetAside:
    def burnt(self, house: Services) -> str:
        """A game whose third event nobody knows, which was set aside."""
        game = open_table(house, ANNA)
        project(house)
        house.client.xadd(house.keys.stream(game), {"p": BURNT % 3}, id="3-0")
        house.feed.point(game, 3)
        project(house)
        return game

    @each_kind
    def test_stays_with_its_reason_and_its_place(self, house: Services, name: str) -> None:
        """Given a game that cannot be folded, then it stays set aside, and what there was of it is there after the switch."""
        game = self.burnt(house)
        marks = house.projections.parked()
        listed, desk = games_read(house), house.desks.read(ANNA)[1]
        done = run(name)
        assert 1 == done.exit_code
        assert f"game {game} cannot be folded: " in done.output
        assert marks == house.projections.parked()
        assert [game] == [*marks]
        assert (listed, desk) == (games_read(house), house.desks.read(ANNA)[1])

    def test_one_that_ended_the_projector_is_not_tried(self, house: Services) -> None:
        """It might end the rebuild, too."""
        game = open_table(house)
        project(house)
        mark = Parked(seq=1, why="it ended", times=3, at=1, ended=True, fold=fold_hash().hex())
        house.projections.park({game: mark})
        assert {game: "it ended"} == told(GAMES)["failed"]
        assert {game: mark} == house.projections.parked()
        assert games_folded(house) == games_read(house)

    def test_what_cannot_be_folded_any_more_is_set_aside_now(self, house: Services) -> None:
        """Given a stream that was spoilt behind the projector's back, then the switch sets it aside, a comparison does not."""
        game = open_table(house)
        project(house)
        house.client.xadd(house.keys.stream(game), {"p": BURNT % 2}, id="2-0")
        assert [game] == [*told(GAMES, "--compare")["failed"]]
        assert {} == house.projections.parked()
        told(GAMES)
        assert "card_burnt" in house.projections.parked()[game].why

    def test_one_that_was_mended_comes_back(self, house: Services) -> None:
        """Given a game whose bad event is gone, then it is set aside no longer when it is made anew."""
        game = self.burnt(house)
        house.client.xdel(house.keys.stream(game), "3-0")
        assert {} == told(GAMES)["failed"]
        project(house)
        assert {} == house.projections.parked()


class TestArchived:
    @each_kind
    def test_a_game_that_is_in_the_archive(self, house: Services, name: str) -> None:
        """Given a finished game out of the store, then it is folded from the archive, and does not wait for it again."""
        *_, ended = world(house)
        assert house.archiver is not None
        house.archiver.check()
        assert house.archiver.archive(ended)
        assert 0 == house.archiver.waiting()
        report = told(name)
        assert ({}, 0) == (report["failed"], report["differing"])
        assert games_folded(house) == games_read(house)
        assert 0 == house.archiver.waiting()


class TestBrokenOff:
    @each_kind
    def test_begun_again_after_it_was_killed(
        self, house: Services, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Given a rebuild that was killed in the middle, when another is begun, then nothing of the first one is left."""
        world(house)
        making = Making(house.store.wire, house.keys, name)
        making.open()
        KINDS[name].fold(house, [*house.store.games()][:2], making.fence)
        house.client.delete(house.keys.rebuild_lease(name))  # as its end does, in half a minute
        house.tables.handle(open_table(house, ANNA, BEN), StandUp(player=BEN, seat=1))
        project(house)
        assert of_version(house, 1)
        assert games_folded(house) == games_read(house)
        report = told(name)
        assert (2, 0, True) == (report["version"], report["differing"], report["switched"])
        assert [] == of_version(house, 1)
        assert games_folded(house) == games_read(house)
        assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)

    @each_kind
    def test_what_was_left_is_dropped(self, house: Services, name: str) -> None:
        """Given a rebuild that was killed, then nothing is written for it any more once that was dropped."""
        world(house)
        making = Making(house.store.wire, house.keys, name)
        making.open()
        KINDS[name].fold(house, [*house.store.games()], making.fence)
        assert 2 == run(name, "--drop").exit_code  # it might be at work still
        making.lease.release()
        assert 0 == run(name, "--drop").exit_code
        assert [] == of_version(house, 1)
        open_table(house, ANNA)
        project(house)
        assert [] == of_version(house, 1)
        assert games_folded(house) == games_read(house)

    @each_kind
    def test_killed_right_after_the_switch(self, house: Services, name: str) -> None:
        """Given a switch whose old version is written still, then the next rebuild goes on from there."""
        world(house)
        making = Making(house.store.wire, house.keys, name)
        making.open()
        KINDS[name].fold(house, [*house.store.games()], making.fence)
        making._end(switch=True)
        making.lease.release()
        open_table(house, ANNA)
        project(house)
        assert games_folded(house) == games_read(house)
        report = told(name)
        assert (2, 0) == (report["version"], report["differing"])
        assert games_folded(house) == games_read(house)
        assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)

    @each_kind
    def test_a_fault_leaves_what_is_read(
        self, house: Services, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Given a store that goes away while versions are compared, then the old one is read, and nothing is left of the other."""
        world(house)
        before = games_read(house)

        def gone(*_: object) -> None:
            raise StoreUnavailable("gone")

        monkeypatch.setattr(Rebuild, "_compare", gone)
        done = run(name)
        assert (2, True) == (done.exit_code, "gone" in done.output)
        assert ([], before) == (of_version(house, 1), games_read(house))
        assert {(0,)} == {*versions_of(house, name).fences(range(4)).values()}

    def test_one_at_a_time(self, house: Services) -> None:
        """Given a rebuild at work, then another one is refused and changes nothing."""
        world(house)
        for name in MEANINGS:
            lease = Lease(house.store.wire, house.keys, name)
            done = run(name)
            assert 2 == done.exit_code
            assert f"another rebuild of the {name} is at work" in done.output
            lease.release()
            assert 0 == run(name).exit_code

    @each_kind
    def test_one_that_slept_too_long(self, house: Services, name: str) -> None:
        """Given a rebuild that was stopped for longer than its lease, when another has begun, then it does no harm to that."""
        world(house)
        first = Making(house.store.wire, house.keys, name)
        first.open()
        first.lease.release()
        second = Making(house.store.wire, house.keys, name)
        second.open()
        games = [*house.store.games()]
        for late in (first.open, first.switch, first.give_up):
            with pytest.raises(Superseded):
                late()
        with pytest.raises(Superseded):
            KINDS[name].fold(house, games, first.fence)
        assert {(0, 2)} == {*versions_of(house, name).fences(range(4)).values()}
        assert (0, 2) == versions_of(house, name).state()


class TestProcesses:
    @pytest.mark.parametrize("name", [*MEANINGS])
    def test_several_processes_make_the_same(self, house: Services, name: str) -> None:
        """Given more games than one piece of work, when processes share them, then all is as the log says."""
        for _ in range(2 * FOLDED_AT_ONCE + 1):
            open_table(house, ANNA)
        over(house)
        project(house)
        report = told(name, "--jobs", "2")
        assert (2 * FOLDED_AT_ONCE + 2, 0) == (report["games"], report["differing"])
        assert games_folded(house) == games_read(house)
        assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)


def test_the_projector_writes_both_while_a_version_is_made(house: Services) -> None:
    """Given a projector that knows a table by one version, when another is opened, then the next it writes is in both."""
    game = open_table(house)
    one = project(house)
    making = Making(house.store.wire, house.keys, GAMES)
    desks = Making(house.store.wire, house.keys, DESKS)
    making.open()
    desks.open()
    house.tables.handle(game, SitDown(player=ANNA))
    work_off(one)
    for version in (0, 1):
        assert house.client.exists(house.keys.table(game, version))
        assert house.client.hget(house.keys.desk(ANNA, version), game).startswith(b"2:")
    assert 1 == len(house.desks.behind(ANNA, house.desks.read(BEN)[0]._replace(id=b"0-0"))[0])
    making.give_up()
    desks.give_up()
    other = open_table(house, ANNA)
    work_off(one)
    assert [True, False] == [bool(house.client.exists(house.keys.table(other, v))) for v in (0, 1)]


def test_a_ledger_that_is_held_is_read_only_when_it_is_said(house: Services) -> None:
    """Given a fold that is held, when projectors have folded all into it, then the other one is still read."""
    over(house)
    project(house)
    ledger = Ledger(house.client, house.keys)
    fold = ledger.begin(hold=True)
    while ledger.step():
        pass
    assert (1, 2) == (house.standings.fold(), fold)
    assert ledger.switch(fold)
    assert 2 == house.standings.fold()
    assert not ledger.give_up(fold)
