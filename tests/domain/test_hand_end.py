"""The decider at the end of a hand: the choice of a moon, the score, the next hand, the end of the game."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.game import fold, to_act
from tests.support.tables import (
    HAND_SECRET,
    after,
    dealt,
    give,
    given,
    moon_pending,
    moon_table,
    play,
    played,
    small_rules,
)


def ended(winners: tuple[int, ...], totals: tuple[int, ...], reason: Any = "limit") -> e.GameEnded:
    """The end of the game."""
    return e.GameEnded(winners=winners, totals=totals, reason=reason, secret=None)


def scored(points: tuple[int, ...], totals: tuple[int, ...]) -> e.HandScored:
    """The end of the hand of `moon_pending`."""
    return e.HandScored(
        hand=1,
        secret=HAND_SECRET.hex(),
        deal=("QS AH", "2S 2H", "3S 3H"),
        kitty="",
        passes=None,
        points=points,
        totals=totals,
    )


def test_the_last_trick_scores_the_hand_and_reveals_it() -> None:
    """Secret, deal, kitty and passes become public, with the points and totals; then the game goes on or ends."""
    hands = ["2C 3D", "3C 4D", "4C 5D"]
    passes = ["3D", "4D", "4C"]
    rules = small_rules(hands, "QS", pass_count=1, pass_cycle=[1], opener="forced")
    table = after(dealt(rules, hands, "QS"), *(give(seat, card) for seat, card in enumerate(passes)))
    table = played(table, "2C 3C 5D 3D 4D", first=0)
    score = e.HandScored(
        hand=1,
        secret=HAND_SECRET.hex(),
        deal=("2C 3D", "3C 4D", "4C 5D"),
        kitty="QS",
        passes=("3D", "4D", "4C"),
        points=(0, 13, 0),
        totals=(0, 13, 0),
    )
    given(table).when(play(0, "4C")).then(
        e.CardPlayed(seat=0, card="4C", by="player"),
        e.TrickEnded(seat=2),
        score,
        ended((0, 2), (0, 13, 0)),
    )


# --- the choice of a moon


@pytest.mark.parametrize(
    ("choice", "points", "winners"), [("add", (0, 26, 26), (0,)), ("subtract", (-26, 0, 0), (0,))]
)
def test_who_shot_the_moon_chooses(choice: Any, points: tuple[int, ...], winners: tuple[int, ...]) -> None:
    """The choice is an event of its own, after the last trick and before the score."""
    given(moon_pending()).when(c.ChooseMoon(who="p0", choice=choice)).then(
        e.MoonChosen(seat=0, choice=choice, by="player"), scored(points, points), ended(winners, points)
    )


def test_nobody_else_chooses_and_nothing_else_happens_meanwhile() -> None:
    """The table waits for the shooter alone."""
    table = moon_pending()
    assert e.TrickEnded(seat=0) == table[-1]
    assert ("moon", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
    given(table).when(c.ChooseMoon(who="p1", choice="add")).refused("moon/not_now", says="another")
    given(table).when(c.ChooseMoon(who="x", choice="add")).refused("seat/not_yours")
    given(table).when(play(0, "AH")).refused("play/hand_over")
    given(table).when(play(1, "AH")).refused("play/hand_over")


# p0 wins all penalty cards with the first trick; two more tricks follow.
SOON = ["AH 2C 3C", "2H 4C 5C", "3H 6C 7C"]


def test_a_moon_is_chosen_after_the_last_trick() -> None:
    """Who has all penalty cards early plays on first: the choice may not come before the hand is over."""
    rules = small_rules(SOON, moon_effect="choice", breakers=[], hand_limit=2)
    table = played(dealt(rules, SOON), "AH 2H 3H")
    assert ("play", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
    given(table).when(c.ChooseMoon(who="p0", choice="add")).refused("moon/not_now", says="nobody")
    table = played(table, "2C 4C 6C")
    given(table).when(c.ChooseMoon(who="p0", choice="subtract")).refused("moon/not_now", says="nobody")
    table = played(table, "7C 3C 5C")
    assert ("moon", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
    given(table).when(c.ChooseMoon(who="p0", choice="subtract")).then(
        e.MoonChosen(seat=0, choice="subtract", by="player"), e.HandScored, e.HandDealt
    )


def test_without_a_shooter_nobody_is_asked() -> None:
    """Where the rules leave a moon to its shooter but two seats took penalty cards, the hand is scored at once."""
    hands = ["2H AC", "AH 4C", "3H 5H"]
    table = played(dealt(small_rules(hands, moon_effect="choice", breakers=[]), hands), "2H AH 3H 4C 5H")
    events = given(table).when(play(0, "AC")).then(e.CardPlayed, e.TrickEnded, e.HandScored, e.GameEnded)
    assert isinstance(events[2], e.HandScored)
    assert (1, 3, 0) == events[2].points


@pytest.mark.parametrize(
    ("effect", "points"),
    [("add", (0, 26, 26)), ("subtract", (-26, 0, 0)), ("none", (16, 0, 0)), ("auto", (0, 26, 26))],
)
def test_a_fixed_effect_needs_no_choice(effect: str, points: tuple[int, ...]) -> None:
    """The last card scores the hand at once, and before it there is nothing to choose."""
    table = moon_table(effect)
    given(table).when(c.ChooseMoon(who="p0", choice="add")).refused("moon/not_now", says="nobody")
    winners = tuple(seat for seat in range(3) if points[seat] == min(points))
    given(table).when(play(2, "3S")).then(
        e.CardPlayed(seat=2, card="3S", by="player"),
        e.TrickEnded(seat=0),
        scored(points, points),
        ended(winners, points),
    )


# --- what follows


def test_the_next_hand_is_dealt_in_the_same_breath() -> None:
    """Where the game goes on the score is followed by the deal of the next hand, opened by the next seat."""
    table = moon_table("none", hand_limit=None)
    events = given(table).when(play(2, "3S")).then(e.CardPlayed, e.TrickEnded, e.HandScored, e.HandDealt)
    assert 2 == events[-1].hand  # type: ignore[attr-defined]
    state = fold(None, [*table, *events])
    assert (2, 1, (1,)) == (state.hand.number, state.hand.opener, to_act(state))  # type: ignore[union-attr]
    assert ([(16, 0, 0)], [16, 0, 0]) == (state.hands, state.totals)


@pytest.mark.parametrize(("tie", "reason"), [("continue", "limit"), ("shared", "target")])
def test_the_target_comes_before_the_limit(tie: str, reason: str) -> None:
    """Where both end the game the target is the reason; a tie that must be played out leaves the limit."""
    events = given(moon_table("none", target=16, tie=tie)).when(play(2, "3S")).then(e.CardPlayed, ...)
    assert ended((1, 2), (16, 0, 0), reason) == events[-1]
