"""What holds in every game by every rule set, published or of the house."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given

from domain import events as e
from domain.cards import (
    BITS,
    FIRST_COPIES,
    cards_of,
)
from domain.game import advance, decide, evolve, fold, to_act
from domain.rules import legal_plays, moon_shooter, why_not
from domain.ruleset import RuleSet, Terms, decode_rules
from domain.state import State
from domain.variants import ruleset_of
from tests.support.games import (
    PUBLISHED,
    Game,
    hand_of,
    picture,
    play_game,
    published_rules,
    rule_sets,
    seeds,
    steady,
)
from tests.support.referee import winner_of


def states(game: Game) -> Iterator[State]:
    """Every state of a game that cards have been dealt in."""
    return (step.after for step in game.steps if step.after.hand is not None)


@steady(120)
@given(rule_sets(), seeds)
def test_the_generator_makes_rule_sets_that_can_be_played(rules: RuleSet, seed: int) -> None:
    """Every drawn rule set has no problems and survives being stored whole."""
    assert rules.problems() == []
    assert decode_rules(msgspec.json.decode(msgspec.json.encode(rules))) == rules
    assert play_game(rules, seed, moves=0).end.phase in ("pass", "play")


@steady(120)
@given(rule_sets(), seeds)
def test_some_card_is_always_legal_and_only_those_have_no_reason_against_them(
    rules: RuleSet, seed: int
) -> None:
    """While it is somebody's turn a card of its hand is legal, and `why_not` names no reason for just those."""
    for state in states(play_game(rules, seed)):
        hand = hand_of(state)
        if state.phase != "play":
            continue
        legal = legal_plays(state.terms, hand)
        assert legal
        assert legal & hand.held[hand.turn] & FIRST_COPIES == legal
        assert to_act(state) == (hand.turn,)
        for card in range(52):
            reason = why_not(state.terms, hand, card)
            assert (reason is None) is bool(legal & BITS[card])
            if not hand.held[hand.turn] & BITS[card]:
                assert reason == "play/not_in_hand"


@steady(120)
@given(rule_sets(), seeds)
def test_cards_are_conserved_at_every_step(rules: RuleSet, seed: int) -> None:
    """Cards held, on the table, in finished tricks and in the kitty are the deck, each copy once."""
    deck = Counter(Terms(rules).deck)
    for state in states(play_game(rules, seed)):
        hand = hand_of(state)
        places = [cards_of(held) for held in hand.held]
        places += [hand.trick, *(list(trick) for _, trick, _ in hand.history), cards_of(hand.kitty)]
        assert sum((Counter(place) for place in places), Counter[int]()) == deck
        dealt = [cards_of(mask) for mask in hand.dealt]
        assert Counter(card for cards in [*dealt, cards_of(hand.kitty)] for card in cards) == deck
        assert {len(cards) for cards in dealt} == {rules.hand}


@steady(120)
@given(rule_sets(), seeds)
def test_an_event_log_folds_alike_however_it_is_cut(rules: RuleSet, seed: int) -> None:
    """The fold of all events is the fold of a prefix carried on with the rest, and leaves the prefix's state alone."""
    game = play_game(rules, seed)
    events = game.events
    whole = picture(fold(None, events))
    assert whole == picture(game.end)
    for cut in sorted({1, len(events) // 3, len(events) // 2, len(events) - 1}):
        part = fold(None, events[:cut])
        before = copy.deepcopy(picture(part))
        assert picture(fold(part, events[cut:])) == whole
        assert picture(part) == before
    one_by_one = None
    for event in events:
        one_by_one = evolve(one_by_one, event)
    assert one_by_one is not None
    assert picture(one_by_one) == whole


@steady(120)
@given(rule_sets(), seeds)
def test_deciding_is_pure_and_agrees_with_the_fold(rules: RuleSet, seed: int) -> None:
    """`advance` gives `decide`'s events and the fold of them, and changes nothing of the state it was asked about."""
    for step in play_game(rules, seed).steps:
        before = None if step.before is None else copy.deepcopy(picture(step.before))
        events, after = advance(step.before, step.command)
        assert events == step.events == decide(step.before, step.command)
        assert picture(after) == picture(step.after) == picture(fold(step.before, events))
        if step.before is not None:
            assert picture(step.before) == before


@steady(120)
@given(rule_sets(), seeds)
def test_a_game_ends_and_is_over_for_good(rules: RuleSet, seed: int) -> None:
    """A game ends within its hand limit, with the lowest totals winning, and nobody is to act any more."""
    game = play_game(rules, seed)
    end, last = game.end, game.events[-1]
    assert isinstance(last, e.GameEnded)
    assert 1 <= len(end.hands) <= (rules.hand_limit or 0)
    assert last.reason == "target" or len(end.hands) == rules.hand_limit
    assert (max(end.totals) >= rules.target) or last.reason == "limit"
    assert set(last.winners) == {seat for seat, total in enumerate(end.totals) if total == min(end.totals)}
    assert to_act(end) == ()
    assert [step.after.phase for step in game.steps].count("over") == 1


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_published_games_played_without_a_limit_end_by_their_target(variant: str, players: int) -> None:
    """A game by a published rule set ends when its target is reached, or else with the seed chain."""
    game = play_game(ruleset_of({"variant": variant, "players": players}), f"{variant} {players}")
    assert game.end.reason == "target"
    assert max(game.end.totals) >= game.rules.target


@steady(120)
@given(published_rules(), seeds)
def test_equal_seeds_give_equal_games(rules: RuleSet, seed: int) -> None:
    """Nothing random is left in deciding: the same secrets and moves give the same events."""
    assert play_game(rules, seed, moves=20).events == play_game(rules, seed, moves=20).events


def last_tricks(game: Game) -> Iterator[list[str]]:
    """The cards of the last trick of each finished hand."""
    cards: list[str] = []
    for event in game.events:
        if isinstance(event, e.CardPlayed):
            cards.append(event.card)
        elif isinstance(event, e.HandScored):
            yield cards[-game.rules.players :]


def test_the_random_games_reach_every_phase_and_rule() -> None:
    """The properties above are not empty: their games have moons, choices, dead tricks, kitties, holds and ties."""
    seen: Counter[str] = Counter()

    @steady(200)
    @given(rule_sets(), seeds)
    def look(rules: RuleSet, seed: int) -> None:
        game = play_game(rules, seed)
        seen.update(
            name
            for name, found in {
                "kitty": bool(Terms(rules).kitty),
                "dead trick": any(isinstance(one, e.TrickEnded) and one.seat is None for one in game.events),
                "dead last trick": rules.dead_last == "leader"
                and any(winner_of(trick, msgspec.to_builtins(rules)) is None for trick in last_tricks(game)),
                "moon": any(
                    step.before is not None
                    and step.before.hand is not None
                    and moon_shooter(step.before.terms, step.before.hand) is not None
                    for step in game.steps
                ),
                "choice": any(isinstance(one, e.MoonChosen) for one in game.events),
                "hold": any(isinstance(one, e.HandScored) and one.passes is None for one in game.events),
                "pass": any(isinstance(one, e.PassesExchanged) for one in game.events),
                "shared": len(game.end.winners) > 1,
                "two decks": rules.decks == 2,
                "target": game.end.reason == "target",
                "limit": game.end.reason == "limit",
            }.items()
            if found
        )

    look()
    assert len(seen) == 11, seen
    assert min(seen.values()) >= 3, seen
