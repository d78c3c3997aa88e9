"""How many ways a hand may go on, for every published variant and number of seats: one number that all rules of play meet in."""

from __future__ import annotations

import pytest

from domain.variants import VARIANTS
from tests.support.perft import Position, count, count_refereed, positions, replayed

ALL = positions()
each_position = pytest.mark.parametrize("position", ALL, ids=[position.name for position in ALL])
FEW = 300
"""Continuations that the referee, which replays every line from the deal, may count."""


def test_every_variant_is_counted() -> None:
    """Each number of seats of each variant has its opening, second trick, middle and end."""
    published = {(name, players) for name, variant in VARIANTS.items() for players in variant.seats}
    counted = [(position.variant, position.players) for position in ALL]
    assert {pair: counted.count(pair) for pair in published} == dict.fromkeys(published, 4)


@each_position
def test_the_rules_allow_so_many_continuations(position: Position) -> None:
    """The counts that were once found, at every depth."""
    terms, hand = replayed(position)
    depths = range(1, len(position.counts) + 1)
    assert [count(terms, hand, depth) for depth in depths] == position.counts


@each_position
def test_the_referee_counts_the_same(position: Position) -> None:
    """The second reading of the rules agrees, as deep as it can go in a moment."""
    depths = [depth for depth, found in enumerate(position.counts, 1) if depth == 1 or found <= FEW]
    assert [count_refereed(position, (), depth) for depth in depths] == position.counts[: len(depths)]
