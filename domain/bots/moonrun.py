"""Shooting the moon: when the rule-based bot tries to take every penalty card, and how."""

from __future__ import annotations

from typing import Final

from domain.bots.knowledge import HIGHER, none_of, power, runs_out
from domain.bots.outlook import Outlook
from domain.cards import BITS, SUIT_CARDS, SUIT_OF, Card, Mask, cards_of, distinct_cards, drop_card

SAFE: Final = 0.5
"""How often a trick lost with a harmless card has no points in it."""
DUMP: Final = 0.4
"""How often the holder of a higher card throws it away early."""
REGAIN: Final = 0.6
"""How often the lead comes back after a harmless trick is lost."""
LOSS: Final = 0.35
"""How much of the points still out a failed attempt costs."""
LEAST: Final = 0.05
"""The smallest chance that is worth a thought."""


def best_live(trick: tuple[Card, ...], *, cancel: bool) -> Card:
    """The card that wins the trick so far; -1 where none does, which a cancelling game allows."""
    suit = SUIT_OF[trick[0]]
    live = [card for card in trick if SUIT_OF[card] == suit and not (cancel and trick.count(card) > 1)]
    return max(live, default=-1)


def sweep_chance(look: Outlook, held: Mask, led: int) -> float:
    """The chance to win every later trick with points in it holding ``held``, suit ``led`` being on the table."""
    chance = 1.0
    for suit in range(4):
        mine = held & SUIT_CARDS[suit]
        if mine and look.holders[suit] and look.knowledge.out & SUIT_CARDS[suit]:
            chance *= _suit_chance(look, suit, mine, 1 if suit == led else 0)
            if chance < LEAST:
                return 0.0
    return chance


def _suit_chance(look: Outlook, suit: int, mine: Mask, played: int) -> float:
    """The chance of one suit; ``played`` of its cards are gone before these are led."""
    unseen = look.knowledge.out & SUIT_CARDS[suit]
    total = unseen.bit_count()
    shared = look.holders[suit] + look.extra
    falls, none = runs_out(shared), none_of(shared)
    penalty = look.knowledge.facts.penalty
    chance, from_top = 1.0, True
    for place, card in enumerate(reversed(cards_of(mine)), played):
        high = (unseen & HIGHER[card]).bit_count()
        if not high:
            continue
        win = falls[place][total]
        if place and from_top:
            win += (1.0 - win) * DUMP
        if high > 1:
            win *= win
        if not place:
            from_top = False
        if win < 1.0:
            safe = 0.0 if BITS[card] & penalty else SAFE * (1.0 - none[total])
            chance *= win + (1.0 - win) * safe
    return chance


def moon_costs(look: Outlook) -> list[tuple[float, Card]] | None:
    """The legal cards with how little they help to shoot the moon; none where it is not to be tried."""
    knowledge = look.knowledge
    facts, me = knowledge.facts, knowledge.me
    if not facts.moon or not (knowledge.out | knowledge.hand) & facts.penalty:
        return None
    if knowledge.taken[me] != sum(knowledge.taken) or sweep_chance(look, knowledge.hand, -1) < LEAST / 2:
        return None
    own = knowledge.seen.own
    assert own is not None
    costs = [(-_through(look, card), card) for card in distinct_cards(own.legal)]
    chance = -min(costs)[0]
    mine = knowledge.points[me]
    rest = facts.penalty_points - mine
    gain = facts.terms.rules.moon_x + mine + rest / look.players
    return costs if chance * gain > (1.0 - chance) * LOSS * rest else None


def _through(look: Outlook, card: Card) -> float:
    """The chance that the moon still stands after ``card`` and all that follows it."""
    knowledge = look.knowledge
    values, trick = knowledge.facts.values, knowledge.seen.trick
    dirty = any(values[one] > 0 for one in trick) or any(values[one] > 0 for one in knowledge.pile)
    led = SUIT_OF[trick[0]] if trick else SUIT_OF[card]
    if SUIT_OF[card] != led:
        win, harmless = 0.0, 0.0 if dirty or values[card] > 0 else 0.7
    else:
        win, harmless = _trick_chances(look, card, dirty=dirty)
    through = win + (1.0 - win) * harmless * REGAIN
    return through * sweep_chance(look, drop_card(knowledge.hand, card), led) if through else 0.0


def _trick_chances(look: Outlook, card: Card, *, dirty: bool) -> tuple[float, float]:
    """The chance that ``card``, of the suit led, wins the trick, and that a lost trick has no points in it."""
    knowledge = look.knowledge
    suit, trick = SUIT_OF[card], knowledge.seen.trick
    unseen = knowledge.out & SUIT_CARDS[suit]
    total = unseen.bit_count()
    followers = (knowledge.later & ~knowledge.voids[suit]).bit_count() if total else 0
    none = none_of(max(1, look.holders[suit] + look.extra))
    cancel = knowledge.facts.terms.rules.cancel
    win = harmless = 0.0
    if not trick or (card >= best_live(trick, cancel=cancel) and not (cancel and card in trick)):
        win = power(none[(unseen & HIGHER[card]).bit_count()], followers)
    strangers = knowledge.later.bit_count() - followers
    if not dirty and knowledge.facts.values[card] <= 0 and not strangers:
        harmless = power(1.0 - none[total], followers)
    return win, harmless
