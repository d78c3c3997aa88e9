"""The searching bot: what it might do is tried in sampled worlds, each played out by rules of thumb.

A world is a deal of the unseen cards that agrees with all its seat has seen. Every card or pass is tried in the same
worlds, with the same chance, and the worse half is dropped again and again (sequential halving; Karnin, Koren and Somekh
2013). Each may be tried twice, the second time with its seat shooting the moon from there on. What counts is the game:
the chance to win it by the totals that a hand leads to, and the points. The budget is counted in playouts; no clock is
looked at, and whole numbers alone decide, so that the same view, seed and budget give the same card on every machine.

With the compiled kernel it is some hundred times as fast; ``domain/kernel/search.h`` is the twin of what follows, sum for
sum, and `tests/domain/test_kernel_search.py` holds the two together.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import combinations
from math import comb, isqrt
from typing import Final, NamedTuple

from domain import kernel
from domain.bots.playout import Thumb, choose_pass, lay, pass_want, play_out, thumb_of
from domain.bots.rules import choose_moon
from domain.bots.worlds import Chance, Unseen
from domain.cards import (
    BITS,
    FIRST_COPIES,
    SECOND,
    SUIT_CARDS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    cards_of,
    distinct_cards,
    mask_of,
)
from domain.events import Choice
from domain.rules import add_points, find_opener, game_end, hand_points, moon_chooser
from domain.ruleset import terms_of
from domain.state import HandState
from domain.view import View

BUDGET: Final = 2000 if kernel.AVAILABLE else 40
"""Playouts a decision of a bot that nobody gives another budget: a good 1 ms at a table of four, 15 without the kernel."""
WIN: Final = 1 << 16
"""What a won game is worth."""
POINT: Final = 400
"""What a point more than the others' mean costs, in a game of 26 points a hand."""
_PASSES, _LOW_PASSES = 60, 20
"""Passes that are tried at most: of the cards that want to be passed, and of low ones, to shoot with the rest."""
_HELD, _WAITS = -1, -2
"""The kitty has not been taken yet; it waits, with a dead trick, for whoever wins the next one."""


class Arm(NamedTuple):
    """One thing to try: a card, or a pass where ``card`` is -1; and whether its seat shoots the moon from there on."""

    card: Card
    given: Mask
    shoots: bool

    @property
    def action(self) -> tuple[Card, ...] | Card:
        """As a policy answers it."""
        return tuple(cards_of(self.given)) if self.card < 0 else self.card

    @property
    def packed(self) -> kernel.Arm:
        """As the kernel takes it."""
        return self.card, *_two(self.given), self.shoots


class Tried(NamedTuple):
    """What came of an arm: the sum of what its playouts were worth, and how many there were."""

    arm: Arm
    total: int
    worlds: int


class Position:
    """What a seat knows when it must pass or play, ready to be searched."""

    __slots__ = ("hand", "kitty_at", "legal", "me", "number", "passing", "terms", "thumb", "totals", "unseen")

    def __init__(self, seen: View) -> None:
        own, me = seen.own, seen.seat
        assert own is not None
        assert me is not None
        self.me: Seat = me
        self.legal = own.legal
        self.terms = terms_of(seen.rules)
        self.thumb: Thumb = thumb_of(self.terms)
        self.totals = list(seen.totals)
        self.number = seen.hand_number
        self.passing = seen.phase == "pass"
        self.unseen = Unseen(seen, self.terms)
        self.hand = self._known_hand(seen, own.hand)
        """The hand as far as it is known; others hold nothing in it, and an unseen kitty is not counted."""
        self.kitty_at = self._find_kitty()
        """The seat that has taken the kitty, or one of the two above."""

    def _known_hand(self, seen: View, held: Mask) -> HandState:
        terms = self.terms
        empty = [0] * terms.players
        hand = HandState(self.number, terms.pass_offset(self.number), seen.opener, empty, 0)
        hand.held[self.me] = held
        for leader, cards, taker in seen.history:
            hand.leader, hand.trick = leader, list(cards)
            hand.take(taker, terms, [])
        hand.trick, hand.broken = list(seen.trick), seen.hearts_broken
        hand.leader = seen.leader
        hand.turn = self.me
        return hand

    def _find_kitty(self) -> int:
        if not self.terms.kitty or not self.hand.history or self.terms.rules.kitty_to != "first":
            return _HELD
        return next((taker for _, _, taker in self.hand.history if taker is not None), _WAITS)

    # --- what might be done

    def arms(self) -> list[Arm]:
        """What to try: passes or cards."""
        return self._passes() if self.passing else self._plays()

    def _plays(self) -> list[Arm]:
        """The cards to try, of equal neighbours one; each once more to shoot the moon where nobody has spoilt it."""
        terms, unseen = self.terms, self.unseen
        others = mask_of(self.hand.trick) | sum({BITS[card] for card in unseen.cards})
        for mask in unseen.known:
            others |= mask & FIRST_COPIES
        cards: list[Card] = []
        for card in distinct_cards(self.legal):
            last = cards[-1] if cards else -1
            if (
                last >= 0
                and SUIT_OF[last] == SUIT_OF[card]
                and terms.values[last] == terms.values[card]
                and not terms.rules.cancel
                and not others & (BITS[card] - 1) & ~(2 * BITS[last] - 1)
            ):
                cards[-1] = card
            else:
                cards.append(card)
        plain = [Arm(card, 0, False) for card in cards]
        spoilt = any(count for seat, count in enumerate(self.hand.penalties_taken) if seat != self.me)
        if len(plain) < 2 or spoilt or not self._has_moon():
            return plain
        return plain + [arm._replace(shoots=True) for arm in plain]

    def _passes(self) -> list[Arm]:
        """The passes to try: of the cards that want it most, and of the lowest, to shoot the moon with the rest."""
        held, count = self.hand.held[self.me], self.terms.rules.pass_count
        faces = held & FIRST_COPIES

        def want(card: Card) -> tuple[int, int]:
            return -pass_want(self.thumb, faces, card), card

        def stay(card: Card) -> tuple[int, int]:
            return 4 * (card % 13) + 5 * (faces & SUIT_CARDS[SUIT_OF[card]]).bit_count(), card

        cards = cards_of(held)
        arms = [Arm(-1, given, False) for given in _choices(sorted(cards, key=want), count, _PASSES)]
        if self._has_moon():
            arms += [Arm(-1, given, True) for given in _choices(sorted(cards, key=stay), count, _LOW_PASSES)]
        return arms

    def _has_moon(self) -> bool:
        return self.terms.penalty_cards > 0 and self.terms.rules.moon_effect != "none"

    # --- what comes of it

    def try_all(self, arms: Sequence[Arm], budget: int, seed: int) -> list[Tried]:
        """What comes of each arm with about ``budget`` playouts in all, the best first."""
        found = self.try_compiled(arms, budget, seed)
        return self.try_plainly(arms, budget, seed) if found is None else found

    def try_compiled(self, arms: Sequence[Arm], budget: int, seed: int) -> list[Tried] | None:
        """The same by the kernel; none where it was not compiled or does not play by these rules."""
        found = kernel.search(self.pack(), self.terms.rules, [arm.packed for arm in arms], budget, seed)
        if found is None:
            return None
        return [Tried(arms[place], total, worlds) for place, total, worlds in found]

    def try_plainly(self, arms: Sequence[Arm], budget: int, seed: int) -> list[Tried]:
        """The same without the kernel."""
        chance, order = Chance(seed), list(range(len(arms)))
        totals, worlds = [0] * len(arms), [0] * len(arms)
        rounds = (len(arms) - 1).bit_length()
        left = len(arms)
        while left > 1:
            for _ in range(max(1, budget // rounds // left)):
                held = self.unseen.deal(chance)
                if held is None:
                    continue
                playouts = chance.word()
                for place, worth in zip(
                    order[:left], self._try_world(arms, order[:left], held, playouts), strict=True
                ):
                    totals[place] += worth
                    worlds[place] += 1
            order[:left] = sorted(order[:left], key=lambda place: (-totals[place], place))
            left = (left + 1) // 2
        return [Tried(arms[place], totals[place], worlds[place]) for place in order]

    def _try_world(
        self, arms: Sequence[Arm], places: Sequence[int], held: list[Mask], playouts: int
    ) -> list[int]:
        """What each arm is worth in one world."""
        begin, terms, found = self.enter(held), self.terms, list[int]()
        if self.passing:
            count = terms.rules.pass_count
            begin.passes = [
                None if seat == self.me else mask_of(choose_pass(self.thumb, mask, count))
                for seat, mask in enumerate(begin.held)
            ]
        for place in places:
            arm, hand = arms[place], begin.copy()
            if self.passing:
                hand.passes[self.me] = arm.given
                hand.exchange()
                hand.lead_with(*find_opener(terms, hand))
            else:
                lay(terms, hand, arm.card)
            play_out(self.thumb, hand, Chance(playouts), arm.shoots << self.me)
            found.append(self.score(hand))
        return found

    def enter(self, held: list[Mask]) -> HandState:
        """The hand in a world."""
        hand, seats = self.hand.copy(), self.terms.players
        for seat in range(seats):
            if seat != self.me:
                hand.held[seat] = held[seat]
        if len(held) == seats:
            return hand
        if self.kitty_at == _HELD:
            hand.kitty = held[seats]
        elif self.kitty_at == _WAITS:
            hand.pile += cards_of(held[seats])
        else:
            for card in cards_of(held[seats]):
                value = self.terms.values[card]
                hand.penalty[self.kitty_at] += max(value, 0)
                hand.penalties_taken[self.kitty_at] += value > 0
                hand.bonus[self.kitty_at] += min(value, 0)
                hand.bonus_taken[self.kitty_at] += value < 0
        return hand

    def score(self, hand: HandState) -> int:
        """What a played-out hand is worth; a shooter that must choose is held to choose what is better for it."""
        chooser = moon_chooser(self.terms, hand, self.totals)
        choice: Choice | None = None
        if chooser is not None:
            add, subtract = (hand_points(self.terms, hand, self.totals, one) for one in ("add", "subtract"))
            choice = "subtract" if self.worth(subtract, chooser) > self.worth(add, chooser) else "add"
        return self.worth(hand_points(self.terms, hand, self.totals, choice), self.me)

    def worth(self, points: Sequence[int], seat: Seat) -> int:
        """What points of this hand are worth to ``seat``: the game that is won or hoped for, and the points."""
        terms, seats = self.terms, self.terms.players
        after = add_points(terms, self.totals, points)
        end = game_end(terms, after, points, self.number)
        if end is None:
            worth = self._hopes(after, seat)
        else:
            worth = WIN // len(end.winners) if seat in end.winners else 0
        lead = POINT * 26 * (sum(points) - seats * points[seat])
        by = (seats - 1) * self.thumb.unit
        return worth + (lead // by if lead >= 0 else -(-lead // by))

    def _hopes(self, after: Sequence[int], seat: Seat) -> int:
        """The share of a won game that the total of ``seat`` is worth when the game goes on."""
        low = min(after)
        left = max(1, self.terms.rules.target - max(after))
        spread = 1 + isqrt(left * self.thumb.unit * 361 // 2600)
        shares = []
        for total in after:
            behind = min(1000, 64 + 16 * (total - low) // spread)
            shares.append((1 << 50) // behind**4)
        return WIN * shares[seat] // sum(shares)

    # --- for the kernel

    def pack(self) -> bytes:
        """The position as ``domain/kernel/asked.c`` reads it."""
        hand, terms, unseen = self.hand, self.terms, self.unseen
        values = terms.values
        pile = hand.pile + hand.trick
        taken = hand.tricks_taken()
        opened = hand.history[0][2] if hand.history else None
        first = -1 if opened is None else opened
        numbers = [self.me, self.number, self.passing, self.kitty_at, self.thumb.unit]
        numbers += [hand.leader, len(hand.history), hand.broken, first, hand.offset]
        numbers += [
            sum(max(0, values[card]) for card in pile),
            sum(min(0, values[card]) for card in pile),
            sum(values[card] > 0 for card in pile),
            sum(values[card] < 0 for card in pile),
        ]
        numbers += [len(hand.trick), *hand.trick, len(unseen.need), len(unseen.cards)]
        for seat in range(terms.players):
            numbers += [
                hand.penalty[seat],
                hand.bonus[seat],
                hand.penalties_taken[seat],
                hand.bonus_taken[seat],
            ]
            numbers += [taken[seat], self.totals[seat]]
        numbers += _two(hand.held[self.me])
        for need, known in zip(unseen.need, unseen.known, strict=True):
            numbers += [need, *_two(known)]
        for card, who in zip(unseen.cards, unseen.who, strict=True):
            numbers += [card, who]
        return struct.pack(f"={len(numbers)}q", *numbers)


def _two(mask: Mask) -> tuple[int, int]:
    return mask & FIRST_COPIES, mask >> SECOND


def _choices(cards: Sequence[Card], count: int, most: int) -> list[Mask]:
    """Passes of the first of ``cards``, of so many that there are not more than ``most``; each once."""
    among = count
    while among < len(cards) and comb(among + 1, count) <= most:
        among += 1
    return list(dict.fromkeys(mask_of(given) for given in combinations(cards[:among], count)))


def search_policy(seen: View, seed: bytes, playouts: int) -> tuple[Card, ...] | Card | Choice:
    """Pass, play or choose, with so many playouts a decision."""
    if seen.phase == "moon":
        return choose_moon(seen)
    position = Position(seen)
    arms = position.arms()
    best = (
        arms[0]
        if len(arms) == 1
        else position.try_all(arms, playouts, int.from_bytes(seed[:8], "big"))[0].arm
    )
    return best.action
