"""Why a card may be played or passed: the rule that is named is the one that decides."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from domain.cards import BITS, HEARTS, NAMES, SUIT_MASKS, SUIT_OF, cards_of, parse_card
from domain.game import is_over
from domain.reasons import RULES, Reason, explain_pass, explain_play
from domain.rules import SUIT_NAMES, legal_plays
from domain.ruleset import Terms
from domain.state import HandState
from domain.variants import ruleset_of
from tests.support.games import play_game, random_move

GAMES: list[dict[str, Any]] = [
    {"variant": "basic"},
    {"variant": "standard", "players": 3, "hand_limit": 2},
    {"variant": "cancellation", "players": 8, "hand_limit": 2},
    {"variant": "omnibus", "hand_limit": 2},
    {"variant": "custom", "players": 4, "hand_limit": 2, "opener": "left", "opening_ban": ["H", "QS"]},
    {"variant": "custom", "players": 4, "hand_limit": 2, "breakers": [], "trick1_ban": []},
    {
        "variant": "custom",
        "players": 7,
        "pass_cycle": [1],
        "hand": 7,
        "removed": "2D 2S 2C",
        "hand_limit": 20,
    },
    {
        "variant": "custom",
        "players": 7,
        "pass_cycle": [1],
        "hand": 7,
        "removed": "2D 2S 2C",
        "hand_limit": 20,
        "trick1_ban": ["C", "D", "S", "H"],
    },
]


def check_named(terms: Terms, hand: HandState, card: int, reason: Reason) -> None:
    """What the code says is so."""
    suit = SUIT_OF[card]
    led = SUIT_OF[hand.trick[0]] if hand.trick else -1
    held = hand.held[hand.turn]
    void = led >= 0 and not held & SUIT_MASKS[led]
    match reason.code:
        case "may/follow_suit":
            assert suit == led
            assert f"follows {SUIT_NAMES[led]}" in reason.detail
        case "may/discard":
            assert void
            assert (len(hand.history) > 0) or not terms.trick1_ban
            assert f"has no {SUIT_NAMES[led]} and may throw anything" in reason.detail
        case "may/discard_on_first_trick":
            assert (void, hand.history, terms.trick1_ban & BITS[card]) == (True, [], 0)
        case "may/nothing_else":
            assert not hand.history
        case "may/must_open_with":
            assert card == hand.forced
            assert f"must open the hand with {NAMES[card]}" in reason.detail
        case "may/open":
            assert (hand.history, hand.trick, hand.forced) == ([], [], -1)
        case "may/lead":
            assert hand.broken or not terms.breakers
        case "may/lead_hearts":
            assert (suit, hand.broken) == (HEARTS, False)
        case "may/lead_other_suit":
            assert (suit == HEARTS, hand.broken) == (False, False)
        case _:
            raise AssertionError(reason)


def test_the_rule_that_is_named_is_the_one_that_decides() -> None:
    """Given games by all kinds of rules, then every card of the seat to play is allowed as the rules say, by what they say."""
    seen: Counter[str] = Counter()
    for seed, rules in enumerate(GAMES):
        game, rng = play_game(ruleset_of(rules), seed, moves=0), Random(seed)
        while not is_over(game.state):
            state = game.end
            hand = state.hand
            if state.phase == "play" and hand is not None and hand.turn >= 0:
                legal = legal_plays(state.terms, hand)
                for card in set(cards_of(hand.held[hand.turn])):
                    reason = explain_play(state.terms, hand, card)
                    assert reason.allowed == bool(legal & BITS[card])
                    seen[reason.code] += 1
                    if reason.allowed:
                        check_named(state.terms, hand, card, reason)
                    else:
                        assert reason.code.startswith("play/")
                        assert reason.hint
            game.do(random_move(state, rng, state.last_at))
    assert set(RULES) - {"may/pass"} <= set(seen), set(RULES) - set(seen)


@pytest.mark.parametrize(
    ("held", "code"), [("2H 3H", "may/lead_hearts"), ("2H QS", "may/lead_hearts"), ("2H QS 3C", "")]
)
def test_hearts_are_led_where_nothing_else_is_held(held: str, code: str) -> None:
    """Also, by a knob, beside the queen alone; the sentence says which."""
    game = play_game(ruleset_of({"variant": "custom", "players": 4, "qs_hearts_lead": "any"}), 1, moves=0)
    state = game.end
    hand = HandState(1, 0, 0, [0] * 4, 0)
    hand.turn, hand.history = 0, [(0, [0, 1, 2, 3], 0)]
    hand.held = [sum(BITS[parse_card(card)] for card in held.split())] * 4
    reason = explain_play(state.terms, hand, parse_card("2H"))
    assert (bool(code), code or "play/hearts_not_broken") == (reason.allowed, reason.code)
    assert ("and the queen of spades" in reason.detail) == (held == "2H QS")


def test_what_is_held_may_be_passed_until_it_was() -> None:
    """Any card of the hand, to the seat that the direction says."""
    game = play_game(ruleset_of({"variant": "standard", "players": 4}), 3, moves=0)
    state = game.end
    hand = state.hand
    assert hand is not None
    for card in range(52):
        reason = explain_pass(state.terms, hand, 2, card)
        holds = bool(hand.held[2] & BITS[card])
        assert (holds, "may/pass" if holds else "pass/wrong_cards") == (reason.allowed, reason.code)
    assert (
        "passes 3 of its cards, whichever it likes, to seat 3"
        in explain_pass(state.terms, hand, 2, cards_of(hand.held[2])[0]).detail
    )
    game.do(random_move(state, Random(1), state.last_at, [2]))
    hand = game.end.hand
    assert hand is not None
    assert "pass/not_now" == explain_pass(state.terms, hand, 2, 0).code
