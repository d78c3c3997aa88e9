"""The decider about a new table: what it is opened with, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.game import decide
from domain.refusals import InvalidRules
from domain.ruleset import RuleSet
from domain.shuffle import (
    chain_link,
    entropy_root,
)
from domain.variants import ruleset_of
from tests.support.tables import (
    RULES_BOT,
    SECRET,
    commitment_of,
    given,
    open_command,
    opened,
    taken,
)

BASIC = ruleset_of({"variant": "basic"})


def test_opening_a_table_tells_its_rules_and_anchor() -> None:
    """The first event holds the whole rule set, the anchor of the seed chain, and the hand limit that follows."""
    events = given().when(open_command(chain=32, ready_seconds=15, clock=30, hints=False)).then(e.GameCreated)
    assert (
        e.GameCreated(
            game="g-1",
            rules=ruleset_of({"variant": "basic", "hand_limit": 32}),
            anchor=chain_link(SECRET, 32, 0).hex(),
            chain=32,
            server_key="ab" * 32,
            ready_seconds=15,
            stand_in=RULES_BOT,
            rated=False,
            hints=False,
            clock=30,
            abandon_seconds=c.ABANDONED_AFTER,
            hidden=e.OpenedSecret(chain=SECRET.hex(), reserved={}),
        )
        == events[0]
    )


def test_opening_a_table_seats_those_who_sit_at_once() -> None:
    """Bots and the person who opens are seated with the table; a reserved seat makes no event until it is taken."""
    bot = e.SeatTaken(seat=1, kind="bot", player=None, bot=RULES_BOT, entropy_commit=None, public_key=None)
    events = (
        given().when(open_command(seats="pbro")).then(e.GameCreated, taken(0, "p0", commitment_of(0)), bot)
    )
    assert events[0].hidden == e.OpenedSecret(chain=SECRET.hex(), reserved={2: "p2"})  # type: ignore[attr-defined]


def test_a_table_of_bots_locks_as_it_is_opened() -> None:
    """House bots are ready from the start and contribute nothing."""
    events = (
        given()
        .when(open_command(seats="bbbb"))
        .then(e.GameCreated, *[e.SeatTaken] * 4, e.GameLocked, e.HandDealt)
    )
    openings = [(seat, "bot", "") for seat in range(4)]
    assert e.GameLocked(entropy=tuple(openings), root=entropy_root("g-1", openings).hex()) == events[-2]


@pytest.mark.parametrize(
    ("limit", "chain", "told"), [(None, 64, 64), (None, 1, 1), (10, 64, 10), (64, 64, 64), (None, 4096, 4096)]
)
def test_the_seed_chain_limits_the_hands(limit: int | None, chain: int, told: int) -> None:
    """The hand limit in event 1 is at most the length of the chain; none becomes just that."""
    rules = ruleset_of({"variant": "basic", "hand_limit": limit})
    assert told == opened(rules, chain=chain)[0].rules.hand_limit  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        (BASIC, {"chain": 0}),
        (BASIC, {"chain": 4097}),
        (ruleset_of({"variant": "basic", "hand_limit": 65}), {}),
        (RuleSet(variant="custom", hand=14), {}),
    ],
)
def test_an_unplayable_table_is_not_opened(rules: RuleSet, changes: dict[str, Any]) -> None:
    """Problems of the rules, or of the chain they need, are told as such."""
    with pytest.raises(InvalidRules):
        decide(None, open_command(rules, **changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"ready_seconds": 14}, "ready_seconds"),
        ({"ready_seconds": 3601}, "ready_seconds"),
        ({"ready_seconds": -60}, "ready_seconds"),
        ({"clock": 0}, "clock"),
        ({"clock": -5}, "clock"),
        ({"clock": 14 * 24 * 60 * 60 + 1}, "clock"),
    ],
)
def test_times_out_of_range_are_refused(changes: dict[str, Any], says: str) -> None:
    """From a quarter of a minute to an hour to get ready, from a second to two weeks for a move."""
    given().when(open_command(**changes)).refused("request/invalid", says=says)


@pytest.mark.parametrize(
    "changes", [{"ready_seconds": 15, "clock": 1}, {"ready_seconds": 3600, "clock": 1_209_600}]
)
def test_times_at_their_bounds_are_taken(changes: dict[str, Any]) -> None:
    """Bounds belong to what is allowed."""
    given().when(open_command(**changes)).then(e.GameCreated)


@pytest.mark.parametrize("seats", ["ooo", "ooooo", ""])
def test_a_table_has_a_plan_for_each_seat(seats: str) -> None:
    """One entry a seat, no more and no less."""
    given().when(open_command(seats=seats)).refused("request/invalid", says="4")


@pytest.mark.parametrize(
    "plan",
    [
        c.SeatPlan(kind="player"),
        c.SeatPlan(kind="reserved"),
        c.SeatPlan(kind="reserved", player=""),
        c.SeatPlan(kind="bot"),
    ],
)
def test_a_plan_says_whose_the_seat_is(plan: c.SeatPlan) -> None:
    """A person's seat names the person, a bot's the bot."""
    given().when(open_command(seats=["o", plan, "o", "o"])).refused("request/invalid", says="seat 1")


@pytest.mark.parametrize("kinds", [("player", "player"), ("reserved", "reserved"), ("player", "reserved")])
def test_a_player_has_one_seat_in_the_plan(kinds: tuple[Any, Any]) -> None:
    """Whether seated at once or kept a seat: a second one could never be filled, and the table never play."""
    for order in (kinds, kinds[::-1]):
        plans: list[Any] = [*(c.SeatPlan(kind=kind, player="p0") for kind in order), "o", "b"]
        given().when(open_command(seats=plans)).refused("seat/taken", says="two seats")


def test_a_commitment_is_made_once_in_the_plan() -> None:
    """Two seats with one commitment would undo each other's say."""
    plans = [c.SeatPlan(kind="player", player=player, entropy_commit="c0") for player in ("x", "y")]
    given().when(open_command(seats=[*plans, "o", "o"])).refused("entropy/repeated")


def test_a_table_is_opened_once() -> None:
    """A second opening is refused, at an open table and at one that is over."""
    given(opened()).when(open_command()).refused("seat/taken")
    end = e.GameEnded(winners=(1,), totals=(100, 0, 5, 7), reason="target", secret=None)
    given(opened(), end).when(open_command()).refused("game/over")
