"""The decider about seats: sitting down, standing up, handing a seat over and taking it back."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.variants import ruleset_of
from tests.support.tables import (
    after,
    commitment_of,
    dealt,
    given,
    opened,
    play,
    ready,
    sit,
    taken,
)


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


@pytest.mark.parametrize("command", [c.StandUp(player="", seat=1), c.TakeBack(player="", seat=1)])
def test_a_bots_seat_belongs_to_nobody(command: Any) -> None:
    """Nor does an open one: a player without a name is not its owner."""
    given(opened(seats="pbob")).when(command).refused("seat/not_yours")
    given(opened(seats="pobb")).when(command).refused("seat/not_yours")


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
