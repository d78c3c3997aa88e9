"""The worlds of a search agree with all that a seat has seen, and its chance is pinned."""

from __future__ import annotations

from hypothesis import given

from domain.bots.worlds import Chance, scale
from domain.cards import FIRST_COPIES, Mask, add_masks, contains
from domain.game import to_act
from domain.ruleset import RuleSet, terms_of
from tests.support.games import hand_of, rule_sets, seeds, steady
from tests.support.searches import position_of, somewhere


@given(rules=rule_sets(), seed=seeds)
@steady(80)
def test_a_world_agrees_with_what_was_seen(rules: RuleSet, seed: int) -> None:
    """It deals each unseen card once, as many as each holder has, and none that the holder has shown to lack."""
    state = somewhere(rules, seed)
    if state is None:
        return
    unseen, hand = position_of(state)[0].unseen, hand_of(state)
    me = to_act(state)[0]
    hidden: Mask = hand.kitty if terms_of(rules).kitty else 0
    for seat, held in enumerate(hand.held):
        if seat != me:
            hidden = add_masks(hidden, held)
    world = unseen.deal(Chance(seed))
    assert world is not None
    together = 0
    for holder, held in enumerate(world):
        assert held.bit_count() == unseen.need[holder] + unseen.known[holder].bit_count()
        assert contains(held, unseen.known[holder])
        assert not held & FIRST_COPIES & ~unseen.may[holder]
        together = add_masks(together, held)
    assert together == hidden


@given(rules=rule_sets(), seed=seeds)
@steady(80)
def test_the_truth_is_a_world(rules: RuleSet, seed: int) -> None:
    """What the others really hold is among the worlds that a seat thinks possible."""
    state = somewhere(rules, seed)
    if state is None:
        return
    unseen, me = position_of(state)[0].unseen, to_act(state)[0]
    for seat, held in enumerate(hand_of(state).held):
        if seat != me:
            assert held.bit_count() == unseen.need[seat] + unseen.known[seat].bit_count()
            assert contains(held, unseen.known[seat])
            assert not held & FIRST_COPIES & ~unseen.may[seat]


def test_the_generator_is_pinned() -> None:
    """Its first words from seed 0 are those that its authors publish."""
    chance = Chance(0)
    assert [chance.word() for _ in range(3)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [scale(0, 7), scale((1 << 64) - 1, 7)] == [0, 6]
