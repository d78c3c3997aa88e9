"""What the decider tells whoever it refuses: a code, a sentence, a hint and the cards it would take, word for word.

The sentences are shown to players as they stand, and the API hands them on.
"""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.cards import mask_of, parse_card, parse_cards
from domain.refusals import Refused
from domain.rules import check_pass, check_play
from domain.ruleset import Terms
from domain.state import HandState
from domain.variants import ruleset_of
from tests.support.tables import (
    HANDS,
    after,
    dealt,
    give,
    given,
    moon_pending,
    moon_table,
    open_command,
    opened,
    passing,
    plain,
    play,
    played,
    small_rules,
)

# --- whose move it is


def over() -> list[e.Event]:
    """A table of persons that is over."""
    return [*plain(), e.GameEnded(winners=(1,), totals=(9, 0, 5, 7), reason="limit", secret=None)]


def away() -> list[e.Event]:
    """A table at which the stand-in bot plays for p0."""
    return after(plain(), c.StandUp(player="p0", seat=0))


def timed() -> list[e.Event]:
    """A table with a clock, of a bot and three persons, the bot to play."""
    return dealt(small_rules(HANDS), HANDS, seats="bppp", clock=10)


MOVES: list[tuple[str, list[e.Event], c.AnyCommand, str, str, str]] = [
    ("no table", [], play(0, "2C"), "game/unknown", "there is no such game", ""),
    ("opened twice", opened(), open_command(), "seat/taken", "this table is open already", ""),
    ("opened after the end", over(), open_command(), "game/over", "this table is open already", ""),
    (
        "a stranger",
        plain(),
        c.PlayCard(who="x", card=0),
        "seat/not_yours",
        "you have no seat at this table",
        "",
    ),
    ("after the end", over(), play(0, "2C"), "game/over", "the game is over", ""),
    (
        "before the deal",
        opened(seats="ppbb"),
        play(0, "2C"),
        "game/not_started",
        "the game has not started",
        "wait until all are ready",
    ),
    (
        "a seat given up",
        away(),
        play(0, "2C"),
        "seat/not_yours",
        "the stand-in bot plays your seat",
        "take the seat back first",
    ),
    (
        "a bot for a person",
        plain(),
        c.PlayCard(who=0, card=0, by="bot"),
        "seat/not_yours",
        "no bot plays seat 0",
        "",
    ),
    (
        "the clock for a bot",
        timed(),
        c.PlayCard(who=0, card=0, by="clock", at=99_999),
        "seat/not_yours",
        "a bot plays seat 0, and no clock runs for it",
        "",
    ),
    (
        "the clock too early",
        after(timed(), c.PlayCard(who=0, card=0)),
        c.PlayCard(who=1, card=1, by="clock", at=9_999),
        "seat/not_yours",
        "the time of seat 1 is not over",
        "",
    ),
    ("no pass", plain(), give(0, "2C"), "pass/not_now", "no cards are passed now", ""),
    (
        "a second pass",
        after(passing(), give(0, "2C 3D")),
        give(0, "2C 3D"),
        "pass/not_now",
        "you have passed already, and wait for the others",
        "",
    ),
    (
        "a wrong pass",
        passing(),
        give(0, "2C"),
        "pass/wrong_cards",
        "a pass is 2 of the cards held, each copy once",
        "pass exactly 2 cards of your hand",
    ),
    ("a play before the pass", passing(), play(0, "2C"), "play/not_your_turn", "the pass is not over", ""),
    ("out of turn", plain(), play(1, "3C"), "play/not_your_turn", "it is the turn of seat 0", ""),
    (
        "a play at a pending moon",
        moon_pending(),
        play(0, "AH"),
        "play/hand_over",
        "every card of the hand has been played",
        "",
    ),
    (
        "a moon that nobody shot",
        moon_table("choice"),
        c.ChooseMoon(who="p0", choice="add"),
        "moon/not_now",
        "nobody has shot the moon",
        "",
    ),
    (
        "somebody else's moon",
        moon_pending(),
        c.ChooseMoon(who="p1", choice="add"),
        "moon/not_now",
        "another seat shot the moon",
        "",
    ),
]


@pytest.mark.parametrize(
    ("table", "command", "code", "detail", "hint"), [row[1:] for row in MOVES], ids=[row[0] for row in MOVES]
)
def test_a_refused_command_is_told_why(
    table: list[e.Event], command: c.AnyCommand, code: str, detail: str, hint: str
) -> None:
    """The sentence says what is the matter, the hint what to do about it; no card is named."""
    refusal = given(table).when(command).refused(code)
    assert (detail, hint, None) == (refusal.detail, refusal.hint, refusal.legal)


def test_a_bot_moves_for_the_seat_it_stands_in_for() -> None:
    """The move is told as the bot's, though the seat is a person's."""
    given(away()).when(c.PlayCard(who=0, card=0, by="bot")).then(e.CardPlayed(seat=0, card="2C", by="bot"))


# --- cards


BAN: dict[str, Any] = {"opening_ban": ["H"]}
FORCED: dict[str, Any] = {"opener": "forced"}
TRICK1: dict[str, Any] = {"trick1_ban": ["H"]}
# hands, rules, what has been played, who plays what, code, reason, legal cards
CARDS: list[tuple[str, list[str], dict[str, Any], str, int, str, str, str, str]] = [
    ("not held", HANDS, {}, "", 0, "AS", "play/not_in_hand", "seat 0 does not hold it", "2C 3D 4S 5H"),
    (
        "another opening lead",
        HANDS,
        FORCED,
        "",
        0,
        "3D",
        "play/must_open_with",
        "seat 0 must open the hand with 2C",
        "2C",
    ),
    (
        "a banned opening lead",
        HANDS,
        BAN,
        "",
        0,
        "5H",
        "play/penalty_opening_lead",
        "seat 0 may not open the hand with it while it holds another card",
        "2C 3D 4S",
    ),
    ("clubs led", HANDS, {}, "2C", 1, "4D", "play/must_follow_suit", "seat 1 holds clubs", "3C"),
    ("diamonds led", HANDS, {}, "3D", 1, "3C", "play/must_follow_suit", "seat 1 holds diamonds", "4D"),
    ("spades led", HANDS, {}, "4S", 1, "4D", "play/must_follow_suit", "seat 1 holds spades", "5S"),
    (
        "hearts led",
        HANDS,
        {"breakers": []},
        "5H",
        1,
        "4D",
        "play/must_follow_suit",
        "seat 1 holds hearts",
        "6H",
    ),
    (
        "a heart on the first trick",
        ["2C 3D", "4D 5H", "3C 5D"],
        TRICK1,
        "2C",
        1,
        "5H",
        "play/penalty_on_first_trick",
        "seat 1 may not discard it on the first trick",
        "4D",
    ),
    (
        "a heart led",
        HANDS,
        {},
        "2C 3C 4C 5C",
        3,
        "8H",
        "play/hearts_not_broken",
        "seat 3 may not lead hearts before they are broken",
        "6D 7S",
    ),
]


@pytest.mark.parametrize(
    ("hands", "rules", "plays", "seat", "card", "code", "reason", "legal"),
    [row[1:] for row in CARDS],
    ids=[row[0] for row in CARDS],
)
def test_a_refused_card_is_told_with_those_that_may_be_played(
    hands: list[str],
    rules: dict[str, Any],
    plays: str,
    seat: int,
    card: str,
    code: str,
    reason: str,
    legal: str,
) -> None:
    """The card, why not, and which ones instead: in the list and in the hint."""
    table = played(dealt(small_rules(hands, **rules), hands), plays)
    refusal = given(table).when(play(seat, card)).refused(code, legal=legal)
    assert (f"{card}: {reason}", f"play one of {legal}") == (refusal.detail, refusal.hint)
    assert f"{code}: {card}: {reason}" == str(refusal)


def test_a_card_after_the_last_waits_for_the_next_hand() -> None:
    """There is no card to name instead."""
    hand = HandState(1, 0, 0, [mask_of(parse_cards(text)) for text in HANDS], 0)
    with pytest.raises(Refused) as caught:
        check_play(Terms(small_rules(HANDS)), hand, parse_card("2C"))
    refusal = caught.value
    assert ("play/hand_over", []) == (refusal.code, refusal.legal)
    assert "2C: every card of the hand has been played" == refusal.detail
    assert "wait for the next hand" == refusal.hint


@pytest.mark.parametrize("cards", ["", "2C 3C", "2C 3C 4C 5C", "2C 2C 3C", "2C 2C 2C", "2C 3C AS"])
def test_a_pass_that_is_none_is_told_the_number(cards: str) -> None:
    """Too few, too many, one that is not held, one twice or three times: the sentence is the same."""
    terms = Terms(ruleset_of({"variant": "basic"}))
    with pytest.raises(Refused) as caught:
        check_pass(terms, mask_of(parse_cards("2C 3C 4C 5C")), parse_cards(cards))
    refusal = caught.value
    assert "pass/wrong_cards" == refusal.code
    assert "a pass is 3 of the cards held, each copy once" == refusal.detail
    assert "pass exactly 3 cards of your hand" == refusal.hint
