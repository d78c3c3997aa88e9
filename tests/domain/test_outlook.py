"""What a hand would come to: claims and moon choices foretold, held against what then happens."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.cards import format_cards
from domain.game import advance, fold
from domain.outlook import after_claim, cards_won, pass_receiver, places_of
from domain.rules import moon_shooter
from domain.ruleset import RuleSet
from domain.state import State
from domain.variants import ruleset_of
from domain.view import view
from tests.domain.test_claims_properties import positions
from tests.support.claims import FAMILIES, small_family
from tests.support.duplicates import begin, play_on, reveal
from tests.support.games import PUBLISHED, hand_of, play_game
from tests.support.tables import dealt, passing, played, small_rules


def claimed(state: State, me: int) -> tuple[int, list[int] | None]:
    """The tricks that a claim takes, and what the hand adds; nothing where a moon choice is to be made first."""
    events, _ = advance(state, c.ClaimRest(who=state.seats[me].player))
    takers = [one.seat for one in events if isinstance(one, e.TrickEnded)]
    assert {me} == set(takers)
    scored = [one for one in events if isinstance(one, e.HandScored)]
    return len(takers), list(scored[0].points) if scored else None


@pytest.mark.parametrize("odd", [False, True], ids=["published", "odd"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_claim_brings_what_was_foretold(family: str, odd: bool) -> None:
    """Given any position of small hands, then a claim that is told of is accepted, and takes and adds what was told."""
    found: Counter[str] = Counter()
    for seed in range(80):
        rng = Random(f"{family}{seed}")
        rules = small_family(family, rng, odd=odd)
        for state, me in positions(rules, rng):
            told = after_claim(view(state, me))
            if told is None or state.seats[me].house_plays:
                continue
            tricks, points = claimed(state, me)
            assert told.tricks == tricks
            if told.points is None:
                assert points is None or (rules.kitty_to == "first" and hand_of(state).kitty)
                found["unknown"] += 1
            else:
                assert told.points == points
                found["known"] += 1
    assert found["known"] > 20


def test_points_that_a_kitty_hides_are_not_told() -> None:
    """Given a kitty that went with the first trick, then the tricks of a claim are told and its points are not."""
    hands = ["AS KS", "3S 5H", "4S 6H"]
    rules = small_rules(hands, "7H", kitty_to="first")
    first = fold(None, dealt(rules, hands, kitty="7H"))
    second = fold(None, played(dealt(rules, hands, kitty="7H"), "AS 3S 4S"))
    told = after_claim(view(first, 0))
    assert told is not None
    assert (2, [3, 0, 0]) == (told.tricks, told.points)
    assert (1, None) == after_claim(view(second, 0))


def test_nobody_else_is_told_of_a_claim() -> None:
    """Neither who is not to play, nor who watches."""
    hands = ["AS KS", "3S 5H", "4S 6H"]
    state = fold(None, dealt(small_rules(hands), hands))
    assert after_claim(view(state, 0)) is not None
    assert [None] * 3 == [after_claim(view(state, seat)) for seat in (1, 2, None)]


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_cards_won_are_those_that_were_counted(variant: str, players: int) -> None:
    """Given whole games, then what each seat has taken comes to its points, but for the kitty; dead tricks are in it."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 1, "kitty_to": "last"})
    for state, _ in positions(rules, Random(f"{variant}{players}")):
        hand, values = hand_of(state), state.terms.values
        won = cards_won(view(state, None))
        assert all(values[card] for cards in won for card in cards)
        counted = [penalty + bonus for penalty, bonus in zip(hand.penalty, hand.bonus, strict=True)]
        assert counted == [sum(values[card] for card in cards) for cards in won]


def test_cards_of_a_dead_trick_go_to_the_next_taker() -> None:
    """Until then nobody has them."""
    hands = ["5H 2H 9C", "5H 3H 8C", "4C 6C 7C"]
    table = dealt(small_rules(hands, decks=2, cancel=True, breakers=[]), hands)
    found = []
    for cards in ("5H 5H 4C", "5H 5H 4C 2H 3H 6C"):
        won = cards_won(view(fold(None, played(table, cards)), None))
        found.append([format_cards(one) for one in won])
    assert [["", "", ""], ["", "2H 3H 5H 5H", ""]] == found


def test_places_are_shared() -> None:
    """The lowest total is first, and equal ones stand beside each other."""
    assert [2, 1, 2, 4] == places_of((5, -3, 5, 26))


@pytest.mark.parametrize(("way", "to"), [(1, 1), (-1, 3), (2, 2)])
def test_who_is_passed_to(way: int, to: int) -> None:
    """By the way of the hand, in seats to the left."""
    seen = view(fold(None, passing(way)), 0)
    assert to == pass_receiver(seen, 0)


# --- moons of finished hands


def moons_of(rules: RuleSet, seed: int) -> tuple[tuple[int | None, ...], list[int | None]]:
    """What a finished game tells, and what its hands say as they are scored."""
    game = play_game(rules, seed)
    found: list[int | None] = []
    state: State | None = None
    for event in game.events:
        if isinstance(event, e.HandScored) and state is not None:
            found.append(moon_shooter(state.terms, hand_of(state)))
        state = fold(state, (event,))
    assert state is not None
    return state.moons, found


def test_the_moons_of_a_game_are_kept() -> None:
    """Given games in which moons are common, then each is told by the hand, as the rules name the shooter."""
    told: Counter[bool] = Counter()
    for seed in range(10):
        rules = ruleset_of(
            {
                "variant": "custom",
                "points": {"QS": 13},
                "moon_effect": "add",
                "hand_limit": 3,
                "pass_count": 0,
            }
        )
        kept, found = moons_of(rules, seed)
        assert list(kept) == found
        told[any(one is not None for one in kept)] += 1
    assert told[True]


@pytest.mark.parametrize("players", [3, 4])
def test_a_sealed_kitty_tells_no_moon(players: int) -> None:
    """Given a duplicate table with a kitty, then a moon is told when its hand is revealed; without a kitty at once."""
    more: dict[str, Any] = {"points": {"AS": 1}, "moon_effect": "add", "players": players}
    for seed in range(20):
        game = begin(kinds="p" * players, seed=seed, hand_limit=1, variant="custom", **_deck(players), **more)
        play_on(game)
        before = game.end.moons
        shooter = moon_shooter(game.end.terms, game.end.sealed[0])
        reveal(game)
        assert ((shooter,), (None if players == 3 else shooter,)) == (game.end.moons, before)


def _deck(players: int) -> dict[str, Any]:
    return {"hand": 17, "pass_count": 0, "pass_cycle": [0]} if players == 3 else {}
