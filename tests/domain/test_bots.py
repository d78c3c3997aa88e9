"""House bots: always legal, blind to what their seat may not see, and better than chance."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.bots import BOTS, house_move
from domain.bots.random import random_policy
from domain.bots.rules import choose_moon, rules_policy
from domain.cards import NAMES, cards_of, mask_of
from domain.commands import PlayCard, SeatPlan
from domain.events import Choice
from domain.game import advance, fold, is_over, to_act
from domain.ruleset import RuleSet
from domain.state import State
from domain.variants import ruleset_of
from domain.view import view
from tests.support.games import PUBLISHED, hand_of, open_game, play_game, rule_sets, steady
from tests.support.tables import dealt, played, small_rules


@given(rules=rule_sets(), seed=st.integers(0, 2**32))
@steady(60)
def test_rules_plays_legally_under_any_rules(rules: RuleSet, seed: int) -> None:
    """A game of rule-based bots alone goes to its end: the decider refuses none of their moves."""
    game = play_game(
        msgspec.structs.replace(rules, hand_limit=1), seed, kinds="b" * rules.players, house=True, bot="rules"
    )
    assert is_over(game.end)


@given(rules=rule_sets(), seed=st.integers(0, 2**32))
@steady(60)
def test_rules_finds_a_legal_move_in_strange_positions(rules: RuleSet, seed: int) -> None:
    """Where random play has led, the bot's answer for every seat to act is legal, and the same when asked again."""
    rng = Random(seed)
    game = play_game(
        msgspec.structs.replace(rules, hand_limit=2),
        seed,
        moves=rng.randrange(60),
        kinds="b" * rules.players,
        bot="rules",
    )
    for seat in to_act(game.end):
        move = house_move(game.end, seat, 7)
        assert advance(game.end, move)[0]
        assert house_move(fold(None, game.events), seat, 7) == move


@given(rules=rule_sets(), seed=st.integers(0, 2**32))
@steady(40)
def test_bots_do_not_see_other_hands(rules: RuleSet, seed: int) -> None:
    """With the cards of the others swapped among them, the bot moves as before."""
    rng = Random(seed)
    state = play_game(
        msgspec.structs.replace(rules, hand_limit=2),
        seed,
        moves=rng.randrange(40),
        kinds="b" * rules.players,
        bot="rules",
    ).end
    if state.phase not in ("pass", "play"):
        return
    seat = to_act(state)[0]
    other = state.copy()
    hand = hand_of(other)
    others = [one for one in range(rules.players) if hand.passes[one] is None or hand.exchanged]
    others = [one for one in others if one != seat]
    cards = [card for one in others for card in cards_of(hand.held[one])]
    rng.shuffle(cards)
    for one in others:
        count = hand.held[one].bit_count()
        mine, cards = cards[:count], cards[count:]
        if any(mine.count(card) > 2 for card in mine):
            return
        hand.held[one] = mask_of(mine)
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
    """Over duplicate deals, one seat after the other, it pays clearly less than the bot that plays anything."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 1})
    good = poor = 0
    for deal in range(4):
        for seat in range(players):
            names = ["random"] * players
            names[seat] = "rules"
            points = points_of(rules, names, bytes([deal]))
            good += points[seat] * (players - 1)
            poor += sum(points) - points[seat]
    assert good < 0.7 * poor


def choice(hands: list[str], plays: str, seat: int, **rules: object) -> str:
    """The card that the rule-based bot of ``seat`` plays after ``plays``."""
    events = dealt(small_rules(hands, **rules), hands, seats="b" * len(hands))
    state = fold(None, played(events, plays) if plays else events)
    move = house_move(state, seat, 0)
    assert isinstance(move, PlayCard)
    assert move.who == seat
    return NAMES[move.card]


POSITIONS = {
    "the last to play does not cover and eat the queen while it holds a low card": (
        (["5S 7D 8D", "QS 9D TD", "3S 2C 3C", "2S KS 4D"], "5S QS 3S", 3, {}),
        {"2S"},
    ),
    "the queen goes under the ace, not the king": (
        (["AS 2D 3D", "KS QS 4D", "2S 5D 6D", "3S 7D 8D"], "AS", 1, {}),
        {"QS"},
    ),
    "a heart on the first trick is not captured for nothing": (
        (["5C 2D 3D", "7H 4D 5D", "4C 6D 7D", "3C AC 8D"], "5C 7H 4C", 3, {}),
        {"3C"},
    ),
    "the queen is thrown at the first chance": (
        (["AD 2D 3C", "QS 2C 4C", "4D 5D 5C", "6D 7D 6C"], "AD", 1, {}),
        {"QS"},
    ),
    "a cheap heart is taken to stop a moon": (
        (
            ["AS AH 9H 2C", "QS 4H 3H 3C", "2S 5H 2H 4C", "3S 6H 7H TH"],
            "AS QS 2S 3S AH 4H 5H 6H 9H 3H 2H",
            3,
            {"moon_effect": "add", "breakers": []},
        ),
        {"TH"},
    ),
    "the jack of diamonds is taken where it pays": (
        (
            ["5D 2C 3C", "JD 4C 5C", "3D 6C 7C", "QD 2D 8C"],
            "5D JD 3D",
            3,
            {"points": {"H": 1, "QS": 13, "JD": -10}},
        ),
        {"QD"},
    ),
    "the only legal card is played": (
        (["5D 2C 3C", "JD 4C 5C", "3D 6C 7C", "QD 2H 8C"], "5D JD 3D", 3, {}),
        {"QD"},
    ),
    "the last to play ducks as high as it can": (
        (["9D 2H 6D", "4D 4H 7D", "TD QS 7C", "8D 3D 2C"], "9D 4D TD", 3, {}),
        {"8D"},
    ),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name: str) -> None:
    """Positions that other bots got wrong."""
    (hands, plays, seat, rules), right = POSITIONS[name]
    assert choice(hands, plays, seat, **rules) in right


@pytest.mark.parametrize(
    ("totals", "right"),
    [
        ((90, 95, 63, 70), "subtract"),  # adding ends the game, and the leader wins it
        ((20, 95, 63, 70), "add"),  # adding ends it with the shooter lowest
        ((20, 30, 40, 50), "add"),  # either way the game goes on: 26 to three others is more
    ],
)
def test_the_moon_is_chosen_for_the_game(totals: tuple[int, ...], right: Choice) -> None:
    """The shooter takes what leaves it better off after the hand."""
    state: State = play_game(ruleset_of({"variant": "standard", "players": 4}), 1, moves=0, kinds="bbbb").end
    seen = msgspec.structs.replace(view(state, 0), totals=totals)
    assert choose_moon(seen) == right


def test_the_seed_only_breaks_ties() -> None:
    """`random` follows its seed; `rules` plays the same card under every seed where one is best."""
    hands = ["5S 7D 8D", "QS 9D TD", "3S 2C 3C", "2S KS 4D"]
    state = fold(None, played(dealt(small_rules(hands), hands, seats="bbbb"), "5S QS 3S"))
    seen = view(state, 3)
    seeds = [bytes([number]) * 32 for number in range(16)]
    assert len({rules_policy(seen, seed, 0) for seed in seeds}) == 1
    assert len({random_policy(seen, seed, 0) for seed in seeds}) == 2
