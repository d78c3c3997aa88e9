"""How seats play in a playout: by rules of thumb, for every rule set.

The plain twin of ``policy.h``, ``playout.h`` and ``passing.h`` in ``domain/kernel``, card for card;
`tests/domain/test_kernel_search.py` holds them together. What a seat does here follows from its own cards, from what was
played, and from which cards are still in the hands of the others, as whoever counts cards knows. Whole numbers only, so
that every machine plays the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from domain.bots.knowledge import HIGHER, LOWER
from domain.bots.worlds import Chance, scale
from domain.cards import (
    BITS,
    FIRST_COPIES,
    SUIT_MASKS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    cards_of,
    drop_card,
    mask_of,
)
from domain.rules import kitty_in_trick, legal_plays, trick_taker
from domain.ruleset import Terms
from domain.state import HandState

WHIM: Final = 26
"""Of 256 cards in a playout, so many are any legal one."""
KILLER: Final = 4
"""From so many times the points of a usual penalty card on, a card is worth fearing by itself."""

# The weights are explained in policy.h and passing.h.
LEAD_LOWER, LEAD_HIGHER, LEAD_LENGTH, LEAD_STUCK = 8, 3, 2, 40
LEAD_KILLER, LEAD_FLUSH, LEAD_PENALTY = 200, 20, 4
THROW_RANK, THROW_LOWER, THROW_LENGTH = 4, 4, 2
THROW_OVER, THROW_PENALTY, THROW_STUCK = 40, 10, 10
SPARE_LOWER, SPARE_PENALTY = 8, 12
SHOT_FEARED, MOON_FEARED = 3, 3
PASS_RANK, PASS_SHORT, PASS_PENALTY, PASS_GUARDED = 4, 5, 6, 10
PASS_KILLER, PASS_OVER, PASS_WITH, PASS_GUARDS, PASS_BELOW = 100, 68, 60, 4, 40


class Thumb:
    """What the rules of thumb know of a rule set; masks of first copies."""

    __slots__ = ("bonus", "killers", "over", "penalty", "terms", "unit")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        deck, values = mask_of(terms.deck), terms.values
        faces = [card for card in range(len(values)) if deck & BITS[card]]
        self.penalty: Mask = sum(BITS[card] for card in faces if values[card] > 0)
        self.bonus: Mask = sum(BITS[card] for card in faces if values[card] < 0)
        points = sum(values[card] for card in terms.deck if values[card] > 0)
        decks = 2 if deck > FIRST_COPIES else 1
        self.unit = points // decks or 26
        """Penalty points of a deck: 26 where hearts count 1 and the queen of spades 13."""
        self.killers: Mask = sum(
            BITS[card] for card in faces if values[card] > 0 and values[card] * 26 * decks >= KILLER * points
        )
        over = 0
        for card in cards_of(self.killers):
            over |= HIGHER[card] & FIRST_COPIES
        self.over: Mask = over & ~self.killers
        """The cards above a killer in its suit."""


@lru_cache(maxsize=64)
def thumb_of(terms: Terms) -> Thumb:
    """The `Thumb` of terms, worked out once."""
    return Thumb(terms)


def play_out(thumb: Thumb, hand: HandState, chance: Chance, shooters: int) -> None:
    """Play ``hand`` to its end; ``shooters`` are the seats that shoot the moon, a bit each."""
    while hand.turn >= 0:
        word = chance.word()
        if word & 255 < WHIM:
            legal = legal_plays(thumb.terms, hand)
            for _ in range(scale(word, legal.bit_count())):
                legal &= legal - 1
            card = _lowest(legal)
        else:
            card = choose(thumb, hand, shooters)
        lay(thumb.terms, hand, card)


def lay(terms: Terms, hand: HandState, card: Card) -> None:
    """Play a legal card; the last one of a trick ends it."""
    hand.lay(card, terms.breakers)
    if hand.turn < 0:
        extra = cards_of(hand.kitty) if kitty_in_trick(terms, hand) else []
        hand.take(trick_taker(terms, hand), terms, extra)


def choose(thumb: Thumb, hand: HandState, shooters: int) -> Card:
    """The card that the seat to play lays."""
    terms, me = thumb.terms, hand.turn
    held, legal = hand.held[me] & FIRST_COPIES, legal_plays(terms, hand)
    if not legal & (legal - 1):
        return _lowest(legal)
    others = 0
    for seat, mask in enumerate(hand.held):
        if seat != me:
            others |= mask
    others &= FIRST_COPIES
    takers = [seat for seat, count in enumerate(hand.penalties_taken) if count]
    # an attempt is over as soon as anybody else has a penalty card
    shoots = bool(shooters >> me & 1) and takers in ([], [me])
    if not hand.trick:
        return _lead_to_shoot(legal, others) if shoots else _lead(thumb, legal, held, others)
    top = _top(terms, hand.trick)
    follows = bool(legal & SUIT_MASKS[SUIT_OF[hand.trick[0]]])
    if shoots:
        if not follows:
            return _throw_to_shoot(thumb, legal, held, others)
        over = legal & (FIRST_COPIES if top < 0 else HIGHER[top])
        if not over:
            return _lowest(legal)
        return _lowest(over) if len(hand.trick) + 1 == terms.players else _highest(over)
    helps = _helps_moon(terms, hand, takers, shooters, top)
    if follows:
        return _follow(thumb, hand, legal, top, helps=helps)
    return (_spare if helps else _throw)(thumb, legal, held, others)


def _lowest(mask: Mask) -> Card:
    return (mask & -mask).bit_length() - 1


def _highest(mask: Mask) -> Card:
    return mask.bit_length() - 1


def _pile(hand: HandState) -> list[Card]:
    return hand.pile + hand.trick


def _top(terms: Terms, trick: list[Card]) -> Card:
    """The card that wins so far; -1 where none does, which a cancelling game allows."""
    suit = SUIT_OF[trick[0]]
    cancel = terms.rules.cancel
    return max(
        [card for card in trick if SUIT_OF[card] == suit and not (cancel and trick.count(card) > 1)],
        default=-1,
    )


def _helps_moon(terms: Terms, hand: HandState, takers: list[Seat], shooters: int, top: Card) -> bool:
    """Whether the trick goes to another seat that seems to be shooting; of one that is, the others think so sooner."""
    if top < 0 or len(takers) > 1 or terms.rules.moon_effect == "none":
        return False
    if shooters:
        threat, feared = (shooters & -shooters).bit_length() - 1, SHOT_FEARED
        if takers not in ([], [threat]):
            return False
    elif takers:
        threat, feared = takers[0], MOON_FEARED
    else:
        return False
    if threat == hand.turn or hand.penalties_taken[threat] < feared:
        return False
    at = len(hand.trick) - 1 - hand.trick[::-1].index(top)
    return (hand.leader + at) % terms.players == threat


# --- a seat that shoots the moon


def _lead_to_shoot(legal: Mask, others: Mask) -> Card:
    best, least = -1, 1 << 30
    for suit in SUIT_MASKS:
        mine, theirs = legal & suit, others & suit
        if mine:
            card = _highest(mine)
            cost = 16 * (theirs & HIGHER[card]).bit_count() - 4 * mine.bit_count() - (0 if theirs else 2)
            if cost < least:
                best, least = card, cost
    return best


def _throw_to_shoot(thumb: Thumb, legal: Mask, held: Mask, others: Mask) -> Card:
    best, least = -1, 1 << 30
    harmless = legal & ~thumb.penalty or legal
    for suit in SUIT_MASKS:
        if harmless & suit:
            card = _lowest(harmless & suit)
            cost = (held & suit).bit_count() - 4 * (others & HIGHER[card]).bit_count()
            if cost < least:
                best, least = card, cost
    return best


# --- everybody else


def _lead(thumb: Thumb, legal: Mask, held: Mask, others: Mask) -> Card:
    best, least = -1, 1 << 30
    for suit in SUIT_MASKS:
        mine, theirs = legal & suit, others & suit
        if not mine:
            continue
        plain, feared = mine & ~thumb.killers, theirs & thumb.killers
        card = _lowest(plain or mine)
        cost = (
            LEAD_LOWER * (theirs & LOWER[card]).bit_count()
            - LEAD_HIGHER * (theirs & HIGHER[card]).bit_count()
            + LEAD_LENGTH * (held & suit).bit_count()
        )
        if not theirs:
            cost += LEAD_STUCK
        if not plain or feared & LOWER[card]:
            cost += LEAD_KILLER
        elif feared and not held & (thumb.killers | thumb.over) & suit:
            cost -= LEAD_FLUSH
        if thumb.penalty & ~thumb.killers & suit:
            cost += LEAD_PENALTY
        if cost < least:
            best, least = card, cost
    return best


def _throw(thumb: Thumb, legal: Mask, held: Mask, others: Mask) -> Card:
    if legal & thumb.killers:
        return _highest(legal & thumb.killers)
    best, most = -1, -1 << 30
    plain = legal & ~thumb.bonus or legal
    for suit in SUIT_MASKS:
        mine, theirs = plain & suit, others & suit
        if not mine:
            continue
        card = _highest(mine)
        gain = (
            THROW_RANK * (card % 13)
            + THROW_LOWER * (theirs & LOWER[card]).bit_count()
            - THROW_LENGTH * (held & suit).bit_count()
        )
        if theirs & thumb.killers & LOWER[card]:
            gain += THROW_OVER
        if thumb.penalty & BITS[card]:
            gain += THROW_PENALTY
        if not theirs:
            gain -= THROW_STUCK
        if gain > most:
            best, most = card, gain
    return best


def _spare(thumb: Thumb, legal: Mask, held: Mask, others: Mask) -> Card:
    """The card that is the least use against a moon: what may still beat another card is kept, even for a penalty card."""
    best, least = -1, 1 << 30
    for suit in SUIT_MASKS:
        mine = legal & suit
        for kind, price in ((mine & ~thumb.penalty, 0), (mine & thumb.penalty, SPARE_PENALTY)):
            if not kind:
                continue
            card = _lowest(kind)
            beats = (others & LOWER[card]).bit_count()
            cost = SPARE_LOWER * beats + price + card % 13 - (held & suit).bit_count()
            if cost < least:
                best, least = card, cost
    return best


def _follow(thumb: Thumb, hand: HandState, legal: Mask, top: Card, *, helps: bool) -> Card:
    """Follow suit; ``helps``: ``top`` is of a seat that seems to shoot the moon.

    Then a trick with penalty cards is taken from it, and high cards are kept for that.
    """
    terms = thumb.terms
    values, pile = terms.values, _pile(hand)
    last = len(hand.trick) + 1 == terms.players
    # of two equal cards the later one wins, or where they cancel neither does
    under = 0 if top < 0 else legal & LOWER[top]
    if terms.rules.cancel and top >= 0:
        under |= legal & BITS[top]
    over = legal & ~under
    plain_over = over & ~thumb.killers
    clean = not any(values[one] > 0 for one in pile)
    stop = helps and not clean
    if over and ((stop and not over & thumb.killers) or (last and sum([values[one] for one in pile]) < 0)):
        return _highest(over)
    cheap = plain_over & ~thumb.penalty
    if under:
        if under & thumb.killers:
            return _highest(under & thumb.killers)
        if helps:
            return _lowest(under & ~thumb.bonus or under)
        if last and cheap and clean:
            return _highest(cheap)
        return _highest(under & ~thumb.bonus or under)
    if not plain_over:
        return _lowest(over)
    if last:
        return _highest(plain_over)
    if not hand.history and terms.trick1_ban and clean and cheap:
        return _highest(cheap)
    return _lowest(plain_over)


# --- what seats pass


def pass_want(thumb: Thumb, held: Mask, card: Card) -> int:
    """How much a card wants to be passed from a hand; ``held`` has first copies."""
    bit, suit, rank = BITS[card], SUIT_MASKS[SUIT_OF[card]], card % 13
    mine = held & suit
    if thumb.bonus & bit:
        return -1000
    if thumb.killers & suit:
        low = (mine & ~(thumb.killers | thumb.over)).bit_count()
        if thumb.killers & bit:
            return -20 if low >= PASS_GUARDS else PASS_KILLER
        if not thumb.over & bit:
            return rank - PASS_BELOW
        if low >= PASS_GUARDS:
            return 0
        return PASS_WITH if mine & thumb.killers else PASS_OVER + rank
    if thumb.penalty & bit:
        guarded = (mine & LOWER[card]).bit_count() >= 3
        return PASS_RANK * rank + PASS_PENALTY - (PASS_GUARDED if guarded else 0)
    return PASS_RANK * rank + PASS_SHORT * (5 - mine.bit_count())


def choose_pass(thumb: Thumb, hand: Mask, count: int) -> tuple[Card, ...]:
    """The ``count`` cards of a hand that want it most, the lowest first of equal ones."""
    left, given = hand, list[Card]()
    for _ in range(count):
        faces = cards_of(left & FIRST_COPIES)
        best = max(faces, key=lambda card: (pass_want(thumb, hand & FIRST_COPIES, card), -card))
        given.append(best)
        left = drop_card(left, best)
    return tuple(given)
