"""The searching bot: legal under any rules, blind to what its seat may not see, and right where others have gone wrong."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given

from domain.bots import Action
from domain.bots.playout import choose, thumb_of
from domain.bots.search import Position, search_policy
from domain.cards import NAMES, mask_of
from domain.commands import PassCards, PlayCard
from domain.game import advance, fold, to_act
from domain.ruleset import RuleSet
from domain.state import State
from domain.view import view
from tests.domain.test_bots import bots_at_play
from tests.domain.test_bots_positions import OMNIBUS, POSITIONS
from tests.support.games import rule_sets, seeds, steady, with_others_swapped
from tests.support.tables import dealt, played, small_rules

PLAYOUTS = 600
STOPPED = "a cheap heart is taken to stop a moon"
CLEAR = {name: position for name, position in POSITIONS.items() if name != STOPPED} | {
    # in two worlds of three; in one of three, as there, a moon that costs the others as much may be let through
    STOPPED: (
        "AS AH 9H KH, QS 4H 3H 2C, 2S 5H 2H 4C, 3S 6H 7H TH; AS QS 2S 3S AH 4H 5H 6H 9H 3H 2H; TH",
        {"moon_effect": "add", "breakers": []},
    )
}
"""The positions of the rule-based bot."""


def endless(rules: RuleSet) -> RuleSet:
    """The rules without a last hand, so that a hand is worth its points."""
    return msgspec.structs.replace(rules, hand_limit=None)


def decides(state: State, seed: int = 0, playouts: int = PLAYOUTS) -> Action:
    """What the bot does for the seat to act, in a game that goes on."""
    seen = view(state, to_act(state)[0])
    seen = msgspec.structs.replace(seen, rules=endless(seen.rules))
    return search_policy(seen, seed.to_bytes(32, "big"), playouts)


def table(hands: str, so_far: str = "", **rules: Any) -> State:
    """A hand of which these cards were dealt and played."""
    each = hands.split(", ")
    events = dealt(small_rules(each, **rules), each, seats="b" * len(each))
    return fold(None, played(events, so_far) if so_far else events)


@given(rules=rule_sets(), seed=seeds)
@steady(60)
def test_it_moves_legally_under_any_rules(rules: RuleSet, seed: int) -> None:
    """Where random play has led, its answer is legal, and the same when asked again."""
    state = bots_at_play(rules, seed).end
    if state.phase not in ("pass", "play"):
        return
    seat, action = to_act(state)[0], decides(state, seed, 8)
    move = (
        PassCards(who=seat, cards=action, by="bot")
        if isinstance(action, tuple)
        else PlayCard(who=seat, card=int(action), by="bot")
    )
    assert advance(state, move)[0]
    assert decides(state, seed, 8) == action


@given(rules=rule_sets(), seed=seeds)
@steady(40)
def test_it_does_not_see_other_hands(rules: RuleSet, seed: int) -> None:
    """With the cards of the others swapped among them, it moves as before."""
    state = bots_at_play(rules, seed).end
    if state.phase not in ("pass", "play"):
        return
    other = with_others_swapped(state, to_act(state)[0], Random(seed))
    if other is None:
        return
    assert decides(other, seed, 8) == decides(state, seed, 8)


@pytest.mark.parametrize("name", CLEAR)
@pytest.mark.parametrize("seed", range(3))
def test_one_card_is_right(name: str, seed: int) -> None:
    """Where one card is best it is found, whatever the chance."""
    text, rules = CLEAR[name]
    hands, so_far, right = text.split("; ")
    assert NAMES[int(decides(table(hands, so_far, **rules), seed))] == right  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_it_shoots_the_moon_where_nobody_can_stop_it(seed: int) -> None:
    """Holding the winners of all that is left it leads them, though it might get rid of the lead."""
    state = table(
        "AH KH QH 2C, 2H 3H AC 3C, 4H 5H 4C 5C, 6H 7H 6C 7C",
        "AH 2H 4H 6H",
        moon_effect="add",
        breakers=[],
        points={"H": 1},
    )
    assert NAMES[int(decides(state, seed))] in ("KH", "QH")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_a_bonus_is_taken_where_points_say_so(seed: int) -> None:
    """The jack of diamonds is worth a trick where it counts ten, and nothing where it does not."""
    hands, so_far = "5D 2C 3C, JD 4C 5C, 3D 6C 7C, QD 2D AC", "5D JD 3D"
    assert NAMES[int(decides(table(hands, so_far, points=OMNIBUS), seed))] == "QD"  # type: ignore[arg-type]


def test_it_plays_for_the_game() -> None:
    """Points for the leader are better than points for whoever would end the game with them, while another leads."""
    seen = view(table("AD 2C 3C, QS 4C 5C, KD 6C 7C, 2D 8C 9C", "AD"), 1)
    near_the_end = msgspec.structs.replace(seen, rules=endless(seen.rules), totals=(50, 60, 70, 95))
    position = Position(near_the_end)
    assert position.worth([13, 0, 0, 0], 1) > position.worth([0, 0, 0, 13], 1)
    start = Position(msgspec.structs.replace(near_the_end, totals=(0, 0, 0, 0)))
    assert start.worth([13, 0, 0, 0], 1) == start.worth([0, 0, 0, 13], 1)


def test_a_void_is_remembered() -> None:
    """A seat that has shown to lack a suit is dealt none of it in any world."""
    state = table("2C 3C 4D 9S, 5C 6C 5D 8D, 7S 7D 6D TD, 8C 9C JD QD", "2C 5C 7S 8C")
    unseen = Position(view(state, to_act(state)[0])).unseen
    clubs = mask_of([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    assert [bool(may & clubs) for may in unseen.may] == [True, True, False, True]


@pytest.mark.parametrize(
    ("hands", "so_far", "played_card"),
    [
        ("AH KH QH 2C, 2H 8H TH 4C, 3H 5C 6C 7C, 4H 9C TC JC", "AH 2H 3H 4H QH", "8H"),
        ("AH KH 9S 2C, 2H 5H 3S 4C, 3H 8H AC 6H, 4H 7H 4S 5C", "AH 2H 3H 4H 9S 3S", "6H"),
    ],
    ids=["a high heart", "an ace, for a heart"],
)
def test_in_a_playout_what_stops_a_moon_is_kept(hands: str, so_far: str, played_card: str) -> None:
    """Behind a seat with all four penalty cards so far, the low heart is played and the high card saved."""
    state = table(hands, so_far, points={"H": 1}, breakers=[], moon_effect="add")
    assert state.hand is not None
    assert NAMES[choose(thumb_of(state.terms), state.hand, 0)] == played_card
