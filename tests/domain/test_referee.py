"""The rules against a second reading of them: `tests.support.referee`, move for move, in games of every kind."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import commands as c
from domain import events as e
from domain.cards import (
    NAMES,
    cards_of,
)
from domain.game import decide, fold, to_act
from domain.refusals import Refused
from domain.rules import trick_winner, why_not
from domain.ruleset import RuleSet, Terms
from domain.state import State
from domain.variants import ruleset_of
from tests.support.games import (
    MOONS,
    PUBLISHED,
    Game,
    hand_of,
    later_keys,
    play_game,
    rule_sets,
    seeds,
    steady,
)
from tests.support.referee import RefereeHand, value_of, winner_of

FEW = ["QS", "AH", "2H", "3H", "KH", "JD", "2D", "5S", "AS", "2C", "9C", "TC", "4D", "8H", "JS", "KS"]


@st.composite
def tiny_rules(draw: st.DrawFn) -> RuleSet:
    """A table of a few cards, most of them penalties: what is rare elsewhere happens here all the time.

    Dead tricks, dead first and last ones, moons, seats without a club, first tricks of banned cards alone.
    """
    players, hand, decks = draw(st.integers(3, 6)), draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 2]))
    copies = FEW * decks
    order = draw(st.permutations(range(len(copies))))
    kept = [copies[place] for place in order][: players * hand + draw(st.integers(0, 3))]
    gone = list(NAMES) * decks
    for card in kept:
        gone.remove(card)
    while len(kept) < players * hand:
        kept.append(gone.pop(0))
    choices: dict[str, Any] = {
        "kitty_to": ["first", "last"],
        "opener": ["forced", "left"],
        "opening_ban": [[], ["H", "QS"], ["H", "S", "D"]],
        "trick1_ban": [[], ["H", "QS"], ["QS"], ["H", "S", "D"]],
        "trick1_all_banned": ["any", "must_qs"],
        "breakers": [[], ["H"], ["H", "QS"], ["QS"]],
        "qs_hearts_lead": ["qs", "any"],
        "cancel": [True, False],
        "dead_trick": ["no_live_card", "two_pairs"],
        "dead_last": ["nobody", "leader"],
        "points": [{"H": 1, "QS": 13}, {"H": 1, "QS": 13, "JD": -10}, {"QS": 5}, {"H": 1, "AH": 0, "C": -1}],
        "moon_effect": MOONS,
        "moon_x": [0, 26],
        "moon_needs_bonus": [True, False],
        "floor": [None, 0, -5],
        "tie": ["shared", "continue"],
        "perfect_hand": [True, False],
        "target": [1, 5, 20, 40],
        "hand_limit": [1, 3, 5],
    }
    steps = [1, -1, 0] + ([2] if players % 2 == 0 else [])
    fields = {
        "variant": "custom",
        "players": players,
        "decks": decks,
        "removed": " ".join(gone),
        "hand": hand,
        "pass_count": draw(st.integers(0, min(2, hand))),
        "pass_cycle": draw(st.lists(st.sampled_from(steps), min_size=1, max_size=3)),
    }
    fields |= draw(later_keys(players))
    if hand == 1:
        fields["sun_from"] = 1
    return ruleset_of(fields | {key: draw(st.sampled_from(values)) for key, values in choices.items()})


def names_of(mask: int) -> list[str]:
    """The cards of a mask, by name."""
    return [NAMES[card] for card in cards_of(mask)]


class Follower:
    """The referee beside a game: told what happened, it says what should have."""

    def __init__(self, rules: RuleSet) -> None:
        self.plain = msgspec.to_builtins(rules)
        self.totals = [0] * rules.players
        self.points: list[int] = []
        self.choice: str | None = None
        self.taken: tuple[int | None] | None = None
        self.hand: RefereeHand | None = None

    def look(self, state: State) -> None:
        """Compare a position before a move."""
        assert self.hand is not None
        hand = hand_of(state)
        if state.phase == "play":
            assert self.hand.turn == hand.turn
            codes = {name: self.hand.judge(name) for name in NAMES}
            assert codes == {name: why_not(state.terms, hand, card) for card, name in enumerate(NAMES)}
        if state.phase == "moon":
            assert (self.hand.chooser(self.totals),) == to_act(state)

    def follow(self, event: e.Event, after: State) -> None:
        """Compare an event, ``after`` being the table right after it."""
        if isinstance(event, e.HandDealt):
            if event.hand > 1:
                assert self.hand is not None
                assert self.hand.end(self.totals, self.points) is None
            hand = hand_of(after)
            deal = [names_of(mask) for mask in hand.dealt]
            self.hand = RefereeHand(self.plain, hand.number, deal, names_of(hand.kitty))
            assert (self.hand.pass_to() == 0) is (after.phase == "play")
            self.choice = None
            if after.phase == "play":
                self.hand.open()
        elif self.hand is not None:
            self._follow_play(event, self.hand, after)

    def _follow_play(self, event: e.Event, hand: RefereeHand, after: State) -> None:
        match event:
            case e.PassesExchanged():
                hand.exchange([names_of(mask or 0) for mask in hand_of(after).passes])
                hand.open()
                assert [sorted(cards) for cards in hand.hands] == [
                    sorted(names_of(mask)) for mask in hand_of(after).held
                ]
            case e.CardPlayed():
                self.taken = hand.play(event.card)
            case e.TrickEnded():
                assert self.taken == (event.seat,)
                self.taken = None
            case e.MoonChosen():
                assert self.choice is None
                self.choice = event.choice
            case e.HandScored():
                assert (hand.chooser(self.totals) is not None) is (self.choice is not None)
                self.points = hand.points(self.totals, self.choice)
                self.totals = hand.totals(self.totals, self.points)
                assert (self.points, self.totals) == (list(event.points), list(event.totals))
            case e.GameEnded():
                assert list(event.winners) == hand.end(self.totals, self.points)


def follow_game(game: Game) -> None:
    """Let the referee follow a whole game."""
    assert game.state is not None
    follower = Follower(game.state.terms.rules)
    for step in game.steps:
        if step.before is not None and step.before.hand is not None:
            follower.look(step.before)
        state = step.before
        for event in step.events:
            state = fold(state, [event])
            follower.follow(event, state)
        assert follower.taken is None


@steady(150)
@given(tiny_rules(), seeds)
def test_tiny_tables_are_played_as_the_referee_says(rules: RuleSet, seed: int) -> None:
    """Codes of all 52 cards, openers, takers, moons, points, totals and ends, at tables where the rare is common."""
    follow_game(play_game(rules, seed))


@steady(150)
@given(rule_sets(), seeds)
def test_tables_of_any_rules_are_played_as_the_referee_says(rules: RuleSet, seed: int) -> None:
    """The same at tables of any size by any rules."""
    follow_game(play_game(rules, seed))


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_published_games_are_played_as_the_referee_says(variant: str, players: int) -> None:
    """The same in a whole game of every family and number of seats."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 5})
    follow_game(play_game(rules, f"{variant}-{players}"))


@steady(300)
@given(st.lists(st.sampled_from(NAMES), min_size=3, max_size=11), st.booleans(), st.booleans(), seeds)
def test_trick_winners_are_those_of_the_referee(
    trick: list[str], cancel: bool, strict: bool, leader: int
) -> None:
    """Any cards on the table, at most two of a kind, go where the referee sends them."""
    cards = [card for place, card in enumerate(trick) if trick[:place].count(card) < 2]
    dead = "two_pairs" if strict else "no_live_card"
    rules = RuleSet(variant="custom", decks=2, cancel=cancel, dead_trick=dead)
    leader %= len(cards)
    place = winner_of(cards, msgspec.to_builtins(rules))
    expected = None if place is None else (leader + place) % len(cards)
    assert expected == trick_winner(Terms(rules), leader, [NAMES.index(card) for card in cards])


@steady(100)
@given(rule_sets())
def test_values_of_cards_are_those_of_the_referee(rules: RuleSet) -> None:
    """A card's own entry of `points` wins over its suit's, and other cards are worth nothing."""
    plain = msgspec.to_builtins(rules)
    assert tuple(value_of(name, plain) for name in NAMES) == Terms(rules).values


@steady(40)
@given(tiny_rules(), seeds)
def test_the_decider_refuses_just_what_the_rules_refuse(rules: RuleSet, seed: int) -> None:
    """`decide` takes exactly the cards that no reason speaks against, and tells the others' code and the legal ones."""
    for step in play_game(rules, seed).steps:
        state = step.before
        if state is None or state.phase != "play":
            continue
        hand = hand_of(state)
        one = state.seats[hand.turn]
        legal = [name for card, name in enumerate(NAMES) if why_not(state.terms, hand, card) is None]
        for card, name in enumerate(NAMES):
            command = c.PlayCard(who=hand.turn if one.house_plays else one.player, card=card)
            if name in legal:
                first = decide(state, command)[0]
                assert isinstance(first, e.CardPlayed)
                assert (hand.turn, name) == (first.seat, first.card)
            else:
                with pytest.raises(Refused) as caught:
                    decide(state, command)
                assert why_not(state.terms, hand, card) == caught.value.code
                assert legal == caught.value.legal
