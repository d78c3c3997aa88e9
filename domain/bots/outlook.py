"""What a hand is likely to cost: the rule-based bot's estimate, suit by suit.

Each card is held to win some later trick with a chance that falls with the lower cards still out, and then to cost what
others may throw or follow with. The weights were found by comparing duplicate deals.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from domain.bots.knowledge import (
    HIGHER,
    LOWER,
    Knowledge,
    add_floats,
    expected_worst,
    none_of,
    wins,
)
from domain.cards import FIRST_COPIES, SUIT_CARDS, SUIT_OF, Card, Mask, cards_of, distinct_cards, drop_card

SLOPE: Final = 0.5
"""How much sooner than the last round of a suit a card must be played, for each card above the first."""
BASE: Final = 0.1
LEAD: Final = 0.2
"""The cost of having to lead, in average tricks."""
SHED: Final = 0.6
"""How much of its risk a card loses where it can be thrown away."""
KILLER: Final = 0.7
"""How often a dear lower card falls under a higher one of its suit."""
CATCH: Final = 0.8
"""How much of a bonus card's points its holder may count on."""
TOP: Final = 0.25
"""The same for a card that may catch it."""
STUCK: Final = 0.5
"""How much of its cost a card bears that nobody else can follow."""
DEFEND: Final = 0.35
"""How much of a moon that may be under way is feared."""
DEFEND_TEAM: Final = 1.5
"""The same where partners shoot it together, which happens by itself when their opponents take nothing."""
GUARD: Final = 1.0
"""How much a card that can stop it is worth."""


class Suit(NamedTuple):
    """The outlook of one suit of a hand."""

    risks: list[float]
    """Points that each card is likely to cost."""
    spare: float
    """Rounds of the suit in which something else can be thrown away."""
    entry: float
    """The chance to win a trick in it some time."""
    stuck: float
    """Points that its cards cost once they must be led, for nobody can follow."""


class Sum(NamedTuple):
    """The outlook of a hand."""

    cost: float
    stuck: float
    entry: float


class Outlook:
    """The prospects of the seat to act, from what it knows."""

    __slots__ = (
        "_suits",
        "discard",
        "extra",
        "holders",
        "knowledge",
        "lead",
        "levels",
        "players",
        "rest",
        "shooters",
        "threat",
        "unit",
    )

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        facts = knowledge.facts
        self.players = facts.terms.players
        held, out = knowledge.hand.bit_count(), knowledge.out
        self.extra = max(0, (out.bit_count() + held // 2) // held - (self.players - 1)) if held else 0
        """Hands that the kitty and uneven numbers of cards stand for."""
        self.levels = facts.levels
        none = none_of(self.players - 1 + self.extra)
        self.discard = expected_worst(self.levels, out, none)
        """Points that one seat throws on a trick whose suit it lacks."""
        self.rest = sum(value * (out & level).bit_count() for value, level in self.levels)
        """Positive points still out."""
        self.unit = self.rest / held if held else 0.0
        """Points of an average trick still to come."""
        self.lead = LEAD * self.unit
        self.holders = [(knowledge.others & ~void).bit_count() for void in knowledge.voids]
        """Other seats that may hold a suit, by suit."""
        self.threat, self.shooters = self._threat()
        self._suits: list[Suit] = []

    def _threat(self) -> tuple[float, tuple[int, ...]]:
        """Points that a moon under way may cost, and who is at it, partners together."""
        knowledge = self.knowledge
        terms, taken = knowledge.facts.terms, knowledge.taken
        if not knowledge.facts.moon:
            return 0.0, ()
        team = terms.teams[taken.index(max(taken))]
        most = sum([taken[seat] for seat in team])
        if not most or knowledge.me in team or most != sum(taken):
            return 0.0, ()
        likely = min(1.0, 1.4 * most / terms.penalty_cards)
        fear = DEFEND if len(team) == 1 else DEFEND_TEAM
        return fear * likely * terms.rules.moon_x * len(team), team

    def suit(self, suit: int, held: Mask) -> Suit:
        """The outlook of ``suit`` in the hand ``held``."""
        knowledge = self.knowledge
        mine = held & SUIT_CARDS[suit]
        count = mine.bit_count()
        unseen = knowledge.out & SUIT_CARDS[suit]
        total = unseen.bit_count()
        holders = self.holders[suit] if total else 0
        if not holders:
            each = (self.players - 1) * self.discard
            values = knowledge.facts.values
            return Suit([], 0.0, 0.0, add_floats([values[card] + each for card in cards_of(mine)]))
        rounds = (total + count) / self.players
        spare = rounds - count if rounds > count else 0.0
        if not count:
            return Suit([], spare, 0.0, 0.0)
        return self._cards(mine, unseen, holders, rounds, spare)

    def _cards(self, mine: Mask, unseen: Mask, holders: int, rounds: float, spare: float) -> Suit:
        facts = self.knowledge.facts
        values, total, count = facts.values, unseen.bit_count(), mine.bit_count()
        shared = holders + self.extra
        none, win = none_of(shared), wins(shared, holders)
        heavy, bonus = facts.penalty & unseen, facts.bonus & unseen
        strangers = (self.players - 1 - holders) * self.discard
        risks: list[float] = []
        entry, high = 0.0, 0
        for place, card in enumerate(distinct_cards(mine) if mine <= FIRST_COPIES else cards_of(mine)):
            low = (unseen & LOWER[card]).bit_count()
            high = (unseen & HIGHER[card]).bit_count()
            value, risk = values[card], 0.0
            reach = BASE + SLOPE * (rounds - place)
            if reach > 0.0:
                gap = none[total - place * holders] if total > place * holders else 1.0
                below = heavy & LOWER[card]
                follow = expected_worst(self.levels, below, none) * KILLER if below else 0.0
                points = strangers + holders * ((1.0 - gap) * follow + gap * self.discard) + self.lead
                chance = min(reach, 1.0) * win[low][high]
                entry += chance
                risk = chance * (points + max(value, 0))
            if value < 0:
                risk += value * CATCH / (1 + high)
            if caught := bonus & LOWER[card]:
                worst = min(values[one] for one in distinct_cards(caught | caught >> 52))
                risk += worst * TOP / (1 + high) / (count - place)
            risks.append(risk)
        if self.threat and (heavy or facts.penalty & mine):
            risks.append(-self.threat * GUARD / (1 + high) if high < total else 0.0)
        return Suit(risks, spare, entry, 0.0)

    def without(self, card: Card) -> Sum:
        """The outlook of the hand once ``card`` is played."""
        if not self._suits:
            self._suits = [self.suit(suit, self.knowledge.hand) for suit in range(4)]
        suits = self._suits[:]
        suit = SUIT_OF[card]
        suits[suit] = self.suit(suit, drop_card(self.knowledge.hand, card))
        return add_up(suits)


def add_up(suits: list[Suit]) -> Sum:
    """The outlook of a hand from those of its suits: the dearest cards go on the spare rounds."""
    first, second, third, fourth = suits
    risks = first.risks + second.risks + third.risks + fourth.risks
    spare = first.spare + second.spare + third.spare + fourth.spare
    cost = add_floats(risks)
    if spare > 0.0:
        risks.sort(reverse=True)
        for risk in risks:
            if risk <= 0.0:
                break
            if spare < 1.0:
                cost -= SHED * spare * risk
                break
            cost -= SHED * risk
            spare -= 1.0
    stuck = (first.stuck + second.stuck + third.stuck + fourth.stuck) * STUCK
    return Sum(cost, stuck, min(1.0, first.entry + second.entry + third.entry + fourth.entry))
