"""Levels for people: each is legal, errs the less the higher it is, and none sees more than its seat."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from domain.bots import BOTS
from domain.bots.levels import LEVELS, level_policy
from domain.bots.search import Position
from domain.cards import FIRST_COPIES
from domain.commands import PassCards, PlayCard
from domain.game import advance, to_act
from domain.ruleset import RuleSet
from domain.view import view
from tests.domain.test_bots import bots_at_play
from tests.support.games import rule_sets, seeds, steady


@pytest.mark.parametrize("number", range(1, len(LEVELS) + 1))
@given(rules=rule_sets(), seed=seeds)
@steady(12)
def test_it_moves_legally_under_any_rules(number: int, rules: RuleSet, seed: int) -> None:
    """Where random play has led, its answer is legal, and the same when asked again."""
    state = bots_at_play(rules, seed).end
    if state.phase not in ("pass", "play"):
        return
    seat = to_act(state)[0]
    seen, chance = view(state, seat), seed.to_bytes(32, "big")
    action = level_policy(number)(seen, chance, 8)
    move = (
        PassCards(who=seat, cards=action, by="bot")
        if isinstance(action, tuple)
        else PlayCard(who=seat, card=int(action), by="bot")
    )
    assert advance(state, move)[0]
    assert level_policy(number)(seen, chance, 8) == action


def test_the_ladder_has_one_step_a_level() -> None:
    """Each level looks at more worlds, is less unsure and forgets less than the one below; all are house bots."""
    for lower, higher in pairwise(LEVELS):
        assert lower.playouts < higher.playouts
        assert lower.unsure > higher.unsure
        assert lower.forgets > higher.forgets
        assert lower.shoots <= higher.shoots
    assert {f"level{number}" for number in range(1, len(LEVELS) + 1)} < BOTS.keys()


@given(rules=rule_sets(), seed=seeds)
@steady(30)
def test_what_is_forgotten_is_only_not_known(rules: RuleSet, seed: int) -> None:
    """Forgetting all leaves a seat with the same cards out and the same room, and with nothing known of who has them."""
    state = bots_at_play(rules, seed).end
    if state.phase != "play":
        return
    unseen = Position(view(state, to_act(state)[0])).unseen
    sizes = [need + known.bit_count() for need, known in zip(unseen.need, unseen.known, strict=True)]
    unseen.forget(lambda: True)
    assert sizes == unseen.need
    assert not any(unseen.known)
    assert all(may == FIRST_COPIES for may in unseen.may)
    assert sum(sizes) == len(unseen.cards)
