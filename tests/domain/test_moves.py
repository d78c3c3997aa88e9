"""The decider about who may move, and when: seats, bots, the clock, and games that do not run."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from domain import commands as c
from domain import events as e
from domain.cards import parse_cards
from domain.game import deadline, fold, to_act
from domain.variants import ruleset_of
from domain.view import view
from tests.support.tables import (
    HANDS,
    after,
    dealt,
    give,
    given,
    moon_pending,
    moon_table,
    opened,
    passing,
    plain,
    play,
    ready,
    sit,
    small_rules,
)


def test_only_a_seat_moves_for_itself() -> None:
    """Strangers have no seat, and a seat's turn is its own."""
    given(plain()).when(c.PlayCard(who="x", card=0)).refused("seat/not_yours")
    given(passing()).when(c.PassCards(who="x", cards=(0, 1))).refused("seat/not_yours")
    given(plain()).when(play(1, "3C")).refused("play/not_your_turn", says="seat 0")
    given(plain()).when(play(0, "2C"), play(0, "3D")).refused("play/not_your_turn", says="seat 1")


def test_the_house_moves_for_its_bots_alone() -> None:
    """A bot's move is told as a bot's; a clock's is made for a person, and told as the clock's."""
    rules = small_rules(HANDS)
    table = dealt(rules, HANDS, seats="bppp", clock=10)
    given(table).when(c.PlayCard(who=0, card=0)).then(e.CardPlayed(seat=0, card="2C", by="bot"))
    given(table).when(c.PlayCard(who=0, card=0), c.PlayCard(who=1, card=1)).refused("seat/not_yours")
    given(table).when(c.PlayCard(who=0, card=0), c.PlayCard(who=1, card=1, by="clock", at=10_000)).then(
        e.CardPlayed(seat=1, card="3C", by="clock", at=10_000)
    )


# --- the clock


def test_deadlines_are_for_persons_at_tables_with_a_clock() -> None:
    """The house acts so many seconds after the table came to wait; never where no clock is set."""
    assert deadline(fold(None, plain())) is None
    table = dealt(small_rules(HANDS), HANDS, seats="ppbp", clock=30)
    assert 30_000 == deadline(fold(None, table))
    table = after(table, play(0, "2C", at=5000))
    assert 35_000 == deadline(fold(None, table))
    table = after(table, play(1, "3C", at=6000))
    assert deadline(fold(None, table)) is None
    full = opened(seats="ppbb", ready_seconds=20)
    assert deadline(fold(None, full)) is None
    assert 20_700 == deadline(fold(None, [*full, e.SeatReady(at=700, seat=0, entropy="")]))


CLOCK_MOVES: list[tuple[str, list[e.Event], c.AnyCommand]] = [
    (
        "a pass",
        dealt(small_rules(HANDS, pass_count=2, pass_cycle=[1]), HANDS, clock=10),
        c.PassCards(who=2, cards=tuple(parse_cards("4C 5D")), by="clock"),
    ),
    ("a play", dealt(small_rules(HANDS), HANDS, clock=10), c.PlayCard(who=0, card=0, by="clock")),
    (
        "a later play",
        after(dealt(small_rules(HANDS), HANDS, clock=10), play(0, "2C", at=7_000)),
        c.PlayCard(who=1, card=1, by="clock"),
    ),
    ("a moon", moon_pending(clock=10), c.ChooseMoon(who=0, choice="add", by="clock")),
]


@pytest.mark.parametrize(
    ("table", "command"), [row[1:] for row in CLOCK_MOVES], ids=[row[0] for row in CLOCK_MOVES]
)
def test_the_clock_moves_for_nobody_before_the_deadline(table: list[e.Event], command: Any) -> None:
    """Counted from when the table came to wait for the seat; from the deadline on the house may move."""
    due = deadline(fold(None, table))
    assert due is not None
    for early in (0, due - 10_000, due - 1):
        given(table).when(replace(command, at=early)).refused("seat/not_yours", says="not over")
    for late in (due, due + 60_000):
        events = given(table).when(replace(command, at=late)).then(...)
        assert ("clock", late) == (events[0].by, events[0].at)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "command", [row[2] for row in CLOCK_MOVES[:2]] + [CLOCK_MOVES[3][2]], ids=["pass", "play", "moon"]
)
def test_without_a_clock_the_house_moves_for_no_person(command: Any) -> None:
    """However long the table waits."""
    tables: dict[Any, Any] = {c.PassCards: passing, c.PlayCard: plain, c.ChooseMoon: moon_pending}
    given(tables[type(command)]()).when(replace(command, at=10**15)).refused(
        "seat/not_yours", says="not over"
    )


def test_no_clock_runs_for_a_bot() -> None:
    """Its own move is told as a bot's, whoever else the table waits for."""
    rules = small_rules(HANDS, pass_count=2, pass_cycle=[1])
    table = dealt(rules, HANDS, seats="bppp", clock=10)
    early = c.PassCards(who=0, cards=tuple(parse_cards("2C 3D")), by="clock", at=10_000)
    given(table).when(early).refused("seat/not_yours", says="a bot plays seat 0")
    away = after(table, c.StandUp(player="p1", seat=1))
    given(away).when(replace(early, who=1)).refused("seat/not_yours", says="a bot plays seat 1")


@pytest.mark.parametrize("seat", [-1, 4, 99])
def test_the_house_moves_for_seats_that_there_are(seat: int) -> None:
    """Seats are 0 to n-1."""
    by: Any
    for by in ("bot", "clock"):
        given(plain()).when(c.PlayCard(who=seat, card=0, by=by)).refused("request/invalid", says=str(seat))


def test_a_forfeited_choice_is_made_by_the_clock_or_the_bot() -> None:
    """The house may choose for a seat in time trouble; a bot may only for a seat it plays (decision 6)."""
    table = moon_pending(clock=10, hand_limit=2)
    given(table).when(c.ChooseMoon(who=0, choice="add", by="bot")).refused("seat/not_yours")
    given(table).when(c.ChooseMoon(who=0, choice="add", by="clock", at=10_000)).then(
        e.MoonChosen(at=10_000, seat=0, choice="add", by="clock"), e.HandScored, e.HandDealt
    )
    away = after(table, c.StandUp(player="p0", seat=0))
    given(away).when(c.ChooseMoon(who="p0", choice="add")).refused("seat/not_yours")
    given(away).when(c.ChooseMoon(who=0, choice="subtract", by="bot")).then(
        e.MoonChosen(seat=0, choice="subtract", by="bot"), ...
    )


# --- games that do not run


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


def test_moves_wait_for_the_game_to_start() -> None:
    """At a table that is still filling nothing is passed or played."""
    table = opened(seats="ppbb")
    given(table).when(give(0, "2C 3C 4C")).refused("game/not_started")
    given(table).when(play(0, "2C")).refused("game/not_started")
    given(table).when(c.ChooseMoon(who="p0", choice="add")).refused("game/not_started")


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


@pytest.mark.parametrize("cards", ["", "AH", "AH 2H 3H", "AH 2H 3H QS 2S 3S"])
def test_an_abandoned_game_waits_for_nobody(cards: str) -> None:
    """However far its hand was: no seat is to act, no clock runs, no hand is shown, no command is taken."""
    table = moon_table("choice", cards, clock=5)
    table.append(e.GameEnded(winners=(), totals=(0, 0, 0), reason="abandoned", secret="00" * 32))
    state = fold(None, table)
    assert ((), None) == (to_act(state), deadline(state))
    for seat in (None, 0, 1, 2):
        look = view(state, seat)
        assert ("over", "abandoned", (), None, None) == (
            look.phase, look.reason, look.winners, look.turn, look.own
        )  # fmt: skip
    for command in (play(0, "QS"), play(1, "2H"), c.ChooseMoon(who="p0", choice="add")):
        given(table).when(command).refused("game/over")
