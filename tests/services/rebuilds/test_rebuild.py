"""`hearts rebuild`: a projection is made anew beside the one that is read, compared with it, and read in its place."""

from __future__ import annotations

import json

import pytest

from domain.commands import StandUp
from services.cli_rebuild import MEANINGS
from services.keyscheck import KeysCheck
from services.rebuild import KINDS, Rebuild
from services.versions import DESKS, GAMES, Making
from services.wiring import Services, build
from tests.support.rebuilt import (
    ANNA,
    BEN,
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
    world,
)


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
            house.client.hset(house.keys.desk(ANNA, version), waits, "2:t:1")
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
