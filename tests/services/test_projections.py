"""The read models: written once whatever is delivered how often, and read in pages that stay still."""

import itertools
import random
from typing import Any

import msgspec
import pytest
import redis

from domain.bots import BOTS, house_move
from domain.commands import GetReady, OpenTable, SeatPlan
from domain.game import advance, to_act
from domain.refusals import Malformed
from domain.state import State
from domain.variants import ruleset_of
from services.feed import Feed
from services.folded import Table
from services.keys import Keys
from services.projections import AT_ONCE, GROUP, Parked, Projections
from services.store import Store
from services.summaries import VERSION, Update, update

ANNA, BEN = "p000000000000000a", "p000000000000000b"
NOW = 1_800_000_000_000


@pytest.fixture
def projections(client: redis.Redis, keys: Keys) -> Projections:
    """Read models of an empty store of each kind in turn."""
    return Projections(client, keys)


def opened(*players: str) -> State:
    """A table of the standard game with these players, a bot, and the other seats open."""
    plans = [
        SeatPlan(kind="bot", bot=BOTS["rules"].id),
        *(SeatPlan(kind="player", player=player) for player in players),
        *[SeatPlan(kind="open")] * (3 - len(players)),
    ]
    command = OpenTable(
        at=NOW,
        game="g",
        rules=ruleset_of({"variant": "standard"}),
        secret=bytes(32),
        seats=tuple(plans),
        server_key="00" * 32,
        stand_in=BOTS["rules"].id,
        chain=2,
    )
    return advance(None, command)[1]


def after(state: State, *commands: Any) -> State:
    """The table after commands of its players."""
    for command in commands:
        state = advance(state, command)[1]
    return state


def projected(state: State, seq: int = 7) -> Update:
    """The projection of a table."""
    return update("g", Table(state, seq, b"", NOW + 5), NOW)


def played_out(state: State) -> State:
    """The table after every seat has moved as the stand-in would, to the end."""
    while state.phase != "over":
        seat = to_act(state)[0]
        one, move = state.seats[seat], house_move(state, seat, NOW)
        state = after(state, move if one.house_plays else msgspec.structs.replace(move, who=one.player))
    return state


class TestSummary:
    def test_of_an_open_table(self) -> None:
        """It tells who sits where and what is played."""
        found = projected(opened(ANNA, BEN))
        assert {
            "id": "g",
            "seq": 7,
            "status": "open",
            "phase": "seats",
            "variant": "standard",
            "players": 4,
            "seats": [
                {"seat": 0, "kind": "bot", "player": None, "bot": "rules"},
                {"seat": 1, "kind": "player", "player": ANNA, "bot": None},
                {"seat": 2, "kind": "player", "player": BEN, "bot": None},
                {"seat": 3, "kind": "open", "player": None, "bot": None},
            ],
            "created_at": NOW,
            "updated_at": NOW + 5,
            "hand_number": 0,
            "totals": (0, 0, 0, 0),
            "winners": (),
            "rated": False,
            "target": 100,
        } == found.summary

    def test_of_a_game_from_the_deal_to_the_end(self) -> None:
        """It is playing from the deal on, and ends with the winners."""
        players = (ANNA, BEN, "p00000000000000cc")
        dealt = after(opened(*players), *(GetReady(at=NOW, player=player) for player in players))
        found = projected(dealt)
        assert ("playing", "pass", 1) == tuple(
            found.summary[name] for name in ("status", "phase", "hand_number")
        )
        final = played_out(dealt)
        over = projected(final)
        assert ("over", "over") == (over.summary["status"], over.summary["phase"])
        assert (final.winners, final.totals) == (
            tuple(over.summary["winners"]),
            list(over.summary["totals"]),
        )
        assert over.summary["winners"]


def stage(game: str, seq: int, status: str, players: str = "", at: int = NOW) -> Update:
    """A projection made by hand; players are letters."""
    seats = [{"seat": seat, "player": player} for seat, player in enumerate(players)]
    summary = {"id": game, "seq": seq, "status": status, "seats": seats, "created_at": at, "updated_at": at}
    return Update(game, seq, summary)


def put(projections: Projections, keys: Keys, *updates: Update) -> int:
    """Write projections, each into its partition."""
    sorted_in: dict[int, list[Update]] = {}
    for one in updates:
        sorted_in.setdefault(keys.partition(one.game), []).append(one)
    return projections.write(sorted_in)


def contents(client: redis.Redis) -> dict[bytes, Any]:
    """Everything that is stored."""
    readers: dict[bytes, Any] = {
        b"hash": client.hgetall,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
    }
    return {key: readers[client.type(key)](key) for key in client.scan_iter()}


LIFE = [
    stage("g", 2, "open", "ab"),
    stage("g", 3, "open", "b"),
    stage("g", 5, "open", "bc"),
    stage("g", 9, "playing", "bc"),
    stage("g", 12, "playing", "bc"),
    stage("g", 20, "over", "bc"),
]


class TestWrite:
    @pytest.mark.parametrize("seed", range(5))
    def test_deliveries_in_any_order_and_number_have_one_effect(
        self, client: redis.Redis, projections: Projections, keys: Keys, seed: int
    ) -> None:
        """Given a game's life, when its stages come twice and shuffled, then all is as if only the last had come."""
        put(projections, keys, LIFE[-1])
        expected = contents(client)
        assert {b"over", b"seats", b"finished", b"g"} == {key.rpartition(b":")[2] for key in expected}
        client.flushall()
        shuffled = LIFE * 2
        random.Random(seed).shuffle(shuffled)
        for one in shuffled:
            put(projections, keys, one)
        assert expected == contents(client)

    def test_every_stage_leaves_the_indexes_as_they_should_be(
        self, projections: Projections, keys: Keys
    ) -> None:
        """A game is in one lobby, and in the lists of those who sit there."""
        for one in LIFE:
            assert 1 == put(projections, keys, one)
            for status in ("open", "playing", "over"):
                listed, _ = projections.list_games(status=status)
                assert listed == ([one.summary] if status == one.summary["status"] else [])
            for player in "abc":
                listed, _ = projections.list_games(player=player)
                sits = any(seat["player"] == player for seat in one.summary["seats"])
                assert listed == ([one.summary] if sits else [])

    def test_what_is_no_newer_is_not_written(self, projections: Projections, keys: Keys) -> None:
        """A repeat and a late stage change nothing, and are not counted."""
        assert 1 == put(projections, keys, LIFE[3])
        assert 0 == put(projections, keys, LIFE[3], LIFE[0])
        assert {"g": 9, "other": 0} == projections.seqs(["g", "other"])
        assert [LIFE[3].summary] == projections.tables(["g"])

    def test_another_version_of_the_summary_is_written_again(
        self, client: redis.Redis, projections: Projections, keys: Keys
    ) -> None:
        """What an older program has written counts as not projected."""
        put(projections, keys, LIFE[-1])
        client.hset(keys.table("g"), "v", VERSION - 1)
        assert {"g": 0} == projections.seqs(["g"])
        assert 1 == put(projections, keys, LIFE[-1])

    def test_entries_are_acknowledged_with_their_games(
        self, client: redis.Redis, projections: Projections, keys: Keys
    ) -> None:
        """One step writes the games of a partition and acknowledges what pointed at them, be it without a game."""
        store, feed = Store(client, keys), Feed(client, keys)
        feed.ensure_group(GROUP)
        store.append("g", 0, [(b"x", b"")] * 2, now=NOW, due=None)
        assert 1 == projections.lag()
        ((partition, pointers),) = feed.read_group(GROUP, "c", 0, 10).items()
        assert 1 == projections.lag()
        assert 1 == projections.write({partition: [LIFE[0]]}, {partition: [pointers[0].id]})
        assert 0 == projections.lag()
        store.append("g", 2, [(b"x", b"")], now=NOW, due=None)
        ((partition, pointers),) = feed.read_group(GROUP, "c", 0, 10).items()
        assert 0 == projections.write({}, {partition: [pointers[0].id]})
        assert 0 == projections.lag()

    def test_more_games_than_one_call_takes(self, projections: Projections, keys: Keys) -> None:
        """A partition's games are written in parts, none left out and none twice."""
        names = (name for name in map(str, itertools.count()) if keys.partition(name) == 0)
        games = [
            stage(name, 1, "open", at=NOW + int(name)) for name in itertools.islice(names, 2 * AT_ONCE + 1)
        ]
        assert len(games) == projections.write({0: games})
        assert [] == projections.tables(["no", "g"])

    def test_a_server_that_forgot_the_script(
        self, client: redis.Redis, projections: Projections, keys: Keys
    ) -> None:
        """A restarted server is taught the script again."""
        client.script_flush()
        assert 1 == put(projections, keys, LIFE[0])

    def test_a_parked_game_is_taken_back_when_it_is_written(
        self, projections: Projections, keys: Keys
    ) -> None:
        """The reason goes in the same step as the projection comes; other games stay parked."""
        parked = Parked(seq=1, why="x", times=2, at=NOW)
        projections.park({"g": parked, "other": parked})
        assert {"g": parked, "other": parked} == projections.parked()
        put(projections, keys, LIFE[0])
        assert {"other": parked} == projections.parked()
        projections.take_back("other")
        assert {} == projections.parked()


def pages(projections: Projections, limit: int, **which: str) -> list[list[str]]:
    """The ids of a list, page by page."""
    found, cursor = [], None
    while True:
        listed, cursor = projections.list_games(after=cursor, limit=limit, **which)
        found.append([summary["id"] for summary in listed])
        if cursor is None:
            return found


class TestLists:
    def test_pages_hold_every_game_once_newest_first(self, projections: Projections, keys: Keys) -> None:
        """Whatever the size of a page, and though several games were opened in the same millisecond."""
        games = [
            stage(f"g{number:02}", 1, "open", "a" if number % 3 else "", at=NOW + number // 4)
            for number in range(23)
        ]
        put(projections, keys, *games)
        newest_first = [
            one.game for one in sorted(games, key=lambda one: (one.summary["created_at"], one.game))
        ]
        newest_first.reverse()
        of_a = [game for game in newest_first if int(game[1:]) % 3]
        for limit in (1, 4, 22, 23, 24):
            for wanted, which in [
                (newest_first, {}),
                (newest_first, {"status": "open"}),
                (of_a, {"player": "a"}),
                (of_a, {"player": "a", "status": "open"}),
            ]:
                found = pages(projections, limit, **which)
                assert wanted == list(itertools.chain.from_iterable(found))
                assert all(len(page) == limit for page in found[:-1])
                assert found[-1]
        assert [[]] == pages(projections, 5, status="over")
        assert [[]] == pages(projections, 5, player="a", status="over")

    def test_a_cursor_stays_where_it_is(self, projections: Projections, keys: Keys) -> None:
        """Games that are opened, or change their status, between two pages neither repeat nor hide others."""
        put(projections, keys, *(stage(f"g{number}", 1, "open", at=NOW + number) for number in range(6)))
        first, cursor = projections.list_games(status="open", limit=2)
        assert ["g5", "g4"] == [summary["id"] for summary in first]
        put(projections, keys, stage("new", 1, "open", at=NOW + 9), stage("g4", 2, "over", at=NOW + 4))
        second, cursor = projections.list_games(status="open", limit=2, after=cursor)
        assert ["g3", "g2"] == [summary["id"] for summary in second]
        put(projections, keys, stage("g1", 2, "playing", at=NOW + 1))
        last, cursor = projections.list_games(status="open", limit=2, after=cursor)
        assert (["g0"], None) == ([summary["id"] for summary in last], cursor)

    def test_a_game_that_changes_its_status_as_it_is_listed(
        self, client: redis.Redis, projections: Projections, keys: Keys
    ) -> None:
        """The summary decides: a list of open games never shows one that is not, and does not end early for it."""
        put(projections, keys, *(stage(f"g{number}", 1, "open", at=NOW + number) for number in range(5)))
        for game in ("g4", "g3", "g2"):
            summary = {"id": game, "status": "playing", "created_at": NOW}
            client.hset(keys.table(game), "summary", msgspec.json.encode(summary))
        assert [["g1"], ["g0"]] == pages(projections, 1, status="open")

    @pytest.mark.parametrize(
        "cursor", ["", "!", "é", "MTIz", "OmE", "LTE6YQ", "MTc5OTk5OTk5OTk5OTk6Zw", "_w", "A"]
    )
    def test_a_cursor_that_is_none(self, projections: Projections, cursor: str) -> None:
        """Text that no list has given out is refused."""
        with pytest.raises(Malformed, match="no cursor"):
            projections.list_games(after=cursor)

    def test_a_status_that_is_none(self, projections: Projections) -> None:
        """The error tells what there is."""
        with pytest.raises(Malformed, match="open, playing, over"):
            projections.list_games(status="finished")

    def test_players_are_told_apart_by_their_whole_id(self, projections: Projections, keys: Keys) -> None:
        """A player whose id begins like another's sees only its own games."""
        put(
            projections,
            keys,
            Update("x", 1, stage("x", 1, "open").summary | {"seats": [{"player": "p1"}]}),
            Update("y", 1, stage("y", 1, "open").summary | {"seats": [{"player": "p11"}]}),
        )
        assert [["x"]] == pages(projections, 9, player="p1")
        assert [[]] == pages(projections, 9, player="p")
