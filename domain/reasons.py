"""Why a card may be played or passed, or why not, with the rule named.

What is legal is judged by `domain.rules`; this names the rule that makes it so. Codes are stable: ``may/...`` where it is
allowed, else those of refusals.
"""

from __future__ import annotations

from typing import NamedTuple

from domain.cards import BITS, FIRST_COPIES, HEARTS_MASK, NAMES, SUIT_OF, Card, Seat
from domain.refusals import Refused
from domain.rules import SUIT_NAMES, check_play
from domain.ruleset import Terms
from domain.state import HandState

RULES = (
    "may/follow_suit",
    "may/discard",
    "may/discard_on_first_trick",
    "may/nothing_else",
    "may/open",
    "may/must_open_with",
    "may/lead",
    "may/lead_hearts",
    "may/lead_other_suit",
    "may/pass",
)
"""The codes of what is allowed."""


class Reason(NamedTuple):
    """Whether a seat may do something with a card, and by which rule; ``hint`` says what it might do instead."""

    allowed: bool
    code: str
    detail: str
    """A sentence about the seat, which speaks of its own hand alone."""
    hint: str = ""


def explain_play(terms: Terms, hand: HandState, card: Card) -> Reason:
    """Whether the seat to play may play ``card``."""
    try:
        check_play(terms, hand, card)
    except Refused as refused:
        return Reason(False, refused.code, refused.detail, refused.hint)
    if hand.trick:
        code, why = _to_follow(terms, hand, card)
    elif not hand.history:
        code, why = _to_open(terms, hand, card)
    else:
        code, why = _to_lead(terms, hand, card)
    return Reason(True, code, f"{NAMES[card]}: seat {hand.turn} {why}")


def explain_pass(terms: Terms, hand: HandState, seat: Seat, card: Card) -> Reason:
    """Whether ``seat`` may pass ``card``, with others, before the exchange."""
    if hand.passes[seat] is not None:
        return Reason(False, "pass/not_now", f"{NAMES[card]}: seat {seat} has passed already")
    if not hand.held[seat] & BITS[card]:
        hint = "pass cards of the hand"
        return Reason(False, "pass/wrong_cards", f"{NAMES[card]}: seat {seat} does not hold it", hint)
    count, to = terms.rules.pass_count, (seat + hand.offset) % terms.players
    told = f"{NAMES[card]}: seat {seat} passes {count} of its cards, whichever it likes, to seat {to}"
    return Reason(True, "may/pass", told)


def _to_follow(terms: Terms, hand: HandState, card: Card) -> tuple[str, str]:
    led = SUIT_OF[hand.trick[0]]
    if SUIT_OF[card] == led:
        return "may/follow_suit", f"follows {SUIT_NAMES[led]}"
    void = f"has no {SUIT_NAMES[led]}"
    if hand.history or not terms.trick1_ban:
        return "may/discard", f"{void} and may throw anything"
    if terms.trick1_ban & BITS[card]:
        return "may/nothing_else", f"{void} and no card that it might throw on the first trick instead"
    return "may/discard_on_first_trick", f"{void} and may throw what the first trick does not forbid"


def _to_open(terms: Terms, hand: HandState, card: Card) -> tuple[str, str]:
    if hand.forced >= 0:
        return "may/must_open_with", f"must open the hand with {NAMES[hand.forced]}"
    if terms.opening_ban & BITS[card]:
        return "may/nothing_else", "holds nothing that it might open the hand with instead"
    return "may/open", "opens the hand, with any card" + (" that may open it" if terms.opening_ban else "")


def _to_lead(terms: Terms, hand: HandState, card: Card) -> tuple[str, str]:
    if not terms.breakers:
        return "may/lead", "leads, and any card may be led"
    if hand.broken:
        return "may/lead", "leads, and hearts are broken"
    if not HEARTS_MASK & BITS[card]:
        return "may/lead_other_suit", "leads another suit than hearts, which are not broken"
    others = hand.held[hand.turn] & FIRST_COPIES & ~HEARTS_MASK
    beside = " and the queen of spades" if others else ""
    return "may/lead_hearts", f"leads, and holds nothing but hearts{beside}"
