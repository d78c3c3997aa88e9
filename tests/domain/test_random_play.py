"""Properties that every position of every game has, whatever the rules: random rule sets, random play."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import commands as c
from domain import events as e
from domain.cards import NAMES, cards_of, count_cards, distinct_cards
from domain.game import decide, fold, is_over, to_act
from domain.refusals import Refused
from domain.rules import legal_plays, trick_winner, why_not
from domain.ruleset import RuleSet, Terms
from domain.state import HandState, State
from tests.support.play import Game
from tests.support.profile import examples
from tests.support.referee import RefereeHand, value_of, winner_of
from tests.support.rulesets import rule_sets
from tests.support.states import assert_same

SEEDS = st.integers(0, 2**32)


def all_cards(state: State, hand: HandState) -> Counter[int]:
    """Every card of the hand in play, wherever it lies."""
    cards = Counter(card for mask in hand.held for card in cards_of(mask))
    cards.update(hand.trick)
    for _, trick, _ in hand.history:
        cards.update(trick)
    cards.update(cards_of(hand.kitty))
    return cards


@given(rule_sets(), SEEDS)
@examples(60)
def test_somebody_can_always_move(rules: RuleSet, seed: int) -> None:
    """While a seat is to play some card of its hand is legal; the game waits for somebody until it ends."""
    for state in Game(rules, seed).positions():
        if is_over(state):
            assert () == to_act(state)
            break
        hand = state.hand
        assert hand is not None
        assert to_act(state)
        assert all(0 <= seat < rules.players for seat in to_act(state))
        if state.phase == "play":
            legal = legal_plays(state.terms, hand)
            assert 0 < count_cards(legal) <= len(distinct_cards(hand.held[hand.turn]))
            assert legal & hand.held[hand.turn] == legal


@given(rule_sets(), SEEDS)
@examples(60)
def test_no_card_is_lost_or_made(rules: RuleSet, seed: int) -> None:
    """Hands, table, finished tricks and kitty are the deck at every step, and a pass changes no hand's size."""
    for state in Game(rules, seed).positions():
        hand = state.hand
        assert hand is not None
        assert Counter(state.terms.deck) == all_cards(state, hand)
        assert Counter(state.terms.deck) == Counter(
            [card for mask in hand.dealt for card in cards_of(mask)] + cards_of(hand.kitty)
        )
        played = [0] * rules.players
        for leader, trick, _ in hand.history:
            for place in range(len(trick)):
                played[(leader + place) % rules.players] += 1
        for place in range(len(hand.trick)):
            played[(hand.leader + place) % rules.players] += 1
        assert [rules.hand - number for number in played] == [count_cards(mask) for mask in hand.held]


@given(rule_sets(), SEEDS)
@examples(60)
def test_points_add_up(rules: RuleSet, seed: int) -> None:
    """Without a moon the points of a hand are those of the cards in it, less a pile that a dead last trick lost."""
    game = Game(rules, seed)
    terms = Terms(rules)
    before = [0] * rules.players
    hand = None
    while not game.over:
        events = game.step()
        for event in events:
            if isinstance(event, e.HandScored):
                assert hand is not None
                after = fold(None, game.events[: game.events.index(event)]).hand
                assert after is not None
                lost = sum(terms.values[card] for card in after.pile)
                plain = [bad + good for bad, good in zip(after.penalty, after.bonus, strict=True)]
                assert sum(plain) + lost == sum(terms.values[card] for card in terms.deck)
                if after.pile:
                    assert after.history[-1][2] is None
                if list(event.points) != plain:
                    assert terms.penalty_cards in after.penalties_taken
                floor = -(10**9) if rules.floor is None else rules.floor
                sums = [max(floor, old + new) for old, new in zip(before, event.points, strict=True)]
                assert sums == list(event.totals)
                before = sums
        hand = game.now.hand
    assert before == game.now.totals


@given(rule_sets(), SEEDS)
@examples(60)
def test_the_rules_agree_with_a_second_reading(rules: RuleSet, seed: int) -> None:
    """Legal cards, codes, openers, winners, points, totals and ends are those of the independent referee."""
    game = Game(rules, seed)
    plain = msgspec.to_builtins(game.now.terms.rules)
    totals = [0] * rules.players
    referee = new_referee(plain, game.now)
    while not game.over:
        state = game.now
        hand = state.hand
        assert hand is not None
        if state.phase == "play":
            assert hand.turn == referee.turn
            codes = {name: referee.judge(name) for name in NAMES}
            assert codes == {name: why_not(state.terms, hand, card) for card, name in enumerate(NAMES)}
        if state.phase == "moon":
            assert (referee.shooter(),) == to_act(state)
        choice = None
        events = game.step()
        taken: tuple[int | None] | None = None
        for event in events:
            match event:
                case e.PassesExchanged():
                    referee.exchange([names_of(mask or 0) for mask in hand_of(fold_to(game, event)).passes])
                    referee.open()
                case e.CardPlayed():
                    taken = referee.play(event.card)
                case e.TrickEnded():
                    assert taken == (event.seat,)
                    taken = None
                case e.MoonChosen():
                    choice = event.choice
                case e.HandScored():
                    points = referee.points(totals, choice)
                    totals = referee.totals(totals, points)
                    assert (points, totals) == (list(event.points), list(event.totals))
                case e.GameEnded():
                    assert list(event.winners) == referee.end(totals, points)
                case e.HandDealt():
                    assert referee.end(totals, points) is None
                    referee = new_referee(plain, game.now)
        assert taken is None


def new_referee(plain: dict[str, object], state: State) -> RefereeHand:
    """The referee of the hand that has just been dealt."""
    hand = hand_of(state)
    referee = RefereeHand(plain, hand.number, [names_of(mask) for mask in hand.dealt], names_of(hand.kitty))
    assert (referee.pass_to() == 0) is (state.phase == "play")
    if state.phase == "play":
        referee.open()
    return referee


def names_of(mask: int) -> list[str]:
    """The cards of a mask, by name."""
    return [NAMES[card] for card in cards_of(mask)]


def hand_of(state: State) -> HandState:
    """The hand in play."""
    assert state.hand is not None
    return state.hand


def fold_to(game: Game, event: e.Event) -> State:
    """The table right after ``event``."""
    return fold(None, game.events[: game.events.index(event) + 1])


@given(rule_sets(), SEEDS, st.data())
@examples(40)
def test_folding_in_parts_is_folding_at_once(rules: RuleSet, seed: int, data: st.DataObject) -> None:
    """fold(all) is fold(prefix) and then the rest, wherever it is cut, and neither touches what it started from."""
    game = Game(rules, seed)
    game.finish()
    events = game.events
    for cut in data.draw(st.lists(st.integers(1, len(events) - 1), min_size=1, max_size=5)):
        prefix = fold(None, events[:cut])
        assert_same(game.now, fold(prefix, events[cut:]))
        assert_same(prefix, fold(None, events[:cut]))
    assert_same(game.now, fold(None, iter(events)))


@given(rule_sets(), SEEDS)
@examples(40)
def test_deciding_tells_the_state_that_its_events_lead_to(rules: RuleSet, seed: int) -> None:
    """What `advance` returns as state is the fold of the events it returns, move for move."""
    game = Game(rules, seed)
    state = fold(None, game.events)
    assert_same(state, game.now)
    while not game.over:
        state = fold(state, game.step())
        assert_same(state, game.now)


@given(rule_sets(), SEEDS)
@examples(40)
def test_legal_cards_are_played_and_others_refused(rules: RuleSet, seed: int) -> None:
    """`decide` takes exactly the cards that `legal_plays` lists, and refuses the others with the code of `why_not`."""
    game = Game(rules, seed)
    for number, state in enumerate(game.positions()):
        hand = state.hand
        assert hand is not None
        if state.phase != "play" or number % 5:
            continue
        who = state.seats[hand.turn].player or hand.turn
        legal = distinct_cards(legal_plays(state.terms, hand))
        for card, name in enumerate(NAMES):
            command = c.PlayCard(who=who, card=card)
            if card in legal:
                first = decide(state, command)[0]
                assert isinstance(first, e.CardPlayed)
                assert name == first.card
            else:
                with pytest.raises(Refused) as caught:
                    decide(state, command)
                assert why_not(state.terms, hand, card) == caught.value.code
                assert [NAMES[one] for one in legal] == caught.value.legal


@given(rule_sets(), SEEDS)
@examples(60)
def test_a_game_ends_within_its_hands(rules: RuleSet, seed: int) -> None:
    """A game is over after `hand_limit` hands at the latest, won by all the lowest."""
    game = Game(rules, seed)
    state = game.finish()
    assert rules.hand_limit is not None
    assert 1 <= len(state.hands) <= rules.hand_limit
    low = min(state.totals)
    assert tuple(seat for seat, total in enumerate(state.totals) if total == low) == state.winners
    last = game.events[-1]
    assert isinstance(last, e.GameEnded)
    assert state.reason == last.reason
    if len(state.hands) < rules.hand_limit:
        assert "target" == last.reason
        assert max(state.totals) >= rules.target


@given(st.lists(st.sampled_from(NAMES), min_size=3, max_size=11), rule_sets(), SEEDS)
@examples(300)
def test_trick_winners_agree_with_a_second_reading(trick: list[str], rules: RuleSet, leader: int) -> None:
    """Any cards on the table, at most two of a kind, go where the referee sends them."""
    cards = [card for place, card in enumerate(trick) if trick[:place].count(card) < 2]
    leader %= len(cards)
    place = winner_of(cards, msgspec.to_builtins(rules))
    expected = None if place is None else (leader + place) % len(cards)
    assert expected == trick_winner(Terms(rules), leader, [NAMES.index(card) for card in cards])


@given(rule_sets())
@examples(100)
def test_values_of_cards_agree_with_a_second_reading(rules: RuleSet) -> None:
    """A card's own entry of `points` wins over its suit's, and other cards are worth nothing."""
    plain = msgspec.to_builtins(rules)
    assert tuple(value_of(name, plain) for name in NAMES) == Terms(rules).values
