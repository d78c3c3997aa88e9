"""Worlds: deals of the cards that a seat does not see which agree with all that it knows, and the chance of a search.

The plain twin of ``domain/kernel/world.h``, draw for draw; `tests/domain/test_search_twins.py` holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from domain.bots.knowledge import LOWER
from domain.cards import (
    BITS,
    CLUBS,
    FIRST_COPIES,
    HEARTS_MASK,
    QS,
    SUIT_MASKS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    add_card,
    cards_of,
    drop_card,
    mask_of,
    mask_without,
)
from domain.ruleset import Terms
from domain.view import View

TRIES: Final = 40
"""Deals begun anew before a world is given up."""
_WORD: Final = (1 << 64) - 1
_GAMMA: Final = 0x9E3779B97F4A7C15


class Chance:
    """SplitMix64 (Steele, Lea and Flood 2014), a sequence that is the same for ever."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed

    def word(self) -> int:
        """The next 64 bits."""
        self._state = word = (self._state + _GAMMA) & _WORD
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
        return word ^ (word >> 31)


def scale(word: int, bound: int) -> int:
    """A number below ``bound`` from the upper half of a word."""
    return ((word >> 32) * bound) >> 32


class Unseen:
    """What a seat does not see: the cards, who may have each, and how many each holder has.

    Holders are the seats and, where the deal leaves cards over, the kitty behind them.
    """

    __slots__ = ("_out", "cards", "known", "may", "need", "who")

    def __init__(self, seen: View, terms: Terms) -> None:
        own, me = seen.own, seen.seat
        assert own is not None
        assert me is not None
        seats = terms.players
        self.known: list[Mask] = _known(seen, me, terms)
        """Cards that a holder is known to have; what a seat was passed and has not played."""
        self.may: list[Mask] = _may(seen, terms)
        """First copies of the cards that a holder may have, as far as the rules show."""
        played = [(seen.leader + step) % seats for step in range(len(seen.trick))]
        self.need: list[int] = [
            terms.hand - len(seen.history) - (seat in played) - self.known[seat].bit_count()
            for seat in range(seats)
        ]
        """Cards that a holder has beside those."""
        self.need[me] = 0
        if terms.kitty:
            self.known.append(0)
            self.may.append(FIRST_COPIES)
            self.need.append(terms.kitty)
        gone = [card for _, cards, _ in seen.history for card in cards] + list(seen.trick)
        self._out = mask_without(mask_without(mask_of(terms.deck), mask_of(gone)), own.hand)
        self.cards: tuple[Card, ...] = ()
        """Those that the fewest holders may have first."""
        self.who: tuple[int, ...] = ()
        """The holders that may have each of them, a bit a holder."""
        self._order()

    def _order(self) -> None:
        out = self._out
        for mask in self.known:
            out = mask_without(out, mask)
        firsts, seconds = cards_of(out & FIRST_COPIES), cards_of(out >> len(BITS))
        cards = [(self._holders(card), card) for card in firsts + seconds]
        cards.sort(key=lambda one: one[0].bit_count())
        self.cards = tuple(card for _, card in cards)
        self.who = tuple(holders for holders, _ in cards)

    def forget(self, forgets: Callable[[], bool]) -> None:
        """Lose some of what was seen: ``forgets`` is asked for each seat's voids and the like, and for what was passed."""
        for holder, known in enumerate(self.known):
            if known and forgets():
                self.known[holder] = 0
                self.need[holder] += known.bit_count()
        for holder, may in enumerate(self.may):
            if may != FIRST_COPIES and forgets():
                self.may[holder] = FIRST_COPIES
        self._order()

    def _holders(self, card: Card) -> int:
        bit = BITS[card]
        return sum(
            1 << holder
            for holder, (need, may) in enumerate(zip(self.need, self.may, strict=True))
            if need > 0 and may & bit
        )

    def deal(self, chance: Chance) -> list[Mask] | None:
        """A world: what each holder has; none where no way was found."""
        for _ in range(TRIES):
            owner = self._try(chance)
            if owner is not None:
                held = self.known[:]
                for card, holder in zip(self.cards, owner, strict=True):
                    held[holder] = add_card(held[holder], card)
                return held
        return None

    def _try(self, chance: Chance) -> list[int] | None:
        """The holder of each card, with chances as the room that those who may have it have left."""
        need, owner = self.need[:], list[int]()
        for who in self.who:
            holders = [holder for holder in range(len(need)) if who >> holder & 1]
            room = sum([need[holder] for holder in holders])
            if not room:
                holder = self._mend(who, need, owner)
                if holder < 0:
                    return None
                owner.append(holder)
                continue
            place = scale(chance.word(), room)
            for holder in holders:
                if place < need[holder]:
                    break
                place -= need[holder]
            need[holder] -= 1
            owner.append(holder)
        return owner

    def _mend(self, who: int, need: list[int], owner: list[int]) -> int:
        """A holder for a card that nobody with room may have: one that may hands an earlier card on; -1 where none can."""
        for earlier, holder in enumerate(owner):
            if not who >> holder & 1:
                continue
            for other in range(len(need)):
                if self.who[earlier] >> other & 1 and need[other] > 0:
                    need[other] -= 1
                    owner[earlier] = other
                    return holder
        return -1


def _known(seen: View, me: Seat, terms: Terms) -> list[Mask]:
    """What each seat is known to hold: the cards that ``me`` passed to it, less those that it has played."""
    seats = terms.players
    known = [0] * seats
    assert seen.own is not None
    if seen.phase == "pass" or not seen.own.given:
        return known
    to = (me + terms.pass_offset(seen.hand_number)) % seats
    left = seen.own.given
    for leader, cards, _ in (*seen.history, (seen.leader, seen.trick, None)):
        place = (to - leader) % seats
        if place < len(cards) and left & BITS[cards[place]]:
            left = drop_card(left, cards[place])
    known[to] = left
    return known


def _may(seen: View, terms: Terms) -> list[Mask]:
    """First copies of the cards that each seat may still hold, by what it has played: the rules let it play no other."""
    may = [FIRST_COPIES] * terms.players
    broken = False
    for number, (leader, cards, _) in enumerate((*seen.history, (seen.leader, seen.trick, None))):
        for place, card in enumerate(cards):
            seat, bit = (leader + place) % terms.players, BITS[card]
            if place:
                may[seat] &= _after_following(terms, cards[0], card, first=number == 0)
            elif not number:
                _note_opening(may, seen.opener, leader, terms, card)
            elif not broken and terms.breakers and bit & HEARTS_MASK:
                may[seat] &= HEARTS_MASK | (BITS[QS] if terms.hearts_beside_qs else 0)
            broken = broken or bool(terms.breakers & bit)
    return may


def _after_following(terms: Terms, led: Card, card: Card, *, first: bool) -> Mask:
    """What a seat may have left that played ``card`` to a trick in the suit of ``led``, the first one or a later one."""
    if SUIT_OF[led] == SUIT_OF[card]:
        return FIRST_COPIES
    may = FIRST_COPIES & ~SUIT_MASKS[SUIT_OF[led]]
    if first and terms.trick1_ban & BITS[card]:
        may &= terms.trick1_ban
        if terms.must_qs and card != QS:
            may &= ~BITS[QS]
    return may


def _note_opening(may: list[Mask], dealers_left: Seat, leader: Seat, terms: Terms, card: Card) -> None:
    """What the opening lead shows of all seats: who had the lowest club, or that its leader had only banned cards."""
    if terms.rules.opener != "forced":
        if terms.opening_ban & BITS[card]:
            may[leader] &= terms.opening_ban
    elif SUIT_OF[card] == CLUBS:
        seats = terms.players
        for seat in range(seats):
            may[seat] &= ~LOWER[card]
        for step in range((leader - dealers_left) % seats):
            may[(dealers_left + step) % seats] &= ~BITS[card]
