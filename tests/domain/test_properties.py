"""What holds in every game by every rule set, published or of the house."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import events as e
from domain.cards import BITS, CARDS, FIRST_COPIES, cards_of, parse_cards
from domain.game import advance, decide, evolve, fold, is_over, to_act
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
    random_move,
    rule_sets,
    steady,
)

seeds = st.integers(0, 2**32)


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
def test_a_pass_changes_no_hand_size_and_moves_cards_by_the_offset(rules: RuleSet, seed: int) -> None:
    """After the exchange every seat holds as many cards as before: its own less its pass, and one other pass."""
    for step in play_game(rules, seed).steps:
        if any(isinstance(event, e.PassesExchanged) for event in step.events):
            hand = hand_of(step.after)
            for seat, held in enumerate(hand.held):
                giver = (seat - step.after.terms.pass_offset(hand.number)) % rules.players
                given, got = cards_of(hand.passes[seat] or 0), cards_of(hand.passes[giver] or 0)
                assert len(given) == len(got) == rules.pass_count
                kept = Counter(cards_of(hand.dealt[seat])) - Counter(given)
                assert Counter(cards_of(held)) == kept + Counter(got)
                assert held.bit_count() == rules.hand


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


@steady(200)
@given(rule_sets(), seeds)
def test_points_follow_from_the_cards_taken(rules: RuleSet, seed: int) -> None:
    """The points of a hand are those of the cards taken, recounted from the events; nothing is lost but a dead end."""
    terms = Terms(rules)
    game = play_game(rules, seed)
    totals = [0] * rules.players
    for hand in split_hands(game.events):
        taken, lost = recount(rules, hand)
        scored = hand.scored
        assert sum(map(len, taken)) + len(lost) == len(terms.deck)
        assert list(scored.points) in right_points(terms, taken, hand.choice)
        if all(list(scored.points) != points for points in moon_points(terms, taken)):
            worth = sum(terms.values[card] for card in terms.deck) - sum(terms.values[card] for card in lost)
            assert sum(scored.points) == worth
        floor = rules.floor
        totals = [
            total + point if floor is None else max(floor, total + point)
            for total, point in zip(totals, scored.points, strict=True)
        ]
        assert list(scored.totals) == totals


@steady(150)
@given(rule_sets(), seeds)
def test_every_trick_goes_to_whom_the_rules_give_it(rules: RuleSet, seed: int) -> None:
    """The highest card of the led suit wins, the later of two equal ones; cancelled cards win nothing."""
    for hand in split_hands(play_game(rules, seed).events):
        for at, winner in enumerate(hand.winners):
            last = at == rules.hand - 1
            seats, cards = zip(*hand.tricks[at], strict=True)
            right = right_winner(rules, cards)
            if right is None:
                leads = rules.dead_last == "leader" and last
                assert winner == (seats[0] if leads else None)
            else:
                assert winner == seats[right]


def right_winner(rules: RuleSet, cards: Sequence[str]) -> int | None:
    """The place in a trick of the card that wins it, worked out on the texts of the cards."""
    copies = Counter(cards)
    if rules.cancel and rules.dead_trick == "two_pairs" and list(copies.values()).count(2) >= 2:
        return None
    live = [
        ("23456789TJQKA".index(card[0]), at)
        for at, card in enumerate(cards)
        if card[1] == cards[0][1] and not (rules.cancel and copies[card] == 2)
    ]
    return max(live)[1] if live else None


class Hand(msgspec.Struct):
    """The events of one finished hand, sorted by kind."""

    plays: list[str]
    tricks: list[list[tuple[int, str]]]
    """Seat and card of each play."""
    winners: list[int | None]
    choice: str | None
    scored: e.HandScored


def split_hands(events: Sequence[e.Event]) -> list[Hand]:
    """The finished hands of a game."""
    hands: list[Hand] = []
    plays: list[tuple[int, str]] = []
    winners: list[int | None] = []
    choice = None
    for event in events:
        if isinstance(event, e.CardPlayed):
            plays.append((event.seat, event.card))
        elif isinstance(event, e.TrickEnded):
            winners.append(event.seat)
        elif isinstance(event, e.MoonChosen):
            choice = event.choice
        elif isinstance(event, e.HandScored):
            size = len(plays) // len(winners)
            tricks = [plays[at : at + size] for at in range(0, len(plays), size)]
            hands.append(Hand([card for _, card in plays], tricks, winners, choice, event))
            plays, winners, choice = [], [], None
    return hands


def recount(rules: RuleSet, hand: Hand) -> tuple[list[list[int]], list[int]]:
    """The cards each seat took in a hand, and the cards that nobody took."""
    taken: list[list[int]] = [[] for _ in range(rules.players)]
    pile: list[int] = []
    for at, winner in enumerate(hand.winners):
        pile += [CARDS[name] for name in hand.plays[at * rules.players : (at + 1) * rules.players]]
        if at == (0 if rules.kitty_to == "first" else rules.hand - 1):
            pile += parse_cards(hand.scored.kitty)
        if winner is not None:
            taken[winner] += pile
            pile = []
    return taken, pile


def moon_points(terms: Terms, taken: list[list[int]]) -> list[list[int]]:
    """What a hand may score if somebody shot the moon in it: added, or subtracted; empty if nobody did."""
    rules = terms.rules
    bonus = [sum(min(0, terms.values[card]) for card in cards) for cards in taken]
    for seat, cards in enumerate(taken):
        needed = [card for card in terms.deck if terms.values[card] > 0]
        if not needed or rules.moon_effect == "none" or Counter(needed) - Counter(cards):
            continue
        bonuses = [card for card in terms.deck if terms.values[card] < 0]
        if rules.moon_needs_bonus and Counter(bonuses) - Counter(cards):
            continue
        added = [points + (rules.moon_x if other != seat else 0) for other, points in enumerate(bonus)]
        subtracted = [points - (rules.moon_x if other == seat else 0) for other, points in enumerate(bonus)]
        return [added, subtracted]
    return []


def right_points(terms: Terms, taken: list[list[int]], choice: str | None) -> list[list[int]]:
    """What a hand may score; several only where the rules choose the better moon."""
    moons = moon_points(terms, taken)
    if not moons:
        assert choice is None
        return [[sum(terms.values[card] for card in cards) for cards in taken]]
    effect = terms.rules.moon_effect
    assert (choice is not None) is (effect == "choice")
    return {"add": moons[:1], "subtract": moons[1:], "auto": moons}[choice if choice else effect]


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
                and any(
                    right_winner(rules, [card for _, card in hand.tricks[-1]]) is None
                    for hand in split_hands(game.events)
                ),
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


def test_a_random_move_is_never_asked_of_a_finished_game() -> None:
    """The player of these tests stops at the end of the game, where nobody is to act."""
    game = play_game(ruleset_of({"variant": "basic", "hand_limit": 1}), 5)
    assert is_over(game.end)
    with pytest.raises(IndexError):
        random_move(game.end, Random(1))
