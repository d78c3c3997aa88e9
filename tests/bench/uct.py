"""A peer for the searching bot: PIMC-UCT as OpenSpiel's xinxin is set up, in plain Python.

It deals worlds that agree with what its seat has seen, searches each as if all cards were open with UCT (max^n; Sturtevant 2008),
and plays the card that the worlds together visited most. Rollouts are ours. Slow, so that deals are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.bots import Action
from domain.bots.playout import choose_pass, lay, play_out
from domain.bots.rules import choose_moon
from domain.bots.search import Position
from domain.bots.worlds import Chance
from domain.cards import Card, distinct_cards
from domain.rules import hand_points, legal_plays
from domain.state import HandState
from domain.view import View

WORLDS = 20
SIMULATIONS = 50
EXPLORE = 0.4


class Node:
    """A position in a tree: how often each card was tried there, and what it came to for the seat that plays it."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self.untried = list(cards)
        self.children: dict[Card, Node] = {}
        self.visits: dict[Card, int] = {}
        self.sums: dict[Card, float] = {}

    def pick(self) -> Card:
        """The card to go on with."""
        if self.untried:
            return self.untried[-1]
        total = math.log(sum(self.visits.values()))
        return max(
            self.children,
            key=lambda card: (
                self.sums[card] / self.visits[card] + EXPLORE * math.sqrt(total / self.visits[card])
            ),
        )


def search_world(position: Position, begin: HandState, chance: Chance) -> dict[Card, int]:
    """How often each card is visited in one world."""
    terms = position.terms
    root = Node(distinct_cards(legal_plays(terms, begin)))
    for _ in range(SIMULATIONS):
        hand, node, path = begin.copy(), root, list[tuple[Node, Card, int]]()
        while hand.turn >= 0:
            card, seat = node.pick(), hand.turn
            fresh = card in node.untried
            path.append((node, card, seat))
            lay(terms, hand, card)
            if fresh:
                node.untried.pop()
                cards = distinct_cards(legal_plays(terms, hand)) if hand.turn >= 0 else []
                node.children[card] = Node(cards)
                break
            node = node.children[card]
        play_out(position.thumb, hand, Chance(chance.word()), 0)
        points = hand_points(terms, hand, position.totals, None)
        for visited, card, seat in path:
            visited.visits[card] = visited.visits.get(card, 0) + 1
            visited.sums[card] = visited.sums.get(card, 0.0) + 1.0 - points[seat] / position.thumb.unit
    return root.visits


def uct_policy(seen: View, seed: bytes, _playouts: int) -> Action:
    """Pass by rules of thumb, play by PIMC-UCT."""
    own = seen.own
    assert own is not None
    if seen.phase == "moon":
        return choose_moon(seen)
    position = Position(seen)
    if position.passing:
        return choose_pass(position.thumb, own.hand, seen.rules.pass_count)
    legal = distinct_cards(own.legal)
    if len(legal) == 1:
        return legal[0]
    chance, visits = Chance(int.from_bytes(seed[:8], "big")), dict.fromkeys(legal, 0)
    for _ in range(WORLDS):
        world = position.unseen.deal(chance)
        if world is not None:
            for card, count in search_world(position, position.enter(world), chance).items():
                visits[card] += count
    return max(legal, key=lambda card: visits[card])
