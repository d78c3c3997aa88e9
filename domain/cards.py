"""Cards, hands and their notation.

A card is a small integer, ``suit * 13 + rank``: suits in the order clubs, diamonds, spades, hearts, ranks from two (0)
to ace (12), so that integer order is the order in which card lists are written (``docs/spec/audit.md``).

A hand is a multiset of cards held as one bit set, a `Mask`: bit ``card`` for the first copy and bit ``card + 52`` for
the second copy of a two-deck game. The second bit is only ever set above a set first bit, so the low 52 bits alone
answer "which cards".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from domain.refusals import Malformed

Card = int
"""0..51, ``suit * 13 + rank``."""
Suit = int
"""0 clubs, 1 diamonds, 2 spades, 3 hearts."""
Mask = int
"""A multiset of cards: bits 0..51 the first copies, bits 52..103 the second ones."""
Seat = int
"""0..n-1, clockwise; the seat on the left of ``s`` is ``s + 1``."""

RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDSH"
DECK_SIZE: Final = 52
CLUBS: Final = 0
DIAMONDS: Final = 1
SPADES: Final = 2
HEARTS: Final = 3

NAMES: Final[tuple[str, ...]] = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""The text of each card, by its number."""
CARDS: Final[dict[str, Card]] = {name: card for card, name in enumerate(NAMES)}
"""The number of each card, by its text exactly as we write it."""

QS: Final[Card] = CARDS["QS"]
JD: Final[Card] = CARDS["JD"]
AS: Final[Card] = CARDS["AS"]
KS: Final[Card] = CARDS["KS"]

FIRST_COPIES: Final[Mask] = (1 << DECK_SIZE) - 1
SUIT_MASKS: Final[tuple[Mask, ...]] = tuple(0x1FFF << (13 * suit) for suit in range(4))
"""The first copies of each suit, by suit."""
HEARTS_MASK: Final[Mask] = SUIT_MASKS[HEARTS]
BITS: Final[tuple[Mask, ...]] = tuple(1 << card for card in range(DECK_SIZE))
SECOND_BITS: Final[tuple[Mask, ...]] = tuple(1 << card + DECK_SIZE for card in range(DECK_SIZE))
"""The bit of the second copy of each card."""
_BIT_OF: Final = dict(zip(NAMES, BITS, strict=True))
SUIT_OF: Final[tuple[Suit, ...]] = tuple(card // 13 for card in range(DECK_SIZE))
SECOND: Final = DECK_SIZE


def both_copies(mask: Mask) -> Mask:
    """The multiset of both copies of the cards of a mask of first copies."""
    return mask | mask << SECOND


SUIT_CARDS: Final[tuple[Mask, ...]] = tuple(both_copies(mask) for mask in SUIT_MASKS)
"""Both copies of the cards of each suit, by suit."""


def parse_card(text: object) -> Card:
    """The card named by ``text``: rank then suit, either case, ``10`` read as ``T``.

    Raises `Malformed` for anything else.
    """
    if isinstance(text, str):
        card = CARDS.get(text)
        if card is not None:
            return card
        name = text.strip().upper()
        card = CARDS.get("T" + name[2:] if name.startswith("10") else name)
        if card is not None:
            return card
    raise Malformed(f"not a card: {text!r:.40}; a card is a rank of {RANKS} and a suit of {SUITS}, as in QS")


def parse_cards(text: object) -> list[Card]:
    """The cards of a list separated by white space, in the order written; ``""`` is none.

    Raises `Malformed` where the list is no text or an entry is no card.
    """
    if not isinstance(text, str):
        raise Malformed(f"not a list of cards: {text!r:.40}; cards are one text, as in 'AS KS QS'")
    words = text.split()
    try:
        return [CARDS[word] for word in words]
    except KeyError:  # not as we write it: "10S", "qs", or no card
        return [parse_card(word) for word in words]


def format_cards(cards: Iterable[Card]) -> str:
    """A card list as it is stored and sent: sorted by suit ``CDSH``, then rank, separated by one space."""
    return " ".join([NAMES[card] for card in sorted(cards)])


def read_mask(text: str) -> Mask:
    """The multiset of a card list exactly as we write it: the quick way for our own stored lists.

    Raises `KeyError` for anything that is no card of ours.
    """
    mask = 0
    for name in text.split():
        bit = _BIT_OF[name]
        mask |= bit << SECOND if mask & bit else bit
    return mask


def mask_of(cards: Iterable[Card]) -> Mask:
    """The multiset of ``cards`` as a bit set. Raises `Malformed` for a third copy of a card."""
    mask = 0
    for card in cards:
        # `add_card` without its call, for every deal of every record comes through here
        bit = BITS[card]
        if mask & bit:
            mask = add_card(mask, card)
        else:
            mask |= bit
    return mask


def add_card(mask: Mask, card: Card) -> Mask:
    """``mask`` with one more copy of ``card``. Raises `Malformed` for a third copy."""
    bit = BITS[card]
    if not mask & bit:
        return mask | bit
    if mask & bit << SECOND:
        raise Malformed(f"three copies of {NAMES[card]}")
    return mask | bit << SECOND


def drop_card(mask: Mask, card: Card) -> Mask:
    """``mask`` less one copy of ``card``, which it must hold."""
    second = BITS[card] << SECOND
    return mask ^ second if mask & second else mask ^ BITS[card]


def has_card(mask: Mask, card: Card) -> bool:
    """Whether ``mask`` holds at least one copy of ``card``."""
    return bool(mask & BITS[card])


def distinct_cards(mask: Mask) -> list[Card]:
    """The cards of ``mask`` in card-list order, each once however many copies there are."""
    cards = []
    mask &= FIRST_COPIES
    while mask:
        low = mask & -mask
        cards.append(low.bit_length() - 1)
        mask ^= low
    return cards


def cards_of(mask: Mask) -> list[Card]:
    """The cards of ``mask`` in card-list order, a card held twice listed twice."""
    seconds = mask >> SECOND
    if not seconds:
        return distinct_cards(mask)
    return sorted(distinct_cards(mask) + distinct_cards(seconds))


def format_mask(mask: Mask) -> str:
    """The card list of ``mask``; see `format_cards`."""
    return " ".join([NAMES[card] for card in cards_of(mask)])


def contains(mask: Mask, other: Mask) -> bool:
    """Whether the multiset ``mask`` holds every card of the multiset ``other``."""
    return mask & other == other


def remove_cards(mask: Mask, cards: Iterable[Card]) -> Mask:
    """``mask`` less one copy of each of ``cards``, all of which it must hold."""
    for card in cards:
        mask = drop_card(mask, card)
    return mask


def add_masks(mask: Mask, other: Mask) -> Mask:
    """The multiset sum of two hands. Raises `Malformed` for a third copy of a card."""
    twice = mask & other & FIRST_COPIES
    if (mask | other) >> SECOND & twice or (mask & other) >> SECOND:
        raise Malformed("three copies of a card")
    return mask | other | twice << SECOND


def subtract_masks(mask: Mask, other: Mask) -> Mask:
    """The multiset difference of two hands; ``mask`` must contain ``other``."""
    for card in cards_of(other):
        mask = drop_card(mask, card)
    return mask


def mask_without(mask: Mask, gone: Mask) -> Mask:
    """The multiset ``mask`` less what it has of ``gone``, of which it need not hold every card."""
    seconds, gone_seconds = mask >> SECOND, gone >> SECOND
    firsts, gone_firsts = mask & FIRST_COPIES, gone & FIRST_COPIES
    return firsts & ~gone_firsts | seconds & ~gone_seconds | (seconds & ~gone_firsts) << SECOND


def iter_suits(mask: Mask) -> Iterator[tuple[Suit, list[Card]]]:
    """Each suit with the cards of it that ``mask`` holds, copies counted, lowest first."""
    cards = cards_of(mask)
    for suit in range(4):
        yield suit, [card for card in cards if SUIT_OF[card] == suit]
