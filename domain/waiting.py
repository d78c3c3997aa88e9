"""Whom a table waits for, and for how long."""

from __future__ import annotations

from domain.cards import Seat
from domain.rules import moon_chooser
from domain.state import State


def to_act(state: State) -> tuple[Seat, ...]:
    """The seats the table waits for: who must still get ready, pass, play or choose."""
    hand = state.hand
    if state.phase == "seats":
        full = all(one.kind != "open" for one in state.seats)
        return tuple(seat for seat, one in enumerate(state.seats) if full and not one.ready)
    if hand is None or state.phase == "over":
        return ()
    if state.phase == "pass":
        return tuple(seat for seat, given in enumerate(hand.passes) if given is None)
    if state.phase == "moon":
        shooter = moon_chooser(state.terms, hand, state.totals)
        return () if shooter is None or hand.choice is not None else (shooter,)
    # between the events of one command nobody is to act
    return () if hand.turn < 0 else (hand.turn,)


def deadline(state: State) -> int | None:
    """When the house acts for those the table waits for, in ms; none where it waits for as long as they like."""
    if state.phase == "seats":
        first = state.first_ready_at
        return None if first is None else first + state.ready_seconds * 1000
    if state.clock is None or not _waits_for(state)[0]:
        return None
    return state.since + state.clock * 1000


def bots_owe(state: State) -> bool:
    """Whether a house bot is to pass, play or choose."""
    return state.phase != "seats" and _waits_for(state)[1]


def _waits_for(state: State) -> tuple[bool, bool]:
    """Whether persons are among those the table waits for, and whether house bots are."""
    persons = bots = False
    # a loop and no `any`: it runs with every append, and a generator takes twice as long
    for seat in to_act(state):
        if state.seats[seat].house_plays:
            bots = True
        else:
            persons = True
    return persons, bots


def abandoned_at(state: State) -> int | None:
    """When the table ends as abandoned unless something happens at it first, in ms.

    None where it does not: while a bot is to move or a deadline runs, for then the house goes on by itself; at a table
    that was opened without such a time; and when the game is over.
    """
    return None if deadline(state) is not None or bots_owe(state) else left_until(state)


def left_until(state: State) -> int | None:
    """`abandoned_at` of a table that is known to have no bot to move and no deadline."""
    if state.abandon_seconds is None or state.phase == "over":
        return None
    return state.last_at + state.abandon_seconds * 1000
