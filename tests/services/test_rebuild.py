"""`hearts rebuild`: a projection is made anew beside the one that is read, compared with it, and read in its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from domain.bots import BOTS
from domain.commands import GetReady, SeatPlan, SitDown, StandUp
from domain.variants import ruleset_of
from services.cli_rebuild import MEANINGS, rebuild
from services.keyscheck import KeysCheck
from services.projections import Parked
from services.rebuild import KINDS, Rebuild
from services.rebuild_work import FOLDED_AT_ONCE
from services.snapshot import fold_hash
from services.standings_fold import Ledger
from services.versions import DESKS, GAMES, Lease, Making, Superseded, Versions
from services.wire import StoreUnavailable
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
    served,
    work_off,
)

ANNA, BEN = "p000000000000000a", "p000000000000000b"
PLAYERS = [ANNA, BEN]
BOT = SeatPlan(kind="bot", bot=BOTS["rules"].id)
BURNT = b'{"n":%d,"t":"card_burnt","at":1}'
each_kind = pytest.mark.parametrize("name", [GAMES, DESKS])


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """A house on a store of the test, which the command finds by the environment, with an archive."""
    with served(tmp_path, monkeypatch) as services:
        yield services


def run(*words: str) -> Result:
    """The command."""
    return CliRunner().invoke(rebuild, [*words])


def told(*words: str) -> dict:
    """The report of the command."""
    return json.loads(run(*words, "--json", "--show", "1000").stdout)


def world(house: Services) -> tuple[str, str, str]:
    """A game with a free seat, one that is played and one that is over, projected."""
    waits = open_table(house, ANNA)
    plays = house.tables.open(
        ruleset_of({"variant": "basic"}),
        [SeatPlan(kind="player", player=ANNA), SeatPlan(kind="player", player=BEN), BOT, BOT],
    ).table.state.game
    for player in PLAYERS:
        house.tables.handle(plays, GetReady(player=player))
    ended = over(house)
    project(house)
    return waits, plays, ended


def versions_of(house: Services, name: str) -> Versions:
    """The versions of a projection."""
    return house.projections.versions if name == GAMES else house.desks.versions


class TestWithoutFault:
    @each_kind
    def test_nothing_differs_and_the_new_version_is_read(self, house: Services, name: str) -> None:
        """Given games in every state, when a projection is made anew, then it is as before, under other keys."""
        world(house)
        before = games_read(house), desks_read(house, PLAYERS)
        assert before == (games_folded(house), desks_folded(house, PLAYERS))
        done = run(name)
        assert 0 == done.exit_code, done.output
        assert "nothing differs\nversion 1 is read now; the old one goes in a minute" in done.output
        assert 1 == versions_of(house, name).live()
        assert before == (games_read(house), desks_read(house, PLAYERS))
        assert of_version(house, 1)

    @each_kind
    def test_the_old_version_stays_for_a_minute_and_is_written_no_longer(
        self, house: Services, name: str
    ) -> None:
        """Given a rebuild, then each key of the old version ends by itself; news is written to the new one alone."""
        world(house)
        old = {GAMES: house.keys.table, DESKS: house.keys.desk}[name]
        run(name)
        item = ANNA if name == DESKS else next(iter(house.store.games()))
        assert 0 < house.client.pttl(old(item)) <= 60_000
        assert house.client.ttl(old(item, 1)) == -1
        left = house.client.hgetall(old(item))
        house.tables.handle(open_table(house, ANNA, BEN), StandUp(player=BEN, seat=1))
        project(house)
        assert left == house.client.hgetall(old(item))
        assert games_folded(house) == games_read(house)
        assert desks_folded(house, PLAYERS) == desks_read(house, PLAYERS)

    @each_kind
    def test_audits_hold_on_a_store_with_versions(self, house: Services, name: str) -> None:
        """Given a version that is read and an old one that is about to go, then no check of the house finds a fault."""
        games = world(house)
        run(name)
        assert () == KeysCheck(house.store.wire, house.keys).run().problems
        assert [True] * 3 == [house.auditor.audit(game).ok for game in games]
        assert {*games} == {*house.auditor.games()}
        house.client.zadd(house.keys.lobby(0, "open", 7), {"x": 1})
        house.client.hset(house.keys.desk(ANNA, 7).replace("{p0", "{p9"), "x", "1")
        told = "the key h:{p9"
        assert any(told in one for one in KeysCheck(house.store.wire, house.keys).run().problems)

    @each_kind
    def test_what_is_wrong_in_the_version_that_is_read_is_found(self, house: Services, name: str) -> None:
        """Given a later version, when a table, a list or a desk of it is damaged, then the audits tell."""
        waits, *_ = world(house)
        run(name)
        version = versions_of(house, name).live()
        partition = house.keys.partition(waits)
        if name == GAMES:
            house.client.zrem(house.keys.lobby(partition, "open", version), waits)
            house.client.zadd(house.keys.lobby(partition, "open", version), {"ghost": 1})
            assert [
                f"{house.keys.lobby(partition, 'open', version)} lists ghost, and there is no such game"
            ] == [*KeysCheck(house.store.wire, house.keys).run().problems]
        else:
            house.client.hset(house.keys.desk(ANNA, version), waits, "9::1")
        assert not house.auditor.audit(waits).ok

    @each_kind
    def test_one_rebuild_after_another(self, house: Services, name: str) -> None:
        """Each has a version of its own, and takes the place of the one before."""
        world(house)
        for version in (1, 2, 3):
            report = told(name)
            assert (version, True, 0) == (report["version"], report["switched"], report["differing"])
        assert [] == of_version(house, 1) == of_version(house, 2)
        assert games_folded(house) == games_read(house)

    def test_compared_only(self, house: Services) -> None:
        """When versions are only compared, then nothing is left of the new one and nothing is switched."""
        world(house)
        before = set(house.client.scan_iter())
        for name in MEANINGS:
            done = run(name, "--compare")
            assert (0, True) == (done.exit_code, "nothing was switched" in done.output), done.output
        added = set(house.client.scan_iter()) - before - {house.keys.versions.encode()}
        assert {house.keys.written(p).encode() for p in range(4)} == added
        assert 0 == house.projections.versions.live()
        assert {(0,)} == {*house.projections.versions.fences(range(4)).values()}

    def test_standings(self, house: Services) -> None:
        """Given standings, when they are made anew, then another fold is read, which says the same."""
        games = [over(house) for _ in range(3)]
        project(house)
        before = house.standings.standing("bot:rules@1")
        assert before is not None
        assert 3 == before.finished
        fold = house.standings.fold()
        report = told("standings")
        assert (True, 0, len(games)) == (report["switched"], report["differing"], report["games"])
        assert fold + 1 == report["version"] == house.standings.fold()
        assert before == house.standings.standing("bot:rules@1")

    def test_listed(self, house: Services) -> None:
        """The list tells of each projection which version is read, and of one that is being made or was left."""
        assert 3 == run("--list").output.count("; version 0 is read")
        run(GAMES)
        making = Making(house.store.wire, house.keys, GAMES)
        lines = run("--list").output.splitlines()
        assert lines[0].endswith("version 1 is read, version 2 is being made")
        making.lease.release()
        lines = run("--list").output.splitlines()
        assert lines[0].endswith("version 1 is read, version 2 was left unfinished")
        assert lines[1].endswith("version 0 is read")

    @pytest.mark.parametrize(
        "words", [(), ("games", "--list"), ("games", "--compare", "--drop"), ("tables",)]
    )
    def test_what_cannot_be_asked(self, words: tuple[str, ...]) -> None:
        """A usage error says what can."""
        assert 2 == run(*words).exit_code


class TestDamaged:
    def test_games_are_listed_and_mended(self, house: Services) -> None:
        """Given a summary, lists and lobbies that were changed, then each field is listed, and is right after the switch."""
        waits, plays, ended = world(house)
        keys, client, p = house.keys, house.client, house.keys.partition
        summary = json.loads(client.hget(keys.table(plays), "summary"))
        totals = summary["totals"]
        client.hset(keys.table(plays), "summary", json.dumps(summary | {"totals": [9, 9, 9, 9]}))
        client.zrem(keys.lobby(p(waits), "open"), waits)
        client.zadd(keys.lobby(p(ended), "playing"), {ended: 5})
        ghost = next(f"no{n}" for n in range(99) if p(f"no{n}") == 2)
        client.zadd(keys.lobby(2, "open"), {ghost: 7})
        listed = f"{BEN}:{games_folded(house)[plays]['listed'][0][1]:013}:{plays}"
        assert 1 == client.zrem(keys.seats(p(plays)), listed)
        client.zrem(keys.finished(p(ended)), ended)
        client.zadd(keys.finished(p(plays)), {plays: 1})
        compared = run(GAMES, "--compare")
        assert 1 == compared.exit_code
        assert (
            f"game {plays}: totals is [9,9,9,9], the log says {json.dumps(totals, separators=(',', ':'))}"
            in compared.output
        )
        report = told(GAMES)
        found = {(one["of"], one["field"]): (one["old"], one["new"]) for one in report["differences"]}
        opened = {game: games_folded(house)[game]["listed"][0][1] for game in (waits, ended)}
        seats = games_folded(house)[plays]
        assert ([9] * 4, totals) == found.pop((f"game {plays}", "totals"))
        assert (None, {"open": opened[waits]}) == found.pop((f"game {waits}", "listed"))
        assert ({"playing": 5, "over": opened[ended]}, {"over": opened[ended]}) == found.pop(
            (f"game {ended}", "listed")
        )
        assert ({"listed": {"open": 7}}, None) == found.pop((f"game {ghost}", "all"))
        before, after = found.pop((f"game {plays}", "listed for"))
        assert (1, 2) == (len(before), len(after))
        assert seats["players"] == sorted(one.split(":")[0] for one in after)
        assert (False, True) == found.pop((f"game {ended}", "awaits archive"))
        assert (True, False) == found.pop((f"game {plays}", "awaits archive"))
        assert {} == found
        assert games_folded(house) == games_read(house)
        assert [ended.encode()] == [one for q in range(4) for one in client.zrange(keys.finished(q), 0, -1)]

    def test_a_table_that_says_too_much_does_not_stop_later_events(self, house: Services) -> None:
        """Given a summary that claims to be far ahead, when the game goes on while it is made anew, then nothing is lost."""
        waits, *_ = world(house)
        house.client.hset(house.keys.table(waits), "seq", 9999)
        fold = KINDS[GAMES].fold

        class Between(type(KINDS[GAMES])):
            def fold(self, *args):
                done = fold(*args)
                house.tables.handle(waits, StandUp(player=ANNA, seat=0))
                project(build(house.settings))
                return done

        Rebuild(house, Between()).run()
        assert games_folded(house) == games_read(house)

    def test_a_table_of_another_type(self, house: Services) -> None:
        """Given a key that somebody has written over, then it is told, and the new version is whole."""
        waits, *_ = world(house)
        house.client.delete(house.keys.table(waits))
        house.client.set(house.keys.table(waits), "x")
        report = told(GAMES)
        assert {f"game {waits}"} == {one["of"] for one in report["differences"]}
        assert games_folded(house) == games_read(house)

    def test_desks_are_listed_and_mended_and_what_was_not_told_is(self, house: Services) -> None:
        """Given desks that lack a game, have one too many or say too much, then all is mended, and the inbox tells what it had not."""
        waits, plays, _ = world(house)
        keys, client = house.keys, house.client
        right = desks_folded(house, PLAYERS)
        seq, turn = right[ANNA, plays]
        client.hdel(keys.desk(ANNA), waits)
        client.hset(keys.desk(ANNA), plays, f"9999:{'' if turn else 't'}:1")
        client.hset(keys.desk(BEN), "ghost", "3::1")
        cursor = house.desks.read(ANNA)[0]
        assert 1 == run(DESKS, "--compare").exit_code
        report = told(DESKS)
        found = {(one["of"], one["field"]): (one["old"], one["new"]) for one in report["differences"]}
        assert {
            (f"player {ANNA}, game {waits}", "all"): (
                None,
                {"told up to": 2, "waits": right[ANNA, waits][1]},
            ),
            (f"player {ANNA}, game {plays}", "told up to"): (9999, seq),
            (f"player {ANNA}, game {plays}", "waits"): (not turn, turn),
            (f"player {BEN}, game ghost", "all"): ({"told up to": 3, "waits": False}, None),
        } == found
        assert right == desks_read(house, PLAYERS)
        entries, _ = house.desks.behind(ANNA, cursor)
        assert [(waits, 0, 2)] == [(one.game, one.after, one.upto) for one in entries]

    def test_standings_are_listed_and_mended(self, house: Services) -> None:
        """Given a standing, a board and the list of games that were changed, then each is told; a missing game is entered."""
        games = [over(house) for _ in range(3)]
        project(house)
        keys, client = house.keys, house.client
        right = house.standings.standing("bot:rules@1")
        client.hset(keys.standings_players(1), "bot:rules@1", '{"finished":99}')
        client.zadd(keys.standings_board(1, "basic"), {"bot:random@1": 77})
        client.srem(keys.standings_known, games[2])
        entry = client.xrange(keys.standings_games)[2]
        client.xdel(keys.standings_games, entry[0])
        report = told("standings", "--compare")
        found = {(one["of"], one["field"]) for one in report["differences"]}
        assert (f"game {games[2]}", "entered") in found
        assert ("player bot:rules@1", "finished") in found
        assert ("player bot:random@1", "board of basic") in found
        assert 1 == house.standings.fold()
        assert told("standings")["switched"]
        assert (right, []) == (house.standings.standing("bot:rules@1"), house.standings.board("basic")[0])
        assert 0 == told("standings", "--compare")["differing"]


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
