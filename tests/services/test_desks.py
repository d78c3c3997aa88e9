"""Desks: each player's games, each piece of news once, and a cursor that is exact."""

from __future__ import annotations

import random

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.commands import GetReady, SitDown, StandUp
from domain.refusals import Malformed
from services.desks import Cursor, Desks, News, Place, as_number, news_of, read_cursor, waits_for
from services.keys import Keys
from tests.services.test_projections import ANNA, BEN, NOW, after, opened, played_out

CEC = "p00000000000000cc"
HOUR = 3_600_000


@pytest.fixture
def keys() -> Keys:
    """Keys of four partitions."""
    return Keys(4)


@pytest.fixture
def desks(client: redis.Redis, keys: Keys) -> Desks:
    """Desks of an empty store."""
    return Desks(client, keys)


def news(player: str, game: str, seq: int, mark: str = "") -> News:
    """A piece of news; the mark is as it is stored."""
    return News(player, game, seq, mark == "t", mark == "d")


def told(desks: Desks, player: str, cursor: Cursor) -> list[tuple[str, int, int]]:
    """What the inbox tells behind a cursor: game, after and up to."""
    found, page = [], desks.behind(player, cursor, 3)
    while page and page[0]:
        found += [(one.game, one.after, one.upto) for one in page[0]]
        page = desks.behind(player, page[1], 3)
    return found


class TestWhoIsWaitedFor:
    def test_nobody_at_a_table_with_an_open_seat(self) -> None:
        """It waits for somebody to sit down."""
        assert () == waits_for(opened(ANNA, BEN))

    def test_all_who_are_not_ready_at_a_full_one(self) -> None:
        """Clockwise."""
        full = after(opened(ANNA, BEN), SitDown(at=NOW, player=CEC))
        assert (ANNA, BEN, CEC) == waits_for(full)
        assert (BEN, CEC) == waits_for(after(full, GetReady(at=NOW, player=ANNA)))

    def test_persons_who_play_themselves(self) -> None:
        """And nobody when the game is over."""
        players = (ANNA, BEN, CEC)
        dealt = after(opened(*players), *(GetReady(at=NOW, player=player) for player in players))
        assert players == waits_for(dealt)
        assert (ANNA, CEC) == waits_for(after(dealt, StandUp(at=NOW, player=BEN, seat=2)))
        assert () == waits_for(played_out(dealt))


class TestNews:
    def test_is_for_all_at_the_table_and_for_who_left(self) -> None:
        """Who is waited for is told so, and who has left that it is done."""
        before = opened(ANNA, BEN)
        state = after(before, StandUp(at=NOW, player=BEN, seat=2))
        assert [News(ANNA, "g", 9, False, False), News(BEN, "g", 9, False, True)] == news_of(
            "g", state, 9, before
        )
        assert [ANNA] == [one.player for one in news_of("g", state, 9, None)]

    def test_of_a_game_that_is_over_is_the_last(self) -> None:
        """For all of them."""
        players = (ANNA, BEN, CEC)
        dealt = after(opened(*players), *(GetReady(at=NOW, player=player) for player in players))
        assert [(player, False, True) for player in players] == [
            (one.player, one.turn, one.done) for one in news_of("g", played_out(dealt), 99, dealt)
        ]


class TestDesk:
    @pytest.mark.parametrize("seed", range(5))
    def test_deliveries_repeated_and_late_have_one_effect(self, desks: Desks, seed: int) -> None:
        """Given each piece of news twice, in order of a game but mixed, then each event is told once, without a gap."""
        start = desks.read("a")[0]
        stages = {game: [(n, "t" if n % 2 else "") for n in (2, 3, 7, 8)] + [(12, "d")] for game in "ghk"}
        chosen = random.Random(seed)
        while any(stages.values()):
            game = chosen.choice([game for game in stages if stages[game]])
            seq, mark = stages[game].pop(0)
            for late in (seq, seq - 1, seq):
                desks.write([news("a", game, late, mark)], NOW)
        found = told(desks, "a", start)
        for game in "ghk":
            pieces = [(after_, upto) for one, after_, upto in found if one == game]
            assert [after_ for after_, _ in pieces] == [0, *(upto for _, upto in pieces[:-1])]
            assert 12 == pieces[-1][1]
        assert {game: Place(12, False, True) for game in "ghk"} == desks.read("a")[1]

    def test_players_of_one_partition_are_apart(self, desks: Desks, keys: Keys) -> None:
        """Each reads its own news, though they lie in one inbox."""
        players = [f"p{n}" for n in range(40) if keys.partition(f"p{n}") == 1][:3]
        start = desks.read(players[0])[0]
        desks.write([news(player, "g", seq) for seq in (1, 2) for player in players], NOW)
        desks.write([news(players[1], "h", 4, "t")], NOW)
        assert [("g", 0, 1), ("g", 1, 2)] == told(desks, players[0], start)
        assert [("g", 0, 1), ("g", 1, 2), ("h", 0, 4)] == told(desks, players[1], start)
        assert {"g": Place(2, False, False), "h": Place(4, True, False)} == desks.read(players[1])[1]
        assert {"g": Place(2, False, False)} == desks.read(players[2])[1]
        assert {players[1]: Place(4, True, False)} == desks.places("h", players)

    def test_what_is_done_with_goes_after_an_hour(self, desks: Desks) -> None:
        """A few at a time, as more is done; until then it stays, in case of a late delivery."""
        desks.write([news("a", f"g{n}", 5, "d") for n in range(10)], NOW)
        desks.write([news("a", "late", 5, "d")], NOW + HOUR - 1)
        assert 11 == len(desks.read("a")[1])
        desks.write([news("a", "later", 5, "d")], NOW + HOUR + 1)
        assert {"late", "later"} == set(desks.read("a")[1])

    def test_an_inbox_that_was_cut_says_so(
        self, desks: Desks, client: redis.Redis, keys: Keys, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whose cursor lies before what is left cannot go on; who read the last entry can."""
        monkeypatch.setattr("services.desks.KEPT", 2)
        start = desks.read("a")[0]
        for seq in range(1, 5):
            desks.write([news("a", "g", seq)], NOW)
        middle = desks.read("a")[0]
        desks.write([news("a", "g", 5)], NOW)
        client.xtrim(keys.inbox(keys.partition("a")), maxlen=2, approximate=False)
        assert desks.behind("a", start) is None
        found = desks.behind("a", middle)
        assert found
        assert [(4, 5)] == [(one.after, one.upto) for one in found[0]]

    def test_a_cursor_of_what_is_to_come_is_none(self, desks: Desks) -> None:
        """It is another store's, or made up: who has it begins anew instead of waiting for ever."""
        assert desks.behind("a", Cursor(b"9999999999999-0")) is None
        desks.write([news("a", "g", 1)], NOW)
        assert desks.behind("a", Cursor(b"9999999999999-0")) is None
        assert desks.behind("a", desks.read("a")[0]) == ([], desks.read("a")[0])


class TestCursor:
    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 10**15), st.integers(0, 10**6), st.integers(0, 10**6))
    def test_it_is_read_as_it_was_written(self, ms: int, number: int, seq: int) -> None:
        """Whatever it says."""
        cursor = Cursor(f"{ms}-{number}".encode(), seq)
        assert cursor == read_cursor(str(cursor))
        assert (ms, number) == as_number(cursor.id)

    @pytest.mark.parametrize(
        "text", ["", "1", "1-", "-1", "1-2-3", "1-2.", "1-2.x", "1-2.3.4", "٣-1", "1_0-1"]
    )
    def test_what_is_none_is_malformed(self, text: str) -> None:
        """With the text in the message."""
        with pytest.raises(Malformed, match="no cursor"):
            read_cursor(text)
