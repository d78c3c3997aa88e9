"""Another deal that a reader cannot tell from the true one.

`tests.domain.test_hidden` deals the unseen cards anew, whatever was played. Here the plays of the hand stay legal, too: a
seat that did not follow suit has none of it in the other deal either. So a reader who reasons as well as it can still
cannot tell the two apart, and a player of the other deal could have made every move that was made.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

from domain.cards import BITS, Card, Mask, mask_of
from domain.claim import possible_cards
from domain.game import to_act
from domain.rules import legal_plays
from domain.state import HandState, State
from domain.view import view
from tests.domain.test_hidden import Cards, count, fixed_cards, new_passes, played_cards, replay_hand
from tests.support.games import hand_of

TRIES = 4
"""How often other cards are looked for before fewer change places."""


class _Slot(NamedTuple):
    """A place for a card that a reader has not seen: a seat's hand, or behind all seats the kitty."""

    place: int
    card: Card


def deal_consistently(state: State, reader: int | None, rng: Random) -> HandState:
    """The hand in play, dealt in a way that ``reader`` (none: a spectator) cannot tell from the true one.

    It is the true one where there is no other, as at the end of a hand without a kitty.
    """
    swaps = 4 * sum(mask.bit_count() for mask in hand_of(state).held)
    for _ in range(TRIES):
        hand = _dealt(state, reader, rng, swaps)
        if hand is not None:
            return hand
        swaps //= 4
    hand = _dealt(state, reader, rng, 0)
    assert hand is not None, "the true cards were not legally played"
    return hand


def _dealt(state: State, reader: int | None, rng: Random, swaps: int) -> HandState | None:
    hand = hand_of(state)
    seats = range(len(hand.dealt))
    held, kitty = _swapped(state, reader, rng, swaps)
    played = played_cards(hand)
    after_pass = [played[seat] + held[seat] for seat in seats]
    passes = new_passes(hand, reader, after_pass, rng)
    dealt = after_pass
    if hand.exchanged:
        dealt = [after_pass[seat] - passes[hand.receives_from(seat)] + passes[seat] for seat in seats]
    twin = state.copy()
    twin.hand = replay_hand(state, [mask_of(cards.elements()) for cards in dealt], kitty, passes)
    legal = to_act(twin) == to_act(state) and _was_legal(state, twin.hand)
    return twin.hand if legal else None


def _swapped(state: State, reader: int | None, rng: Random, swaps: int) -> tuple[list[Cards], Cards]:
    """The hands and the kitty after so many tries to let two unseen cards change places."""
    hand = hand_of(state)
    places = [count(mask) for mask in [*hand.held, hand.kitty]]
    fixed = fixed_cards(state, reader)
    slots = [
        _Slot(place, card)
        for place, (cards, stay) in enumerate(zip(places, fixed, strict=True))
        for card in sorted((cards - stay).elements())
    ]
    allowed: list[Mask] = [*possible_cards(state.terms, view(state, None)), -1]
    for _ in range(swaps if len(slots) > 1 else 0):
        one, other = rng.sample(range(len(slots)), 2)
        mine, theirs = slots[one], slots[other]
        if allowed[mine.place] & BITS[theirs.card] and allowed[theirs.place] & BITS[mine.card]:
            slots[one], slots[other] = mine._replace(card=theirs.card), theirs._replace(card=mine.card)
    moved = [Counter(stay) for stay in fixed]
    for slot in slots:
        moved[slot.place][slot.card] += 1
    return moved[:-1], moved[-1]


def _was_legal(state: State, dealt: HandState) -> bool:
    """Whether every play of the hand was legal for who held these cards."""
    terms = state.terms
    hand = HandState(dealt.number, dealt.offset, dealt.opener, dealt.dealt, dealt.kitty)
    hand.passes = dealt.passes[:]
    if dealt.exchanged:
        hand.exchange()
    if state.phase == "pass":
        return True
    hand.lead_with(dealt.leader, dealt.forced)
    for number, (leader, cards, winner) in enumerate(
        [*dealt.history, (dealt.leader, tuple(dealt.trick), None)]
    ):
        if cards:
            hand.leader = hand.turn = leader
        for card in cards:
            if not legal_plays(terms, hand) & BITS[card]:
                return False
            hand.lay(card, terms.breakers)
        if number < len(dealt.history):
            hand.take(winner, terms, [])
    return True
