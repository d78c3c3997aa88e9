"""The decider about seats: opening a table, sitting down, standing up, handing a seat over and taking it back."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as e
from domain.game import decide
from domain.refusals import InvalidRules
from domain.ruleset import RuleSet
from domain.shuffle import chain_link, entropy_root
from domain.variants import ruleset_of
from tests.support.tables import (
    RULES_BOT,
    SECRET,
    after,
    commitment_of,
    dealt,
    entropy_of,
    given,
    open_command,
    opened,
    play,
)

BASIC = ruleset_of({"variant": "basic"})


def ready(seat: int, **more: int) -> c.GetReady:
    """Player ``p<seat>`` opens its entropy."""
    return c.GetReady(player=f"p{seat}", entropy=entropy_of(seat), **more)


def sit(seat: int | None, player: str, **more: str) -> c.SitDown:
    """``player`` sits down."""
    return c.SitDown(player=player, seat=seat, **more)


def taken(seat: int, player: str, commit: str | None = None) -> e.SeatTaken:
    """A person sat down."""
    return e.SeatTaken(
        seat=seat, kind="player", player=player, bot=None, entropy_commit=commit, public_key=None
    )


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
def test_an_unplayable_table_is_not_opened(rules: RuleSet, changes: dict[str, int]) -> None:
    """Problems of the rules, or of the chain they need, are told as such."""
    with pytest.raises(InvalidRules):
        decide(None, open_command(rules, **changes))


@pytest.mark.parametrize("seats", ["ooo", "ooooo", ""])
def test_a_table_has_a_plan_for_each_seat(seats: str) -> None:
    """One entry a seat, no more and no less."""
    given().when(open_command(seats=seats)).refused("request/invalid", says="4")


def test_nobody_opens_a_table_with_two_seats_of_his_own() -> None:
    """A player has one seat at a table, and a commitment is made once."""
    two = c.SeatPlan(kind="player", player="p0")
    plans = (two, two, c.SeatPlan(kind="open"), c.SeatPlan(kind="open"))
    given().when(open_command(seats=plans)).refused("seat/taken")


def test_a_table_is_opened_once() -> None:
    """A second opening is refused, at an open table and at one that is over."""
    given(opened()).when(open_command()).refused("seat/taken")
    given(over()).when(open_command()).refused("game/over")


@pytest.mark.parametrize(
    "command",
    [
        sit(0, "p0"),
        c.StandUp(player="p0", seat=0),
        c.TakeBack(player="p0", seat=0),
        ready(0),
        c.LockTable(),
        c.PassCards(who="p0", cards=(0, 1, 2)),
        play(0, "2C"),
        c.ChooseMoon(who="p0", choice="add"),
    ],
)
def test_nothing_happens_where_there_is_no_table(command: c.AnyCommand) -> None:
    """Every command but the opening one needs a game."""
    given().when(command).refused("game/unknown")


def over() -> list[e.Event]:
    """A table of persons that is over."""
    rules = ruleset_of({"variant": "basic"})
    hands = ["2C", "3C", "4C", "5C"]
    end = e.GameEnded(winners=(1,), totals=(100, 0, 5, 7), reason="target", secret=None)
    return [*dealt(rules, hands), end]


@pytest.mark.parametrize(
    "command",
    [
        sit(None, "x"),
        ready(0),
        c.LockTable(at=10**9),
        c.StandUp(player="p0", seat=0),
        c.TakeBack(player="p0", seat=0),
        c.PassCards(who="p0", cards=(0, 1, 2)),
        play(0, "2C"),
        c.PlayCard(who=0, card=0),
        c.ChooseMoon(who="p0", choice="add"),
    ],
)
def test_nothing_happens_after_the_end(command: c.AnyCommand) -> None:
    """A game that is over is over for every command."""
    given(over()).when(command).refused("game/over")


# --- sitting down and standing up


def test_a_player_takes_a_seat_of_choice_or_the_first_free() -> None:
    """A seat that is asked for is taken; without one it is the first that is open to this player."""
    given(opened(seats="oooo")).when(sit(2, "x", entropy_commit="c0")).then(taken(2, "x", "c0"))
    given(opened(seats="bpoo")).when(sit(None, "x")).then(taken(2, "x"))


def test_a_reserved_seat_is_for_its_player() -> None:
    """Others are sent elsewhere; the player gets it unasked, also where an open seat comes first."""
    table = opened(seats="oorr")
    given(table).when(sit(2, "x")).refused("seat/taken", says="kept")
    given(table).when(sit(None, "p3")).then(taken(3, "p3"))
    given(table).when(sit(2, "p2")).then(taken(2, "p2"))
    given(table).when(sit(None, "x")).then(taken(0, "x"))
    given(table).when(sit(None, "x"), sit(None, "y"), sit(None, "z")).refused("game/full")


def test_a_reserved_seat_stays_reserved_when_its_player_leaves() -> None:
    """Standing up frees it for nobody else."""
    table = after(opened(seats="bbbr"), sit(None, "p3"), c.StandUp(player="p3", seat=3))
    given(table).when(sit(3, "x")).refused("seat/taken", says="kept")
    given(table).when(sit(3, "p3")).then(taken(3, "p3"))


def test_a_seat_has_one_player_and_a_player_one_seat() -> None:
    """A taken seat, a bot's seat and a second seat are refused."""
    table = opened(seats="pboo")
    given(table).when(sit(0, "x")).refused("seat/taken", says="taken")
    given(table).when(sit(1, "x")).refused("seat/taken", says="taken")
    given(table).when(sit(2, "p0")).refused("seat/taken", says="already")
    given(table).when(sit(None, "p0")).refused("seat/taken", says="already")


@pytest.mark.parametrize("seat", [-1, 4, 99])
def test_a_seat_that_there_is_not_cannot_be_taken_or_left(seat: int) -> None:
    """Seats are 0 to n-1."""
    table = opened(seats="pooo")
    given(table).when(sit(seat, "x")).refused("request/invalid", says=str(seat))
    given(table).when(c.StandUp(player="p0", seat=seat)).refused("request/invalid")
    given(table).when(c.TakeBack(player="p0", seat=seat)).refused("request/invalid")


def test_a_full_table_takes_nobody() -> None:
    """Whoever names no seat is told that there is none."""
    given(opened(seats="ppbb")).when(sit(None, "x")).refused("game/full")


def test_a_commitment_is_made_once_at_a_table() -> None:
    """A copied commitment would be opened with copied entropy, so it is refused; after its owner left it is free."""
    table = opened(seats="pooo")
    copy = sit(1, "x", entropy_commit=commitment_of(0))
    given(table).when(copy).refused("entropy/repeated")
    given(table).when(c.StandUp(player="p0", seat=0), copy).then(taken(1, "x", commitment_of(0)))
    given(table).when(sit(1, "x"), sit(2, "y")).then(taken(2, "y"))


def test_a_player_stands_up_before_anyone_is_ready() -> None:
    """The seat is open again; of others' seats and empty ones nobody stands up."""
    table = opened(seats="ppoo")
    given(table).when(c.StandUp(player="p1", seat=1)).then(e.SeatLeft(seat=1))
    given(table).when(c.StandUp(player="p1", seat=1), sit(1, "x")).then(taken(1, "x"))
    for player, seat in (("p0", 1), ("p0", 2), ("x", 0)):
        given(table).when(c.StandUp(player=player, seat=seat)).refused("seat/not_yours")


def test_no_seat_changes_from_the_first_opening_to_the_lock() -> None:
    """Whoever saw an opening could else choose whether to stay."""
    table = after(opened(seats="pppp"), ready(0))
    given(table).when(c.StandUp(player="p1", seat=1)).refused("seat/taken", says="ready")
    given(table).when(c.StandUp(player="p0", seat=0)).refused("seat/taken")
    given(table).when(sit(None, "x")).refused("seat/taken")


def test_no_seat_is_taken_after_the_lock() -> None:
    """A game in play takes no new players."""
    given(opened(seats="bbbb")).when(sit(None, "x")).refused("seat/taken")
    given(opened(seats="bbbb")).when(ready(0)).refused("seat/taken")
    given(opened(seats="bbbb")).when(c.LockTable(at=10**12)).refused("seat/taken")


# --- handing a seat over


def in_play(**changes: bool) -> list[e.Event]:
    """A table of four persons in a hold hand; p0 leads 2C."""
    rules = ruleset_of({"variant": "basic", "pass_count": 0, "pass_cycle": [0]})
    return dealt(rules, ["2C 3D", "3C 4D", "4C 5D", "5C 6D"], **changes)


def test_after_the_lock_a_seat_is_handed_to_the_stand_in() -> None:
    """The person is out until it comes back, and the house moves for it."""
    table = after(in_play(), c.StandUp(player="p0", seat=0))
    assert e.SeatToBot(seat=0) == table[-1]
    given(table).when(play(0, "2C")).refused("seat/not_yours", says="stand-in")
    given(table).when(c.StandUp(player="p0", seat=0)).refused("seat/not_yours")
    given(table).when(c.PlayCard(who=0, card=0)).then(e.CardPlayed(seat=0, card="2C", by="bot"))
    given(in_play()).when(c.PlayCard(who=0, card=0)).refused("seat/not_yours", says="no bot")
    given(in_play()).when(c.StandUp(player="p0", seat=1)).refused("seat/not_yours")


def test_with_hints_a_seat_is_taken_back_at_once() -> None:
    """At a table with hints the bot has told nothing that the person may not know."""
    table = after(in_play(), c.StandUp(player="p0", seat=0), c.TakeBack(player="p0", seat=0))
    assert e.SeatTakenBack(seat=0) == table[-1]
    given(table).when(c.PlayCard(who=0, card=0)).refused("seat/not_yours")
    given(table).when(play(0, "2C")).then(e.CardPlayed(seat=0, card="2C", by="player"))
    given(table).when(c.TakeBack(player="p0", seat=0)).refused("seat/taken")


def test_without_hints_a_seat_is_taken_back_with_the_next_hand() -> None:
    """Else a person could let the bot decide and go on with what it knows of the decision."""
    table = after(in_play(hints=False), c.StandUp(player="p0", seat=0), c.TakeBack(player="p0", seat=0))
    given(table).when(play(0, "2C")).refused("seat/not_yours")
    given(table).when(c.TakeBack(player="p0", seat=0)).refused("seat/taken")
    given(table).when(c.PlayCard(who=0, card=0)).then(e.CardPlayed(seat=0, card="2C", by="bot"))
    later = [*table, next(one for one in in_play() if isinstance(one, e.HandDealt))]
    given(later).when(play(0, "2C")).then(e.CardPlayed(seat=0, card="2C", by="player"))
    gone = after(table, c.StandUp(player="p0", seat=0))
    later = [*gone, next(one for one in in_play() if isinstance(one, e.HandDealt))]
    given(later).when(play(0, "2C")).refused("seat/not_yours")


def test_nobody_takes_back_what_is_not_away() -> None:
    """A seat that its person plays, another's seat, and a seat before the lock are refused."""
    given(in_play()).when(c.TakeBack(player="p0", seat=0)).refused("seat/taken")
    given(in_play()).when(c.TakeBack(player="p0", seat=1)).refused("seat/not_yours")
    given(opened(seats="pooo")).when(c.TakeBack(player="p0", seat=0)).refused("seat/taken")
