"""Practice tables for the tests, branched from games that are lists of events."""

from __future__ import annotations

from random import Random

from domain import events as e
from domain.bots import house_move
from domain.branch import AT_ONCE, begin_practice
from domain.game import advance, fold, is_over, to_act
from domain.state import State
from tests.support.games import random_move
from tests.support.proofs import KEY
from tests.support.states import assert_same

NOW = 77


def over(events: list[e.Event], at: int = 9) -> State:
    """The table of ``events`` as a finished game; what came after them does not matter."""
    totals = tuple([0] * len(fold(None, events).seats))
    ended = e.GameEnded(at=at, winners=(), totals=totals, reason="abandoned", secret=None)
    return fold(None, [*events, ended])


def hand_of(events: list[e.Event], at: int) -> list[e.Event]:
    """The events of the hand up to event ``at``, from its deal, and what followed at once."""
    start = max(place for place in range(at) if isinstance(events[place], e.HandDealt))
    more = events[at : at + 1] if at < len(events) and isinstance(events[at], AT_ONCE) else []
    return [*events[start:at], *more]


def practice(
    events: list[e.Event], at: int | None = None, seat: int = 0, end: State | None = None
) -> tuple[list[e.Event], State]:
    """A practice table of ``me`` in ``seat``, branched from the finished game of ``events``."""
    at = len(events) if at is None else at
    begun, state = begin_practice(
        over(events) if end is None else end,
        hand_of(events, at),
        e.Branch("g-old", at, seat),
        game="g-new",
        player="me",
        server_key=KEY.public,
        at=NOW,
    )
    assert_same(state, fold(None, begun))
    return begun, state


def finish(events: list[e.Event], state: State, rng: Random) -> tuple[list[e.Event], State]:
    """The practice played to its end, the bots' moves by the bots."""
    events, at = list(events), NOW
    while not is_over(state):
        seat, at = to_act(state)[0], at + 1
        house = state.seats[seat].house_plays
        more, state = advance(
            state, house_move(state, seat, at) if house else random_move(state, rng, at, [seat])
        )
        events += more
    return events, state
