"""Claims: whether a seat certainly takes every trick that is left, judged on its `View` alone.

A claim is certain where some order of the claimant's cards, its proving order, takes each remaining trick however the
cards it does not see are spread and however their holders play them by the rules.

The criterion. While the claimant takes every trick it also leads every one, and whoever holds a card of the suit led
must follow. A lead therefore loses only to a seat that still holds a card of the suit at least as high (the twin of a
card of two decks beats it or cancels it), and such a seat must have begun with another card of the suit for each time
it had to follow before. So a card is certain where no seat can have both, and the suits can be judged one by one, the
highest card first. What a seat can have follows from the view: the cards played; the cards passed to it; the suits that
it did not follow; the leads and discards that only a hand of nothing else allowed; what must be in the kitty because
the opening showed that nobody held it; and how many cards each seat and the kitty have room for.

What it does not see, so that a claim may be refused though it is true: that two higher twins must fall on one trick and
cancel each other, or that a dead last trick goes to its leader (both are seen where a single card is left and no card
is in a kitty); that the first trick's ban forces somebody to part with a card; and, where two pairs kill a trick, that
they cannot fall together. It never sees more than there is: every step only leaves out ways in which others could win.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from domain.cards import (
    BITS,
    CLUBS,
    FIRST_COPIES,
    HEARTS_MASK,
    QS,
    SECOND,
    SUIT_CARDS,
    SUIT_MASKS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    both_copies,
    cards_of,
    mask_of,
    mask_without,
)
from domain.rules import trick_winner
from domain.ruleset import Terms, terms_of
from domain.state import HandState
from domain.view import View

SUIT_SETS: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(suit for suit in range(4) if suits >> suit & 1) for suits in range(1, 16)
)
"""Every set of suits but the empty one."""
AT_LEAST: Final[tuple[Mask, ...]] = tuple(
    SUIT_MASKS[SUIT_OF[card]] & ~(BITS[card] - 1) for card in range(len(SUIT_OF))
)
"""The first copies of a card and the higher ones of its suit, by card."""


def proving_order(seen: View) -> tuple[Card, ...] | None:
    """The cards of the reader, who is to play, in an order that certainly takes every trick that is left.

    None where that is not shown, or it is not the reader's turn to play. Depends on the view alone, its time too.
    """
    if seen.own is None or seen.seat is None or not seen.own.legal:
        return None
    unseen = Unseen(seen, seen.seat)
    # hearts last, so that each lead is legal whether or not hearts are broken by then: nothing else is held
    cards = sorted(cards_of(seen.own.hand), key=lambda card: (bool(BITS[card] & HEARTS_MASK), -card))
    for first in dict.fromkeys(cards):
        if seen.own.legal & BITS[first]:
            rest = cards.copy()
            rest.remove(first)
            if unseen.cannot_beat((first, *rest)):
                return (first, *rest)
    return None


class Unseen:
    """The cards that a seat does not see, and what it knows of where they are. Lists are by seat, the kitty last."""

    def __init__(self, seen: View, me: Seat) -> None:
        assert seen.own is not None
        self.terms = terms = terms_of(seen.rules)
        seats = terms.players
        self.table = seen.trick
        played = [card for _, cards, _ in seen.history for card in cards]
        self.cards: Mask = mask_without(
            mask_of(terms.deck), mask_of([*played, *seen.trick, *cards_of(seen.own.hand)])
        )
        """All of them, a multiset."""
        self.others: list[Seat] = [(me + step) % seats for step in range(1, seats)]
        self.later: list[Seat] = self.others[: seats - 1 - len(seen.trick)]
        """The seats that play to this trick after me."""
        allowed = [*possible_cards(terms, seen), FIRST_COPIES]
        self.held: list[Mask] = [0] * (seats + 1)
        """Cards known to be held: those passed to a seat and not played by it."""
        offset = terms.pass_offset(seen.hand_number)
        if offset:
            receiver = (me + offset) % seats
            self.held[receiver] = mask_without(seen.own.given, mask_of(_played_by(seen, receiver)))
        loose = self.cards
        for mask in self.held:
            loose = mask_without(loose, mask)
        self.loose: list[Mask] = [loose & both_copies(mask) for mask in allowed]
        """Cards that a seat may hold beside those, each in as many copies as there are: a multiset."""
        room = [one.cards - self.held[one.seat].bit_count() for one in seen.seats] + [terms.kitty]
        room[me] = 0
        spare = [self._spare_room(suits, room, loose) for suits in SUIT_SETS]
        self.most: list[list[int]] = [
            [self._held_most(seat, suit, room[seat], spare) for suit in range(4)] for seat in range(seats)
        ]
        """The most cards of each suit that a seat can hold, whatever the others hold."""

    def _spare_room(self, suits: Sequence[int], room: Sequence[int], loose: Mask) -> int:
        """How many cards beside all those of some suits there is room for with those who may hold these suits."""
        may_hold = [at for at, mask in enumerate(self.loose) if _of_suits(mask, suits)]
        return sum(room[at] for at in may_hold) - _of_suits(loose, suits)

    def _held_most(self, seat: Seat, suit: int, room: int, spare: Sequence[int]) -> int:
        most = min(room, _of_suits(self.loose[seat], (suit,)))
        for suits, left in zip(SUIT_SETS, spare, strict=True):
            # all cards of other suits must find room, with this seat too where it may hold them
            if left < most and suit not in suits and _of_suits(self.loose[seat], suits):
                most = left
        return most + _of_suits(self.held[seat], (suit,))

    def cannot_beat(self, order: Sequence[Card]) -> bool:
        """Whether nobody can take a trick from who plays ``order``, the first card now and the others as leads."""
        if len(order) == 1 and self.cards.bit_count() == len(self.later):
            return self._takes((*self.table, order[0], *cards_of(self.cards)))
        if self._may_pair_off() or not self._takes((*self.table, order[0])):
            return False
        followed = [[0] * 4 for _ in self.most]
        seats = self.later
        for card in order:
            for seat in seats:
                if self._may_beat(seat, card, followed[seat][SUIT_OF[card]]):
                    return False
                followed[seat][SUIT_OF[card]] += 1
            seats = self.others
        return True

    def _takes(self, trick: Sequence[Card]) -> bool:
        """Whether the claimant's card, which follows those on the table, is the best of ``trick``."""
        winner = trick_winner(self.terms, 0, trick)
        if winner is None:
            # only asked of a whole trick where it is the last
            return (
                not self.table and len(trick) == self.terms.players and self.terms.rules.dead_last == "leader"
            )
        return winner == len(self.table)

    def _may_beat(self, seat: Seat, card: Card, followed: int) -> bool:
        """Whether ``seat`` can hold a card that beats ``card`` after it had to follow the suit so many times."""
        most = self.most[seat][SUIT_OF[card]]
        if self.held[seat] & AT_LEAST[card]:
            return most > followed
        known = _of_suits(self.held[seat], (SUIT_OF[card],))
        return bool(self.loose[seat] & AT_LEAST[card]) and most > max(known, followed)

    def _may_pair_off(self) -> bool:
        """Whether two pairs, which by some rules kill a trick, may fall in one."""
        rules = self.terms.rules
        if not rules.cancel or rules.dead_trick != "two_pairs":
            return False
        once = set(self.table)
        waiting = [card for card in once if self.cards & BITS[card]]
        return len(self.table) - len(once) + len(waiting) + (self.cards >> SECOND).bit_count() > 1


def could_be_beaten(terms: Terms, hand: HandState, order: Sequence[Card]) -> Seat | None:
    """Who, all hands being known, could have taken a trick from the seat to play, which plays ``order``; none: nobody.

    For the judge of a claim after the hand: a claim that somebody could have beaten was not certain. Says nothing of
    claims on the first trick, where a ban may force a discard, and of those by rules under which twins cancel.
    """
    if not hand.history or terms.rules.cancel:
        return None
    others = [(hand.turn + step) % terms.players for step in range(1, terms.players)]
    seats = others[: terms.players - 1 - len(hand.trick)]
    followed = [[0] * 4 for _ in hand.held]
    for card in order:
        suit = SUIT_OF[card]
        for seat in seats:
            held = hand.held[seat]
            if held & AT_LEAST[card] and _of_suits(held, (suit,)) > followed[seat][suit]:
                return seat
            followed[seat][suit] += 1
        seats = others
    return None


def _of_suits(mask: Mask, suits: Sequence[int]) -> int:
    """How many cards of some suits a multiset has."""
    return (mask & sum(SUIT_CARDS[suit] for suit in suits)).bit_count()


def _tricks(seen: View) -> Iterator[tuple[Seat, tuple[Card, ...]]]:
    """The tricks of the hand, that on the table last: who led, and the cards in the order played."""
    yield from ((leader, cards) for leader, cards, _ in seen.history)
    yield seen.leader, seen.trick


def _played_by(seen: View, seat: Seat) -> list[Card]:
    seats = seen.rules.players
    return [
        card
        for leader, cards in _tricks(seen)
        for place, card in enumerate(cards)
        if (leader + place) % seats == seat
    ]


# --- what plays show


def possible_cards(terms: Terms, seen: View) -> list[Mask]:
    """The first copies of the cards that each seat can still hold, by the plays of the hand having been legal.

    Of every play it is asked which cards besides would have forbidden it: those are not in the hand it came from.
    """
    possible = [FIRST_COPIES] * terms.players
    broken = False
    for number, (leader, cards) in enumerate(_tricks(seen)):
        for place, card in enumerate(cards):
            seat = (leader + place) % terms.players
            if place:
                possible[seat] &= _by_following(terms, cards[0], card, first_trick=number == 0)
            elif number:
                possible[seat] &= _by_leading(terms, card, broken)
            else:
                _read_opening(terms, seen.opener, leader, card, possible)
            broken = broken or bool(terms.breakers & BITS[card])
    return possible


def _by_following(terms: Terms, led: Card, card: Card, *, first_trick: bool) -> Mask:
    suit = SUIT_MASKS[SUIT_OF[led]]
    if suit & BITS[card]:
        return FIRST_COPIES
    if not first_trick or not terms.trick1_ban & BITS[card]:
        return ~suit
    return terms.trick1_ban & ~suit & (~BITS[QS] if terms.must_qs and card != QS else ~0)


def _by_leading(terms: Terms, card: Card, broken: bool) -> Mask:
    if broken or not terms.breakers or not HEARTS_MASK & BITS[card]:
        return FIRST_COPIES
    return HEARTS_MASK | (BITS[QS] if terms.hearts_beside_qs else 0)


def _read_opening(terms: Terms, first: Seat, leader: Seat, card: Card, possible: list[Mask]) -> None:
    """What the opening lead shows of every hand; ``first`` is the dealer's left."""
    if terms.rules.opener == "forced":
        # every club is lower than a card of another suit, which only opens where nobody holds a club
        nobodys = SUIT_MASKS[CLUBS] & (BITS[card] - 1)
        possible[:] = [mask & ~nobodys for mask in possible]
        for step in range((leader - first) % terms.players):
            possible[(first + step) % terms.players] &= ~BITS[card]
        if SUIT_OF[card] == CLUBS:
            return
    if terms.opening_ban & BITS[card]:
        possible[leader] &= terms.opening_ban
