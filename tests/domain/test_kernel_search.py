"""The search in C and the plain one: the same sums, arm for arm; and what the kernel refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import kernel
from domain.bots.search import Arm, Position, Tried
from domain.cards import mask_of
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from tests.support.games import PUBLISHED, rule_sets, seeds, steady
from tests.support.searches import position_of, somewhere


def in_c(position: Position, arms: list[Arm], budget: int, seed: int) -> list[Tried]:
    """What the kernel says; it must play by these rules."""
    found = position.try_compiled(arms, budget, seed)
    assert found is not None
    return found


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_both_come_to_the_same_sums(variant: str, players: int) -> None:
    """In every published family, with every number of seats, at passes and plays of two hands."""
    rules = ruleset_of({"variant": variant, "players": players})
    for seed in range(6):
        state = somewhere(rules, seed)
        if state is not None:
            position, arms = position_of(state)
            assert in_c(position, arms, 24, seed) == position.try_plainly(arms, 24, seed)


@given(rules=rule_sets(), seed=seeds, budget=st.integers(0, 60))
@steady(60)
def test_both_come_to_the_same_sums_under_any_rules(rules: RuleSet, seed: int, budget: int) -> None:
    """Under any rule set that the kernel plays by."""
    state = somewhere(rules, seed)
    if state is not None and kernel.plays_by(rules):
        position, arms = position_of(state)
        assert in_c(position, arms, budget, seed) == position.try_plainly(arms, budget, seed)


@given(data=st.data(), seed=seeds)
@steady(150)
def test_the_kernel_refuses_what_is_no_position(data: st.DataObject, seed: int) -> None:
    """A position with any of its numbers changed is searched or refused, and never anything else."""
    state = somewhere(ruleset_of({"variant": "standard", "players": 3 + seed % 5}), seed)
    if state is None:
        return
    position, arms = position_of(state)
    packed = bytearray(position.pack())
    at = 8 * data.draw(st.integers(0, len(packed) // 8 - 1))
    number = data.draw(st.one_of(st.integers(-3, 120), st.integers(-(2**63), 2**63 - 1)))
    packed[at : at + 8] = number.to_bytes(8, "little", signed=True)
    length = data.draw(st.sampled_from([len(packed), len(packed), len(packed) - 8, len(packed) - 1]))
    try:
        found = kernel.search(
            bytes(packed[:length]), position.terms.rules, [arm.packed for arm in arms], 20, 1
        )
    except ValueError:
        return
    assert found is not None
    assert sorted(place for place, _, _ in found) == list(range(len(arms)))


def test_the_kernel_refuses_arms_that_are_not_allowed() -> None:
    """A card that is not in hand, a pass of too few cards, no arm at all."""
    state = somewhere(ruleset_of({"variant": "basic"}), 3)
    assert state is not None
    position, arms = position_of(state)
    foreign = next(card for card in range(52) if not position.hand.held[position.me] >> card & 1)
    for wrong in ([], [Arm(foreign, 0, False)], [Arm(-1, mask_of([foreign]), False)], arms * 600):
        with pytest.raises(ValueError, match="try"):
            kernel.search(position.pack(), position.terms.rules, [arm.packed for arm in wrong], 20, 1)
