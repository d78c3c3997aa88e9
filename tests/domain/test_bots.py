"""House bots in whole games: always legal, blind to what their seat may not see, and better than chance."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given

from domain.bots import BOTS, house_move
from domain.bots.knowledge import Knowledge, facts_of, none_of, runs_out, stays
from domain.bots.rules import choose_pass
from domain.cards import SUIT_OF, add_masks, cards_of, mask_of, subtract_masks
from domain.commands import SeatPlan
from domain.game import advance, fold, is_over, to_act
from domain.ruleset import RuleSet, terms_of
from domain.variants import ruleset_of
from domain.view import Own, view
from tests.support.games import (
    PUBLISHED,
    Game,
    open_game,
    play_game,
    rule_sets,
    seeds,
    steady,
    with_others_swapped,
)


def bots_at_play(rules: RuleSet, seed: int) -> Game:
    """A game of rule-based bots that random moves have led somewhere in its first two hands."""
    moves = Random(seed).randrange(60)
    rules = msgspec.structs.replace(rules, hand_limit=2)
    return play_game(rules, seed, moves=moves, kinds="b" * rules.players, bot="rules")


@given(rules=rule_sets(), seed=seeds)
@steady(60)
def test_rules_plays_legally_under_any_rules(rules: RuleSet, seed: int) -> None:
    """A game of rule-based bots alone goes to its end: the decider refuses none of their moves."""
    game = play_game(
        msgspec.structs.replace(rules, hand_limit=1), seed, kinds="b" * rules.players, house=True, bot="rules"
    )
    assert is_over(game.end)


@given(rules=rule_sets(), seed=seeds)
@steady(60)
def test_rules_finds_a_legal_move_in_strange_positions(rules: RuleSet, seed: int) -> None:
    """Where random play has led, the bot's answer for every seat to act is legal, and the same when asked again."""
    game = bots_at_play(rules, seed)
    for seat in to_act(game.end):
        move = house_move(game.end, seat, 7)
        assert advance(game.end, move)[0]
        assert house_move(fold(None, game.events), seat, 7) == move


@given(rules=rule_sets(), seed=seeds)
@steady(40)
def test_a_pass_is_so_many_cards_of_the_hand(rules: RuleSet, seed: int) -> None:
    """Under any rules, of any hand, the bot passes the number asked for, each copy once."""
    hand = Random(seed).sample(sorted(facts_of(rules).terms.deck), rules.hand)
    seen = view(play_game(rules, 1, moves=0, kinds="b" * rules.players).end, 0)
    own = Own(hand=mask_of(hand), given=0, received=0, legal=0)
    given = choose_pass(Knowledge(msgspec.structs.replace(seen, own=own)))
    assert len(given) == rules.pass_count
    assert sorted([*given, *cards_of(subtract_masks(mask_of(hand), mask_of(given)))]) == sorted(hand)


@given(rules=rule_sets(), seed=seeds)
@steady(40)
def test_bots_do_not_see_other_hands(rules: RuleSet, seed: int) -> None:
    """With the cards of the others swapped among them, the bot moves as before."""
    state = bots_at_play(rules, seed).end
    if state.phase not in ("pass", "play"):
        return
    seat = to_act(state)[0]
    other = with_others_swapped(state, seat, Random(seed))
    if other is None:
        return
    assert house_move(other, seat, 0) == house_move(state, seat, 0)


def points_of(rules: RuleSet, seats: list[str], secret: bytes) -> list[int]:
    """What one hand of bots costs each seat; equal secrets deal equal cards."""
    plans = tuple(SeatPlan(kind="bot", bot=BOTS[name].id) for name in seats)
    rng = Random(secret)
    state = open_game(rules, rng, "b" * rules.players).end
    state = state.copy()
    state.seats = [
        msgspec.structs.replace(one, bot=plan.bot) for one, plan in zip(state.seats, plans, strict=True)
    ]
    while not is_over(state):
        state = advance(state, house_move(state, to_act(state)[0], 0))[1]
    return list(state.hands[0])


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_rules_beats_chance(variant: str, players: int) -> None:
    """Over duplicate deals, one side after the other, it pays clearly less than the bot that plays anything."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 1})
    good = poor = 0
    for deal in range(4):
        for seat in range(players):
            team = terms_of(rules).teams[seat]
            names = ["rules" if other in team else "random" for other in range(players)]
            points = points_of(rules, names, bytes([deal]))
            good += points[seat] * (players - len(team))
            poor += sum(points[other] for other in range(players) if other not in team)
    assert good < 0.7 * poor


# --- what it knows


@given(rules=rule_sets(), seed=seeds)
@steady(60)
def test_knowledge_is_what_the_tricks_say(rules: RuleSet, seed: int) -> None:
    """Cards out, voids and points, read trick by trick, are those of a plain count over the table's history."""
    state = bots_at_play(rules, seed).end
    if state.phase != "play":
        return
    assert state.hand is not None
    seat = state.hand.turn
    known = Knowledge(view(state, seat))
    hidden = state.hand.kitty
    for other, held in enumerate(state.hand.held):
        hidden = hidden if other == seat else add_masks(hidden, held)
    assert known.out == hidden
    for suit, seats in enumerate(known.voids):
        for other in range(rules.players):
            holds = any(SUIT_OF[card] == suit for card in cards_of(state.hand.held[other]))
            assert not (seats >> other & 1 and holds)
    if not state.hand.kitty:
        assert known.points == state.hand.penalty
        assert known.taken == state.hand.penalties_taken


@pytest.mark.parametrize("seats", [1, 2, 3, 10])
def test_chances_are_chances(seats: int) -> None:
    """Every table of chances lies between 0 and 1 and moves the right way."""
    none, stay, gone = none_of(seats), stays(seats), runs_out(seats)
    assert none[0] == 1.0
    assert all(1.0 >= more >= fewer >= 0.0 for more, fewer in pairwise(none))
    assert all(-1e-9 <= chance <= 1.0 for row in stay for chance in row)
    assert all(chance == 1.0 for chance in (row[0] for row in stay))
    assert all(-1e-9 <= chance <= 1.0 + 1e-9 for row in gone for chance in row)
    assert gone[1][1] == 1.0
