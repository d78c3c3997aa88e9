"""What the house owes at a table: its bots' moves, what a deadline asks for, and the end of an abandoned table.

It is worked out from the folded table alone, so a worker that died has taken nothing with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from domain import events as e
from domain.bots import house_move
from domain.commands import AbandonTable, AnyCommand, LockTable
from domain.game import advance, bots_owe, deadline, left_until, to_act
from domain.state import State
from services.folded import Table

HOUSE_LEASE_MS: Final = 5_000
"""How long a worker has a game to itself that it took from the due set, ms."""

TRICK_MS: Final = 2_000
"""How long a trick stays before the next is led where all persons have handed their seats over, ms.

They can follow the game so, and come back to it, which could else be over within a second.
"""

Decide = Callable[[Table, int], tuple[list[e.Event], State]]
"""What the house does at a table at a time in ms: events, none where there is nothing to do, and the state after them."""


class Turn(NamedTuple):
    """What the house is about to do at a table."""

    table: Table
    """As it is before."""
    events: list[e.Event]
    """None where the house owes nothing."""
    state: State
    """After the events."""
    at: int
    """When, in ms."""


def next_due(state: State, now: int) -> int | None:
    """When the house must act at this table, in ms: for its bots now, or after `TRICK_MS`, else at a deadline, or to end it as abandoned.

    None where it never must: the game is over, or the table was opened without a time after which it is abandoned.
    """
    if bots_owe(state):
        held = _held_until(state)
        return now if held is None else max(now, held)
    late = deadline(state)
    return left_until(state) if late is None else late


def of_bots(state: State) -> bool:
    """Whether the house plays every seat of this table, so that nobody waits for its moves."""
    return all(seat.house_plays for seat in state.seats)


def house_events(state: State, at: int, most: int) -> tuple[list[e.Event], State]:
    """What the house does at ``at`` (ms) until it owes nothing, about ``most`` events of it; and the state after them."""
    events: list[e.Event] = []
    while len(events) < most:
        command = _owed(state, at)
        if command is None:
            break
        more, state = advance(state, command)
        events.extend(more)
    return events, state


def _held_until(state: State) -> int | None:
    """Until when the bots wait with the next trick, in ms, for persons who have handed their seats over; none where they do not."""
    hand = state.hand
    if state.phase != "play" or hand is None or hand.trick or not of_bots(state):
        return None
    away = [seat for seat in state.seats if seat.away]
    # who has said to come back waits for the end of the hand, and not for its tricks
    return state.last_at + TRICK_MS if away and not any(seat.returning for seat in away) else None


def owed(most: int) -> Decide:
    """What the house owes, as `house_events` says."""
    return lambda table, at: house_events(table.state, at, most)


def _owed(state: State, at: int) -> AnyCommand | None:
    """The next thing that the house must do at ``at``; none where it owes nothing yet."""
    late = deadline(state)
    passed = late is not None and late <= at
    if state.phase == "seats":
        if passed:
            return LockTable(at=at)
    else:
        held = _held_until(state)
        if held is not None and at < held:
            return None
        for seat in to_act(state):
            if passed or state.seats[seat].house_plays:
                return house_move(state, seat, at)
    end = left_until(state) if late is None else None
    return AbandonTable(at=at) if end is not None and end <= at else None
