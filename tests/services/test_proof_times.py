"""Times in proof files: whether the house moved, or locked a table, before it might."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.bots import house_move
from domain.commands import ABANDONED_AFTER
from domain.game import deadline, fold, is_over, to_act
from domain.variants import ruleset_of
from tests.support.games import Game, play_game
from tests.support.proofs import KEY, Events, at_of, changed, claim_of, delayed, opened_late, played
from tests.support.tables import after, commitment_of, opened, ready


def clock_game(seed: int = 3, **rules: Any) -> Game:
    """A game of persons at a table with a clock of ten seconds, all of whose moves the clock makes, just in time."""
    given = {"variant": "standard", "players": 4, "hand_limit": 1} | rules
    setup = play_game(ruleset_of(given), seed, moves=0, kinds="ppnn", server_key=KEY.public)
    first = setup.steps[0].command
    game = Game(setup.rules)
    game.do(msgspec.structs.replace(first, clock=10))
    for step in setup.steps[1:]:
        game.do(step.command)
    while not is_over(game.state):
        due = deadline(game.end)
        assert due is not None
        game.do(house_move(game.end, to_act(game.end)[0], due))
    return game


def by_clock(events: Events, kind: type[e.Event], which: int = 0) -> int:
    """The index of a move of a kind, made by the clock."""
    found = [at for at, one in enumerate(events) if type(one) is kind and getattr(one, "by", "") == "clock"]
    return found[which]


MOVES = [
    (e.CardsPassed, 0),
    (e.CardsPassed, 3),
    (e.CardPlayed, 0),
    (e.CardPlayed, 1),
    (e.CardPlayed, 4),
    (e.CardPlayed, 51),
]


def test_moves_by_the_clock_at_the_deadline_hold() -> None:
    """Every pass and play of the game came from the clock, each ten seconds after the one before."""
    game = clock_game()
    assert {"clock"} == {one.by for one in game.events if isinstance(one, (e.CardsPassed, e.CardPlayed))}
    assert "holds" == claim_of(game.events, "R").status


@pytest.mark.parametrize(("kind", "which"), MOVES)
def test_a_move_by_the_clock_before_the_deadline_fails(kind: type[e.Event], which: int) -> None:
    """The house took a person's move before its time was over, by its own account of the times."""
    events: Events = list(clock_game().events)
    at = by_clock(events, kind, which)
    number = changed_at(events, at, events[at].at - 1)
    found = claim_of(events, "R")
    assert ("fails", number) == (found.status, found.event)
    # a pass that comes with others of the same moment is then out of order, too
    assert "before the time" in found.detail or "before the event before it" in found.detail


def changed_at(events: Events, at: int, ms: int) -> int:
    """Move one event to another time; its number."""
    events[at] = msgspec.structs.replace(events[at], at=ms)
    return at + 1


def test_a_choice_by_the_clock_before_the_deadline_fails() -> None:
    """The moon choice is a move like the others."""
    games = (clock_game(seed, points={"QS": 13}) for seed in range(20))
    game = next(one for one in games if any(isinstance(event, e.MoonChosen) for event in one.events))
    events: Events = list(game.events)
    assert "holds" == claim_of(events, "R").status
    at = by_clock(events, e.MoonChosen)
    number = changed_at(events, at, events[at].at - 1)
    found = claim_of(events, "R")
    assert ("fails", number) == (found.status, found.event)


def test_no_clock_moves_at_a_table_without_one() -> None:
    """However late the move."""
    events: Events = list(clock_game().events)
    changed(events, 0, clock=None)
    found = claim_of(events, "R")
    assert ("fails", by_clock(events, e.CardsPassed) + 1) == (found.status, found.event)
    assert "without one" in found.detail


def test_of_a_hand_in_play_the_clocks_moves_are_checked_too() -> None:
    """What is public of an open hand says who moved, and when."""
    events: Events = list(clock_game().events)
    del events[by_clock(events, e.CardPlayed, 6) + 1 :]
    assert "not shown" == claim_of(events, "R").status
    number = changed_at(events, len(events) - 1, events[-1].at - 1)
    found = claim_of(events, "R")
    assert ("fails", number) == (found.status, found.event)


# --- the lock


def locked_late(commits: bool = True) -> Events:
    """A table locked by its deadline without the opening of seat 0, and abandoned after the deal."""
    plans = [
        c.SeatPlan(kind="player", player=f"p{seat}", entropy_commit=commitment_of(seat) if commits else None)
        for seat in range(2)
    ]
    table = opened(seats=[*plans, "b", "b"], ready_seconds=20, server_key=KEY.public)
    mine = ready(1, at=1_000) if commits else c.GetReady(player="p1", at=1_000)
    table = after(table, mine, c.LockTable(at=21_000))
    hand = fold(None, table).hand
    assert hand is not None
    return [
        *table,
        e.GameEnded(
            at=21_000 + ABANDONED_AFTER * 1000,
            winners=(),
            totals=(0,) * 4,
            reason="abandoned",
            secret=hand.secret,
        ),
    ]


def test_a_lock_at_the_deadline_holds() -> None:
    """Who did not open in time counts as nothing; the others have contributed."""
    found = claim_of(locked_late(), "F")
    assert ("holds", "for seats 1, which contributed to the deals") == (found.status, found.detail)


def test_a_lock_before_the_deadline_may_leave_nobody_out() -> None:
    """Else the server could drop the one opening that does not suit it."""
    events = locked_late()
    number = changed_at(events, at_of(events, e.GameLocked), 20_999)
    found = claim_of(events, "F")
    assert ("fails", number) == (found.status, found.event)
    assert "before its time" in found.detail


def test_a_lock_before_anybody_was_ready_fails() -> None:
    """The time to get ready counts from the first opening, so that without one it is never over."""
    events = locked_late(commits=False)
    assert "not shown" == claim_of(events, "F").status
    del events[at_of(events, e.SeatReady)]
    found = claim_of(events, "F")
    assert ("fails", at_of(events, e.GameLocked) + 1) == (found.status, found.event)


@pytest.mark.parametrize(("count", "named"), [(1, "seat {0} opened late"), (2, "seats {0}, {1} opened late")])
def test_who_opened_when_the_time_was_over_is_named(count: int, named: str) -> None:
    """Given a server that waits longer for some, then the deals hold, and it is told who had the time."""
    events = opened_late(count=count)
    late = sorted([one.seat for one in events if isinstance(one, e.SeatReady)][3 - count :])
    found = claim_of(events, "F")
    assert "holds" == found.status
    assert f"for seats 0, 1, 2, which contributed to the deals; {named.format(*late)}" == found.detail


def test_who_opened_in_the_last_moment_was_in_time() -> None:
    """A millisecond before the house may lock the table."""
    events = list(played("pppb").events)
    first, last = at_of(events, e.SeatReady), at_of(events, e.SeatReady, 2)
    spare = events[first].at + 60_000 - 1 - events[last].at
    delayed(events, last, spare)
    assert "late" not in claim_of(events, "F").detail
    delayed(events, last, 1)
    assert "late" in claim_of(events, "F").detail


def test_who_opened_nothing_late_is_not_named() -> None:
    """Its seat has no part in the deals, whenever it was ready."""
    events = list(played("ppnb").events)
    at = at_of(events, e.SeatReady, 2)
    empty = next(
        place for place, one in enumerate(events) if isinstance(one, e.SeatReady) and not one.entropy
    )
    events[at], events[empty] = (
        msgspec.structs.replace(events[one], at=events[other].at) for one, other in ((empty, at), (at, empty))
    )
    delayed(events, at, 60_000)
    assert "for seats 0, 1, which contributed to the deals" == claim_of(events, "F").detail


@pytest.mark.parametrize("seconds", [-1, 0, 14, 3601])
def test_the_time_to_get_ready_is_that_of_the_protocol(seconds: int) -> None:
    """A table that gives none could be locked right behind the first opening."""
    events = locked_late()
    found = claim_of(events[:], "F")
    assert "holds" == found.status
    changed(events, 0, ready_seconds=seconds)
    found = claim_of(events, "F")
    assert ("fails", 1) == (found.status, found.event)
