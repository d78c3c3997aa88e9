"""Standings: mean points and their interval, what a game changes, pages of a leaderboard."""

import math
from random import Random

import msgspec
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from domain.events import BotName
from domain.refusals import Malformed
from domain.variants import FAMILIES, VARIANTS
from services.keys import Keys
from services.ratings import Skill
from services.standings import RECENT, Hands, Standing, Standings, bot_id, student
from services.standings_fold import VERSION, Ledger, Sat, fold_game
from services.standings_scripts import FOLD
from tests.support.finished import finished, many

QUANTILES = {1: 12.7062, 2: 4.3027, 4: 2.7764, 5: 2.5706, 6: 2.4469, 10: 2.2281, 30: 2.0423, 1000: 1.9623}
"""0.975 quantiles of Student's t, as tables have them."""


@pytest.fixture
def ledger(client: redis.Redis, keys: Keys) -> Ledger:
    """An empty ledger on a store of each kind."""
    return Ledger(client, keys)


@pytest.fixture
def standings(client: redis.Redis, keys: Keys) -> Standings:
    """The standings that follow from it."""
    return Standings(client, keys)


def work_off(ledger: Ledger) -> None:
    """Fold all there is."""
    while ledger.step():
        pass


class TestMeanPoints:
    def test_quantiles_are_those_of_the_tables(self) -> None:
        """To two thousandths, at both ends of the expansion."""
        for degrees, quantile in QUANTILES.items():
            assert abs(student(degrees) - quantile) < 0.002

    def test_mean_and_interval_of_a_few_games(self) -> None:
        """Worked out by hand: games of 2, 2 and 4 hands with 4, 8 and 24 points."""
        hands = Hands().add(2, 4).add(2, 8).add(4, 24)
        assert (3, 8, 36, 4.5) == (hands.games, hands.hands, hands.points, hands.mean)
        residuals = (4 - 9) ** 2 + (8 - 9) ** 2 + (24 - 18) ** 2
        assert math.isclose(student(2) * math.sqrt(residuals / 64 * 1.5**3), hands.half_width)

    def test_nothing_is_told_that_is_not_known(self) -> None:
        """No mean before the first hand, no interval before the second game."""
        assert (None, None) == (Hands().mean, Hands().half_width)
        one = Hands().add(9, 50)
        assert (50 / 9, None) == (one.mean, one.half_width)

    @given(st.lists(st.tuples(st.integers(1, 64), st.integers(-500, 3000)), min_size=2, max_size=40))
    def test_the_order_of_games_makes_no_difference(self, games: list[tuple[int, int]]) -> None:
        """Sums are whole numbers: any order gives the same interval, and it is a number."""
        one, other = Hands(), Hands()
        for hands, points in games:
            one = one.add(hands, points)
        for hands, points in reversed(games):
            other = other.add(hands, points)
        assert one == other
        assert 0 <= one.half_width < math.inf

    @pytest.mark.parametrize(("games", "least"), [(5, 0.86), (30, 0.93), (150, 0.93)])
    def test_the_interval_holds_the_true_mean(self, games: int, least: float) -> None:
        """In about 95 of 100 runs: of games whose tables differ, whose points are skewed and which end by points.

        Of a few games it is somewhat too narrow. An interval from the hands alone would hold it in 60 to 80.
        """
        chance = Random(games)
        pool = [played(chance) for _ in range(6000)]
        truth = sum(points for _, points in pool) / sum(hands for hands, _ in pool)
        held, runs = 0, 1200
        for _ in range(runs):
            hands = Hands()
            for one in chance.choices(pool, k=games):
                hands = hands.add(*one)
            held += abs(hands.mean - truth) <= hands.half_width
        assert least <= held / runs <= 0.975


def played(chance: Random) -> tuple[int, int]:
    """Hands and points of somebody in a game that ends at 100 points of anybody."""
    table = chance.choice([0.6, 1.0, 1.7])
    hands, mine, theirs = 0, 0, 0
    while max(mine, theirs) < 100:
        hands += 1
        points = chance.choices([0, 1, 2, 4, 7, 13, 15, 19], [38, 13, 10, 10, 8, 9, 8, 4])[0]
        mine += round(points * table)
        theirs += 26 - points if chance.random() < 0.5 else chance.randint(0, 8)
    return hands, mine


class TestFamilies:
    def test_every_variant_has_a_family(self) -> None:
        """The six of the rules first, then those of their relatives that are scored on other scales."""
        six = ("basic", "classic", "special", "standard", "cancellation", "omnibus")
        assert six == FAMILIES[:6]
        assert {variant.family for variant in VARIANTS.values()} == set(FAMILIES)

    def test_members_of_a_family_score_alike(self) -> None:
        """Their cards have the same points, so that mean points can be put together."""
        for variant in VARIANTS.values():
            points = [
                sorted(VARIANTS[name].rules().points.values()) for name in (variant.name, variant.family)
            ]
            assert points[0] == points[1]


class TestFolding:
    def test_a_rated_game(self) -> None:
        """Ratings, games, wins, points and the last games of each."""
        after = fold_game({}, finished("g", [10, 30, 20, 44], at=7))
        a, d = after["a"], after["d"]
        assert (1, 1, 1, 0) == (a.finished, a.rated, a.won, a.left)
        assert (1, 1, 0, 0) == (d.finished, d.rated, d.won, d.left)
        family = a.families["standard"]
        assert (1, 1, 8, 10) == (family.games, family.wins, family.hands.hands, family.hands.points)
        (recent,) = d.recent
        assert ("g", 7, "standard", 3, 44, False, False, d.families["standard"].skill, False) == tuple(
            getattr(recent, name) for name in recent.__struct_fields__
        )
        means = [after[who].families["standard"].skill.mu for who in "acbd"]
        assert sorted(means, reverse=True) == means

    def test_an_opening_that_was_withheld(self) -> None:
        """Given b has withheld in one game of two, then that is counted for b alone, and marked at that game."""
        after = fold_game({}, finished("f", [10, 30, 20], withheld=[1]))
        after = fold_game(after, finished("g", [10, 30, 20]))
        assert [0, 1, 0] == [after[who].withheld for who in "abc"]
        assert [False, True] == [one.withheld for one in after["b"].recent]

    def test_a_game_that_was_entered_before_withholding_was_asked_for(self) -> None:
        """Given an entry of a seat without it, then nothing is held against the player."""
        assert not msgspec.json.decode(b'["a",30,30,false,-1]', type=Sat).withheld

    def test_shared_wins_are_wins(self) -> None:
        """Both who are lowest have won."""
        after = fold_game({}, finished("g", [10, 10, 20]))
        assert [1, 1, 0] == [after[who].families["standard"].wins for who in "abc"]

    def test_a_game_that_is_not_rated_counts_for_points_alone(self) -> None:
        """Its mean is told, and the skill as it was."""
        skilled = fold_game({}, finished("f", [5, 9, 70]))
        after = fold_game(skilled, finished("g", [10, 30, 20], rated=False))
        before, now = skilled["a"].families["standard"], after["a"].families["standard"]
        assert (before.skill, 1, 1, 16) == (now.skill, now.games, now.wins, now.hands.hands)
        assert (2, 1, 2) == (after["a"].finished, after["a"].rated, after["a"].won)
        assert after["a"].recent[0].skill is None

    def test_a_game_by_other_rules_is_only_history(self) -> None:
        """It is counted and listed, and nothing is concluded from it."""
        after = fold_game({}, finished("g", [1, 2, 3], rated=False, counted=False, variant="custom"))
        assert {} == after["a"].families
        assert ("custom", 1) == (after["a"].recent[0].variant, after["a"].finished)

    def test_a_seat_that_was_handed_over(self) -> None:
        """Given the stand-in won with it, then its player has lost, has no points of it, and the next has won."""
        after = fold_game({}, finished("g", [0, 30, 20, 44], left=[0]))
        a, c = after["a"], after["c"]
        assert (0, 1, True) == (a.won, a.left, a.recent[0].left)
        assert (1, 0, 0) == (
            a.families["standard"].games,
            a.families["standard"].wins,
            a.families["standard"].hands.hands,
        )
        assert min(after, key=lambda who: after[who].families["standard"].skill.mu) == "a"
        assert (1, 1) == (c.won, c.families["standard"].wins)

    def test_a_bot_with_several_seats(self) -> None:
        """One game, the hands of all its seats."""
        who = ["bot:rules@1", "a", "bot:rules@1", "bot:rules@1"]
        bot = fold_game({}, finished("g", [10, 26, 30, 30], who=who))["bot:rules@1"]
        family = bot.families["standard"]
        assert (1, 1, 24, 70) == (family.games, family.wins, family.hands.hands, family.hands.points)
        assert (0, 1) == (bot.recent[0].seat, len(bot.recent))

    def test_only_the_last_games_are_listed(self) -> None:
        """Newest first."""
        standings: dict[str, Standing] = {}
        for number in range(RECENT + 3):
            standings |= fold_game(standings, finished(f"g{number}", [1, 2, 3]))
        assert [f"g{number}" for number in range(RECENT + 2, 2, -1)] == [
            one.game for one in standings["a"].recent
        ]

    def test_bots_are_named_by_what_they_are(self) -> None:
        """Name, version, and playouts where it has some: another one is another player."""
        assert "bot:rules@1" == bot_id(BotName("rules", "1", 0))
        assert "bot:search@2~500" == bot_id(BotName("search", "2", 500))


class TestBoards:
    def test_the_best_comes_first_and_a_lucky_one_does_not(
        self, ledger: Ledger, standings: Standings
    ) -> None:
        """Who has won once stands behind who wins most of many games; equal scores share a place."""
        games = [finished(f"g{n}", [1 if n % 5 else 9, 5, 12], who=["a", "b", "c"]) for n in range(60)]
        games.append(finished("lucky", [0, 26, 26, 26], who=["x", "y", "z", "w"]))
        ledger.enter(games)
        work_off(ledger)
        lines, cursor = standings.board("standard", limit=100)
        assert (["a", "x"], None) == ([line.who for line in lines if line.who in "ax"], cursor)
        assert lines[0].score == lines[0].standing.families["standard"].skill.score
        tied = {line.who: line.place for line in lines if line.who in "yzw"}
        assert 1 == len(set(tied.values()))
        assert ([], None) == standings.board("omnibus")

    def test_pages_are_the_whole_board_once(self, ledger: Ledger, standings: Standings) -> None:
        """Whatever the size of a page, ties included."""
        ledger.enter([finished(f"g{n}", [1, 2, 2, 2, 2], who=[f"{n}{m}" for m in "abcde"]) for n in range(7)])
        work_off(ledger)
        whole, _ = standings.board("standard", limit=100)
        assert 35 == len(whole)
        for limit in (1, 2, 5, 34, 35):
            found, cursor = standings.board("standard", limit=limit)
            while cursor is not None:
                more, cursor = standings.board("standard", limit=limit, after=cursor)
                found += more
            assert whole == found

    def test_a_cursor_outlives_the_place_it_names(self, ledger: Ledger, standings: Standings) -> None:
        """Given the last of a page moves up before the next is asked for, then nobody below is left out or repeated."""
        ledger.enter([finished("g", [1, 5, 5, 5, 20])])
        work_off(ledger)
        first, cursor = standings.board("standard", limit=3)
        moved = first[-1].who
        ledger.enter([finished(f"h{n}", [1, 7, 8], who=[moved, "x", "y"]) for n in range(3)])
        work_off(ledger)
        rest, _ = standings.board("standard", limit=20, after=cursor)
        assert {"a", "b", "c", "d", "e"} - {line.who for line in first} <= {line.who for line in rest}
        assert not {line.who for line in first} & {line.who for line in rest}

    @pytest.mark.parametrize("cursor", ["x", "nan a", "inf a", "MS41", "bmFuIGE", "aW5mIGE", "1.5", "é", ""])
    def test_what_is_no_cursor_is_refused(self, standings: Standings, cursor: str) -> None:
        """Nothing is guessed from it."""
        with pytest.raises(Malformed, match="is no cursor of this list"):
            standings.board("basic", after=cursor)

    def test_an_empty_store(self, standings: Standings) -> None:
        """Nobody has a standing, and every board is empty."""
        assert (0, None, ([], None)) == (
            standings.fold(),
            standings.standing("a"),
            standings.board("basic"),
        )


class TestLedger:
    def test_a_game_is_entered_once(self, ledger: Ledger, standings: Standings) -> None:
        """However often it comes, from whomever, also after it was folded."""
        game = finished("g", [1, 2, 3])
        assert [2, 0] == [ledger.enter([game, finished("h", [3, 2, 1])]), ledger.enter([game])]
        assert 2 == ledger.lag()
        work_off(ledger)
        before = standings.standing("a")
        ledger.enter([game, game])
        work_off(ledger)
        assert (before, 2, 0) == (standings.standing("a"), before.finished, ledger.lag())

    def test_the_fold_is_that_of_the_games_one_by_one(self, ledger: Ledger, standings: Standings) -> None:
        """In steps of many games at once, through the store and back, to the last bit."""
        games = many(130)
        expected: dict[str, Standing] = {}
        for game in games:
            expected |= fold_game(expected, game)
        ledger.enter(games)
        work_off(ledger)
        assert expected == {who: standings.standing(who) for who in expected}
        scores = {
            who: one.families["basic"].skill.score
            for who, one in expected.items()
            if one.families["basic"].skill
        }
        lines, _ = standings.board("basic", limit=100)
        assert scores == {line.who: line.score for line in lines}

    def test_two_who_fold_at_once_do_no_harm(
        self,
        ledger: Ledger,
        standings: Standings,
        client: redis.Redis,
        keys: Keys,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Given another folds these games and more between reading and writing, then what it has written stands."""
        games = many(40)
        ledger.enter(games[:30])
        other, run = Ledger(client, keys), ledger._wire.run
        late_by = []

        def late(script, keys_, args):
            if script is FOLD and not late_by:
                other.enter([*games[30:], finished("more", [1, 2, 3], who=["x", "y", "z"])])
                work_off(other)
                late_by.append(standings.standing("bot:rules@1"))
            return run(script, keys_, args)

        monkeypatch.setattr(ledger._wire, "run", late)
        work_off(ledger)
        assert (40, late_by[0]) == (late_by[0].finished, standings.standing("bot:rules@1"))
        assert 1 == standings.standing("x").finished

    def test_made_anew_they_are_the_same(
        self, ledger: Ledger, standings: Standings, client: redis.Redis, keys: Keys
    ) -> None:
        """Folded again from the start, beside what is read; the readers are switched when it is there, not before."""
        ledger.enter(many(120))
        work_off(ledger)
        ids = [f"p{n:016x}" for n in range(10)]
        before = {who: standings.standing(who) for who in ids}
        board = standings.board("cancellation", limit=100)
        assert [2, 2] == [ledger.begin(anew=True), ledger.begin(anew=True)]
        ledger.step()
        assert (1, before) == (standings.fold(), {who: standings.standing(who) for who in ids})
        work_off(ledger)
        assert (2, before, board) == (
            standings.fold(),
            {who: standings.standing(who) for who in ids},
            standings.board("cancellation", limit=100),
        )
        assert 0 < client.pttl(keys.standings_players(1)) <= 60_000
        assert -1 == client.pttl(keys.standings_players(2))
        assert {b"live", b"v:2", b"at:2"} == set(client.hkeys(keys.standings_state))

    def test_a_state_that_names_a_fold_that_is_not_there(
        self, ledger: Ledger, standings: Standings, client: redis.Redis, keys: Keys
    ) -> None:
        """Given that somebody has changed which fold is read, then all is folded anew, and read again when that is done."""
        ledger.enter(many(20))
        work_off(ledger)
        before = standings.board("cancellation", limit=100)
        client.hset(keys.standings_state, "live", "7")
        work_off(ledger)
        assert (8, before) == (standings.fold(), standings.board("cancellation", limit=100))

    def test_a_newer_program_folds_anew_and_an_older_one_keeps_off(
        self, ledger: Ledger, standings: Standings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What another version has folded is never built on."""
        ledger.enter(many(20))
        work_off(ledger)
        with monkeypatch.context() as patch:
            patch.setattr("services.standings_fold.VERSION", VERSION + 1)
            work_off(ledger)
            assert 2 == standings.fold()
        ledger.enter([finished("more", [1, 2, 3])])
        assert (0, 2, None, 1) == (ledger.step(), standings.fold(), standings.standing("a"), ledger.lag())

    def test_an_entry_that_cannot_be_read_is_left_out(
        self, ledger: Ledger, standings: Standings, client: redis.Redis, keys: Keys, caplog
    ) -> None:
        """It is told, and the others go on."""
        client.xadd(keys.standings_games, {"f": b"nonsense"})
        ledger.enter([finished("g", [1, 2, 3])])
        work_off(ledger)
        assert 1 == standings.standing("a").finished
        assert "cannot be read" in caplog.text

    def test_a_game_that_cannot_be_folded_is_left_out(
        self, ledger: Ledger, standings: Standings, caplog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever the reason: it is told, those before and after it count."""

        def fold(known, game):
            if game.game == "bad":
                raise OverflowError("math range error")
            return fold_game(known, game)

        monkeypatch.setattr("services.standings_fold.fold_game", fold)
        ledger.enter([finished(name, [1, 2, 3]) for name in ("one", "bad", "two")])
        work_off(ledger)
        assert (2, 0) == (standings.standing("a").finished, ledger.lag())
        assert "game bad is left out" in caplog.text

    def test_a_score_stands_in_the_board_as_it_is(self, ledger: Ledger, standings: Standings) -> None:
        """All its digits go through the store."""
        ledger.enter(many(60))
        work_off(ledger)
        for line in standings.board("standard", limit=100)[0]:
            skill = line.standing.families["standard"].skill
            assert isinstance(skill, Skill)
            assert skill.score == line.score
