"""What a seat can work out of its `View`: cards still out, voids, points taken, and the chances that follow.

All chances treat the cards that are still out as spread at random over the seats that may hold them and the kitty.
They are rough on purpose and use only the four operations of arithmetic, so that every machine gets the same numbers
and a bot's move can be checked anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from operator import add
from typing import Final

import msgspec

from domain.cards import (
    BITS,
    DECK_SIZE,
    SECOND,
    SUIT_CARDS,
    SUIT_MASKS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    Suit,
    add_masks,
    both_copies,
    distinct_cards,
    mask_of,
    mask_without,
)
from domain.ruleset import RuleSet, terms_of
from domain.view import View

LOWER: Final[tuple[Mask, ...]] = tuple(
    both_copies(SUIT_MASKS[SUIT_OF[card]] & (BITS[card] - 1)) for card in range(DECK_SIZE)
)
"""Both copies of the lower cards of a card's suit, by card."""
HIGHER: Final[tuple[Mask, ...]] = tuple(
    SUIT_CARDS[SUIT_OF[card]] & ~LOWER[card] & ~both_copies(BITS[card]) for card in range(DECK_SIZE)
)
"""Both copies of the higher cards of a card's suit, by card."""
_MOST: Final = 2 * DECK_SIZE
_SUIT_MOST: Final = 26
KILLER: Final = 4.0
"""From so many times the points of a usual penalty card on, a card is worth fearing by itself."""
RISE: Final = 0.35
"""How often a follower who could stay under a card plays over it all the same."""


@lru_cache(maxsize=128)
def none_of(seats: int) -> tuple[float, ...]:
    """The chance that one of ``seats`` equal hands holds none of so many unseen cards, by their number."""
    chances = [1.0]
    for _ in range(_MOST):
        chances.append(chances[-1] * (1.0 - 1.0 / seats))
    return tuple(chances)


@lru_cache(maxsize=128)
def stays(seats: int) -> tuple[tuple[float, ...], ...]:
    """The chance that one follower does not play over a card, by unseen lower and higher cards of its suit."""
    none = none_of(seats)
    return tuple(
        tuple(
            1.0 - (none[low] - none[low + high]) - RISE * (1.0 - none[low]) * (1.0 - none[high])
            for high in range(_SUIT_MOST + 1)
        )
        for low in range(_SUIT_MOST + 1)
    )


@lru_cache(maxsize=128)
def wins(seats: int, followers: int) -> tuple[tuple[float, ...], ...]:
    """The chance that a card wins over ``followers`` later seats, by unseen lower and higher cards of its suit."""
    return tuple(tuple(power(stay, followers) for stay in row) for row in stays(seats))


def power(base: float, exponent: int) -> float:
    """A whole power by multiplication alone, so that every machine gets the same number."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


def add_floats(values: Iterable[float]) -> float:
    """Their sum, added from left to right: `sum` rounds in another way from Python 3.12 on."""
    return reduce(add, values, 0.0)


class Facts:
    """What follows from a rule set alone."""

    __slots__ = (
        "bonus",
        "deck",
        "every",
        "killers",
        "kitty",
        "levels",
        "moon",
        "penalty",
        "penalty_points",
        "plain",
        "rings",
        "scale",
        "terms",
        "values",
    )

    def __init__(self, rules: RuleSet) -> None:
        self.terms = terms = terms_of(rules)
        self.values = values = terms.values
        self.deck: Mask = mask_of(terms.deck)
        cards = range(DECK_SIZE)
        self.penalty: Mask = both_copies(sum(BITS[card] for card in cards if values[card] > 0))
        """Both copies of the cards of positive points."""
        self.bonus: Mask = both_copies(sum(BITS[card] for card in cards if values[card] < 0))
        self.levels: tuple[tuple[int, Mask], ...] = tuple(
            (value, both_copies(sum(BITS[card] for card in cards if values[card] == value)))
            for value in sorted({value for value in values if value > 0}, reverse=True)
        )
        """Positive points and the cards that have them, dearest first."""
        self.penalty_points = sum(max(0, values[card]) for card in terms.deck)
        self.scale = self.penalty_points / (26.0 * rules.decks) or 1.0
        """Points of a usual penalty card: 1 where hearts count 1 and the queen of spades 13."""
        self.killers: Mask = sum(
            BITS[card] for card in cards if self.deck & BITS[card] and values[card] >= KILLER * self.scale
        )
        """First copies of the cards that are worth fearing by themselves."""
        self.plain = tuple(self._plain_price(suit) for suit in SUIT_MASKS)
        """Points of an average card that is no killer, in usual penalty cards, by suit."""
        self.kitty = terms.kitty
        self.moon = rules.moon_effect != "none" and terms.penalty_cards > 0
        seats = terms.players
        self.every = (1 << seats) - 1
        """The bits of all seats."""
        self.rings: tuple[tuple[int, ...], ...] = tuple(
            tuple(1 << (first + step) % seats for step in range(seats)) for first in range(seats)
        )
        """The bits of the seats in the order of play, by who leads."""

    def _plain_price(self, suit: Mask) -> float:
        cards = distinct_cards(self.deck & suit & ~self.killers)
        total = sum(max(0, self.values[card]) for card in cards)
        return total / (len(cards) * self.scale) if cards else 0.0


@lru_cache(maxsize=64)
def _facts_by_value(encoded: bytes) -> Facts:
    return Facts(msgspec.json.decode(encoded, type=RuleSet))


_FACTS: Final[dict[int, tuple[RuleSet, Facts]]] = {}
_FACTS_KEPT: Final = 256


def facts_of(rules: RuleSet) -> Facts:
    """The `Facts` of a rule set; worked out once, found by identity while it is the same object."""
    entry = _FACTS.get(id(rules))
    if entry is not None and entry[0] is rules:
        return entry[1]
    facts = _facts_by_value(msgspec.json.encode(rules))
    if len(_FACTS) >= _FACTS_KEPT:
        _FACTS.clear()
    _FACTS[id(rules)] = (rules, facts)
    return facts


class Knowledge:
    """What one seat knows when it must act. Seats are bits in the fields that name several."""

    __slots__ = (
        "facts",
        "hand",
        "later",
        "left",
        "me",
        "others",
        "out",
        "pile",
        "points",
        "seen",
        "taken",
        "voids",
    )

    def __init__(self, seen: View) -> None:
        own, me = seen.own, seen.seat
        assert own is not None
        assert me is not None
        self.seen = seen
        self.facts = facts = facts_of(seen.rules)
        self.me: Seat = me
        self.hand: Mask = own.hand
        seats = facts.terms.players
        self.points = [0] * seats
        """Positive points taken, by seat."""
        self.taken = [0] * seats
        """Cards of positive points taken, by seat; an unseen kitty is left out."""
        self.voids = [0, 0, 0, 0]
        """The seats known to hold none, by suit."""
        self.pile: list[Card] = []
        """Cards of dead tricks, which go with the next trick that is won."""
        self.left = facts.terms.hand - len(seen.history)
        """Tricks still to be finished."""
        ring = facts.rings[me]
        self.others = sum(ring[1:])
        self.later = sum(ring[1 : seats - len(seen.trick)])
        """The seats that play to this trick after me."""
        self.out: Mask = mask_without(facts.deck, add_masks(self._scan(seen), own.hand))
        """Cards that others hold, or the kitty."""

    def _scan(self, seen: View) -> Mask:
        """Read the tricks: the multiset of cards played."""
        facts, voids = self.facts, self.voids
        penalty, values, seats = facts.penalty, facts.values, facts.terms.players
        first = second = 0
        tricks = (*seen.history, (seen.leader, seen.trick, -1)) if seen.trick else seen.history
        for leader, cards, taker in tricks:
            once, twice, suit, strangers = _read_trick(cards)
            second |= first & once | twice
            first |= once
            if strangers:
                strangers <<= leader
                voids[suit] |= (strangers | strangers >> seats) & facts.every
            if taker is None:
                self.pile += cards
            elif taker >= 0 and (once & penalty or self.pile):
                taken = [values[card] for card in (*self.pile, *cards) if values[card] > 0]
                self.points[taker] += sum(taken)
                self.taken[taker] += len(taken)
                self.pile = []
        return first | second << SECOND


@lru_cache(maxsize=1 << 14)
def _read_trick(cards: tuple[Card, ...]) -> tuple[Mask, Mask, Suit, int]:
    """Its cards, those played twice, the suit led, and who did not follow, the leader being bit 0."""
    once = twice = strangers = 0
    suit = SUIT_OF[cards[0]]
    for place, card in enumerate(cards):
        twice |= once & BITS[card]
        once |= BITS[card]
        if SUIT_OF[card] != suit:
            strangers |= 1 << place
    return once, twice, suit, strangers


def expected_worst(levels: tuple[tuple[int, Mask], ...], cards: Mask, none: tuple[float, ...]) -> float:
    """Points of the dearest of the unseen ``cards`` that one hand holds, on average."""
    total, without = 0.0, 1.0
    for value, level in levels:
        count = (cards & level).bit_count()
        if count:
            chance = none[count]
            total += without * (1.0 - chance) * value
            without *= chance
    return total


@lru_cache(maxsize=128)
def runs_out(seats: int) -> tuple[tuple[float, ...], ...]:
    """The chance that the holder of a card has at most so many of its suit, by that number and the unseen ones."""
    share = 1.0 / seats
    table = []
    row = [1.0] + [0.0] * _SUIT_MOST
    for _ in range(_SUIT_MOST + 1):
        sums, total = [0.0], 0.0
        for chance in row:
            total += chance
            sums.append(total)
        table.append(sums)
        row = [row[0] * (1 - share)] + [row[i] * (1 - share) + row[i - 1] * share for i in range(1, len(row))]
    return tuple(
        tuple(table[max(0, unseen - 1)][most] for unseen in range(_SUIT_MOST + 1))
        for most in range(_SUIT_MOST + 2)
    )
