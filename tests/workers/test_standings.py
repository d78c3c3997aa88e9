"""Finished games on their way from the log into the standings."""

import pytest

from domain.bots import BOTS
from domain.commands import GetReady, SeatPlan, StandUp
from domain.game import deadline
from domain.shuffle import commit_entropy
from domain.state import State
from domain.variants import ruleset_of
from services.projections import GROUP
from services.standings import Standing
from services.standings_fold import Ledger, finished_of
from services.store import StoreUnavailable
from services.supervise import Stop
from workers.projector import Projector
from workers.standings import Folder

ANNA = "p000000000000000a"
RULES, RANDOM = (SeatPlan(kind="bot", bot=BOTS[name].id) for name in ("rules", "random"))
ANNAS = SeatPlan(kind="player", player=ANNA)


def projector(house, **options: int) -> Projector:
    """A projector that does not wait for news."""
    services = house.services
    one = Projector(
        services.store, services.feed, services.projections, services.clock, block_ms=1, **options
    )
    one.begin()
    return one


def work_off(one: Projector) -> None:
    """Let a projector fold all there is, standings included."""
    while one.round():
        pass
    one._standings.round()


def open_table(house, *seats: SeatPlan, variant: str = "basic", rated: bool = True, **given: object) -> str:
    """A table with these seats."""
    chain = given.pop("chain", 64)
    rules = ruleset_of({"variant": variant, "players": len(seats), **given})
    table = house.services.tables.open(rules, seats, rated=rated, chain=chain).table
    return table.state.game


def finish(house, game: str) -> State:
    """Let the bots play to the end."""
    tables = house.services.tables
    while (state := tables.act_for_house(game).state).phase != "over":
        pass
    return state


def bots_game(house, **options: object) -> str:
    """A finished game of two bots and two."""
    game = open_table(house, RULES, RANDOM, RULES, RANDOM, **options)
    finish(house, game)
    return game


def of_rules(house) -> Standing | None:
    """The standing of the bot `rules`."""
    return house.services.standings.standing("bot:rules@1")


def facts(house, game: str):
    """What the standings are told of a game."""
    return finished_of(house.services.tables.load(game))


class TestWhatCounts:
    def test_a_rated_game_of_bots(self, house) -> None:
        """Each bot is one player of the family, with the points of its seats."""
        game = bots_game(house)
        state = house.services.tables.load(game).state
        work_off(projector(house))
        rules, random = (house.services.standings.standing(f"bot:{name}@1") for name in ("rules", "random"))
        basic = rules.families["basic"]
        assert (1, 2 * len(state.hands)) == (basic.games, basic.hands.hands)
        assert sum(points[0] + points[2] for points in state.hands) == basic.hands.points
        assert {True, False} == {rules.won > 0, random.won > 0} or state.winners == (0, 1)
        assert basic.skill.mu != random.families["basic"].skill.mu

    def test_a_table_that_was_not_opened_as_rated(self, house) -> None:
        """Its points count, the ratings stay."""
        bots_game(house, rated=False)
        work_off(projector(house))
        basic = of_rules(house).families["basic"]
        assert (None, 0, True) == (basic.skill, basic.games, basic.hands.hands > 0)

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({"variant": "standard"}, (True, True)),
            ({"variant": "standard", "target": 20}, (False, True)),
            ({"variant": "standard", "hand_limit": 1}, (False, True)),
            ({"variant": "standard", "chain": 1}, (False, True)),
            ({"variant": "standard", "moon_effect": "none", "target": 20}, (False, False)),
            ({"variant": "custom", "target": 20}, (False, False)),
        ],
    )
    def test_rated_is_by_the_published_rules_and_whole(
        self, house, options: dict[str, object], expected: tuple[bool, bool]
    ) -> None:
        """Whatever the table says: rated, and whether points count, follow from the rules it was played by."""
        game = facts(house, bots_game(house, **options))
        assert expected == (game.rated, game.counted)

    def test_a_game_that_goes_on_counts_for_nothing(self, house) -> None:
        """Nor does a table at which nobody sits yet."""
        game = open_table(house, ANNAS, RULES, RULES, RULES)
        assert facts(house, game) is None
        work_off(projector(house))
        assert (None, 0) == (of_rules(house), Ledger(house.services.client, house.services.keys).lag())

    def test_an_abandoned_or_imported_game_counts_for_nothing(self, house) -> None:
        """Nor does a practice table: what has no seed chain was not dealt here."""
        table = house.services.tables.load(bots_game(house))
        assert finished_of(table) is not None
        table.state.reason = "abandoned"
        assert finished_of(table) is None
        table.state.reason, table.state.anchor = "target", None
        assert finished_of(table) is None

    def test_a_seat_that_was_handed_over(self, house) -> None:
        """Given Anna hands her seat over and the stand-in plays it to the end, then she has lost."""
        game = open_table(house, ANNAS, RANDOM, RANDOM, RANDOM)
        tables = house.services.tables
        tables.handle(game, GetReady(player=ANNA))
        tables.handle(game, StandUp(player=ANNA, seat=0))
        finish(house, game)
        work_off(projector(house))
        anna = house.services.standings.standing(ANNA)
        assert (1, 1, 0) == (anna.left, anna.rated, anna.won)
        assert anna.families["basic"].skill.mu < 25

    def test_an_opening_that_was_withheld_is_counted_in_public(self, house) -> None:
        """Given three commit and one of them lets the time for opening run out, then it is counted for that one alone."""
        openings = [bytes([seat + 1]) * 32 for seat in range(3)]
        players = [f"{ANNA[:-1]}{seat}" for seat in range(3)]
        committed = [commit_entropy(opening).hex() for opening in openings]
        seats = [
            SeatPlan(kind="player", player=one, entropy_commit=commit)
            for one, commit in zip(players, committed, strict=True)
        ]
        game = open_table(house, *seats, RANDOM, target=1)
        tables = house.services.tables
        for player, opening in list(zip(players, openings, strict=True))[:2]:
            tables.handle(game, GetReady(player=player, entropy=opening.hex()))
        house.clock.now = deadline(tables.load(game).state)
        tables.act_for_house(game)
        for seat, player in enumerate(players):
            tables.handle(game, StandUp(player=player, seat=seat))
        finish(house, game)
        work_off(projector(house))
        known = [house.services.standings.standing(who) for who in (*players, "bot:random@1")]
        assert [0, 0, 1, 0] == [one.withheld for one in known]
        assert [1] * 4 == [one.finished for one in known]

    def test_who_committed_to_nothing_withheld_nothing(self, house) -> None:
        """Given a client that contributes nothing, then nobody can hold that against it."""
        game = open_table(house, ANNAS, RANDOM, RANDOM, RANDOM, target=1)
        house.services.tables.handle(game, GetReady(player=ANNA))
        house.services.tables.handle(game, StandUp(player=ANNA, seat=0))
        finish(house, game)
        assert not any(sat.withheld for sat in facts(house, game).seats)

    def test_partners_are_told(self, house) -> None:
        """Seats opposite each other are one side."""
        game = facts(house, bots_game(house, variant="partnership"))
        assert [0, 1, 0, 1] == [sat.side for sat in game.seats]
        assert [-1] * 4 == [sat.side for sat in facts(house, bots_game(house)).seats]


class TestOnce:
    def test_what_is_delivered_again_changes_nothing(self, house) -> None:
        """Given every pointer comes again, to a projector that knows nothing, then the figures stay."""
        for _ in range(3):
            bots_game(house, rated=True, chain=1)
        work_off(projector(house))
        before = of_rules(house)
        assert 3 == before.finished
        for partition in range(house.services.keys.partitions):
            house.services.client.xgroup_setid(house.services.keys.feed(partition), GROUP, "0")
        house.services.client.delete(*(house.services.client.keys("*:t:*")))
        work_off(projector(house))
        assert before == of_rules(house)

    def test_a_projector_that_dies_between_entering_and_acknowledging(self, house, monkeypatch) -> None:
        """The game is delivered again to another one, and counts once."""
        bots_game(house, chain=1)
        one = projector(house)

        def die(*_: object) -> None:
            raise StoreUnavailable("gone")

        with monkeypatch.context() as patch:
            patch.setattr(house.services.projections, "write", die)
            with pytest.raises(StoreUnavailable):
                work_off(one)
        work_off(projector(house, stale_ms=0))
        work_off(one)
        assert (1, 0) == (of_rules(house).finished, house.services.projections.lag())

    def test_one_folds_at_a_time(self, house) -> None:
        """Given another holds the lease, then games are entered, and folded by that one."""
        holder, other = Folder(house.services.store), Folder(house.services.store)
        holder.round()
        other.enter([facts(house, bots_game(house, chain=1)), None])
        other.round()
        assert of_rules(house) is None
        holder.release()
        other.enter([facts(house, bots_game(house, chain=1))])
        other.round()
        assert 2 == of_rules(house).finished
        other.release()

    def test_a_projector_that_stops_gives_the_lease_up(self, house) -> None:
        """So that the next one need not wait for its end."""
        bots_game(house, chain=1)
        one, stop = projector(house), Stop()
        rounds = one.round

        def last() -> int:
            if not (count := rounds()):
                stop.set()
            return count

        one.round = last
        one.run(stop)
        assert 1 == of_rules(house).finished
        assert not house.services.client.exists(house.services.keys.standings_lease)
