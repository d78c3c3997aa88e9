"""The search in C and the plain one: the same sums, arm for arm, and worlds that agree with all that a seat has seen."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import kernel
from domain.bots.search import Arm, Position, Tried
from domain.bots.worlds import Chance, scale
from domain.cards import FIRST_COPIES, Mask, add_masks, contains, mask_of
from domain.game import is_over, to_act
from domain.ruleset import RuleSet, terms_of
from domain.state import State
from domain.variants import ruleset_of
from domain.view import view
from tests.support.games import PUBLISHED, hand_of, play_game, rule_sets, seeds, steady

COMPILED = pytest.mark.skipif(not kernel.AVAILABLE, reason="the kernel is not compiled here")


def somewhere(rules: RuleSet, seed: int) -> State | None:
    """A table of bots where somebody must pass or play, random moves into its first hands; none where that is over."""
    rules = msgspec.structs.replace(rules, hand_limit=2)
    moves = Random(seed).randrange(1 + 2 * rules.players * (rules.hand + 1))
    state = play_game(rules, seed, moves=moves, kinds="b" * rules.players, bot="rules").end
    return None if is_over(state) or state.phase not in ("pass", "play") else state


def position_of(state: State) -> tuple[Position, list[Arm]]:
    """What the seat to act knows, and what it may try."""
    seen = view(state, to_act(state)[0])
    position = Position(seen)
    assert seen.own is not None
    return position, position.passes() if position.passing else position.arms(seen.own.legal)


def in_c(position: Position, arms: list[Arm], budget: int, seed: int) -> list[Tried]:
    """What the kernel says; it must play by these rules."""
    found = position.try_compiled(arms, budget, seed)
    assert found is not None
    return found


@COMPILED
@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_both_come_to_the_same_sums(variant: str, players: int) -> None:
    """In every published family, with every number of seats, at passes and plays of two hands."""
    rules = ruleset_of({"variant": variant, "players": players})
    for seed in range(6):
        state = somewhere(rules, seed)
        if state is not None:
            position, arms = position_of(state)
            assert in_c(position, arms, 24, seed) == position.try_plainly(arms, 24, seed)


@COMPILED
@given(rules=rule_sets(), seed=seeds, budget=st.integers(0, 60))
@steady(60)
def test_both_come_to_the_same_sums_under_any_rules(rules: RuleSet, seed: int, budget: int) -> None:
    """Under any rule set that the kernel plays by."""
    state = somewhere(rules, seed)
    if state is not None and kernel.plays_by(rules):
        position, arms = position_of(state)
        assert in_c(position, arms, budget, seed) == position.try_plainly(arms, budget, seed)


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


@COMPILED
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


@COMPILED
def test_the_kernel_refuses_arms_that_are_not_allowed() -> None:
    """A card that is not in hand, a pass of too few cards, no arm at all."""
    state = somewhere(ruleset_of({"variant": "basic"}), 3)
    assert state is not None
    position, arms = position_of(state)
    foreign = next(card for card in range(52) if not position.hand.held[position.me] >> card & 1)
    for wrong in ([], [Arm(foreign, 0, False)], [Arm(-1, mask_of([foreign]), False)], arms * 600):
        with pytest.raises(ValueError, match="try"):
            kernel.search(position.pack(), position.terms.rules, [arm.packed for arm in wrong], 20, 1)
