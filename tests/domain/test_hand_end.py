"""The decider at the end of a hand: the choice of a moon, the score, the next hand, the end of the game."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.game import fold, to_act
from tests.support.tables import (
    HAND_SECRET,
    MOON_HANDS,
    PASSES,
    after,
    dealt,
    give,
    given,
    moon_pending,
    moon_table,
    passing,
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


def later_moon(totals: tuple[int, ...], **rules: Any) -> list[e.Event]:
    """The fourth hand of three seats, p0 to lead to its last trick and to shoot the moon; ``totals`` before it."""
    rule_set = small_rules(MOON_HANDS, **{"breakers": [], "tie": "shared", **rules})
    return played(dealt(rule_set, MOON_HANDS, hand=4, totals=totals), "AH 2H 3H QS 2S")


@pytest.mark.parametrize(
    ("rules", "total", "asked"),
    [
        ({"moon_effect": "choice", "moon_choice_from": 30, "hand_limit": None}, 29, False),
        ({"moon_effect": "choice", "moon_choice_from": 30, "hand_limit": None}, 30, True),
        ({"moon_effect": "choice_if_lost", "hand_limit": 4}, 26, False),
        ({"moon_effect": "choice_if_lost", "hand_limit": 4}, 27, True),
        ({"moon_effect": "choice_if_lost", "hand_limit": 5}, 27, False),
    ],
)
def test_the_totals_before_the_hand_tell_whether_a_shooter_is_asked(
    rules: dict[str, Any], total: int, asked: bool
) -> None:
    """One with enough points, or one who would lose by adding; others add at once."""
    events = (
        given(later_moon((total, 0, 0), **rules)).when(play(2, "3S")).then(e.CardPlayed, e.TrickEnded, ...)
    )
    table = [*later_moon((total, 0, 0), **rules), *events]
    if asked:
        assert ("moon", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
        given(table).when(c.ChooseMoon(who="p1", choice="add")).refused("moon/not_now", says="another")
        events = given(table).when(c.ChooseMoon(who="p0", choice="subtract")).then(e.MoonChosen, ...)[1:]
        assert (total - 26, 0, 0) == events[0].totals  # type: ignore[attr-defined]
    else:
        assert (total, 26, 26) == events[2].totals  # type: ignore[attr-defined]


# --- what follows


def test_all_that_a_command_causes_happens_at_its_time() -> None:
    """The play, the trick, the score, the next deal or the end; the choice of a moon; the exchange."""
    for limit, last in ((None, e.HandDealt), (1, e.GameEnded)):
        events = given(moon_table("none", hand_limit=limit)).when(play(2, "3S", at=7_001)).then(...)
        assert [e.CardPlayed, e.TrickEnded, e.HandScored, last] == [type(one) for one in events]
        assert {7_001} == {one.at for one in events}
    events = given(moon_pending()).when(c.ChooseMoon(who="p0", choice="add", at=7_002)).then(...)
    assert (3, {7_002}) == (len(events), {one.at for one in events})
    table = after(passing(), *(give(seat, PASSES[seat]) for seat in range(3)))
    events = given(table).when(give(3, PASSES[3], at=7_003)).then(e.CardsPassed, e.PassesExchanged)
    assert {7_003} == {one.at for one in events}


@pytest.mark.parametrize(("perfect", "last"), [(False, e.GameEnded), (True, e.HandDealt)])
def test_a_perfect_hand_keeps_a_table_going(perfect: bool, last: type[e.Event]) -> None:
    """Where the rules say so: p0 leads the game and took points, the others took none."""
    table = later_moon((0, 90, 100), moon_effect="none", hand_limit=None, perfect_hand=perfect)
    events = given(table).when(play(2, "3S")).then(e.CardPlayed, e.TrickEnded, e.HandScored, last)
    assert (16, 90, 100) == events[2].totals  # type: ignore[attr-defined]


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
