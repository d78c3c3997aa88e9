"""The decider at the pass: what may be passed, by whom and when, and to whom it goes."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as e
from domain.cards import parse_card
from domain.game import fold, to_act
from domain.variants import ruleset_of
from domain.view import view
from tests.support.tables import (
    HANDS,
    PASSES,
    after,
    dealt,
    give,
    given,
    hidden_pass,
    moon_pending,
    passing,
    plain,
    play,
    played,
    small_rules,
)


def test_a_pass_is_told_as_a_commitment() -> None:
    """The cards themselves stay hidden, whatever order they were named in; the seats still to pass are waited for."""
    given(passing()).when(give(0, "3D 2C")).then(
        e.CardsPassed(seat=0, cards=hidden_pass(0, "2C 3D"), by="player", hidden="2C 3D")
    )
    assert (0, 1, 2, 3) == to_act(fold(None, passing()))
    assert (1, 2, 3) == to_act(fold(None, after(passing(), give(0, "2C 3D"))))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
def test_the_last_pass_exchanges_whatever_the_order(order: tuple[int, ...]) -> None:
    """All seats pass at once; with the last of them the cards change hands and the opener leads."""
    commands = [give(seat, PASSES[seat]) for seat in order]
    given(passing()).when(*commands).then(e.CardsPassed, e.PassesExchanged(hand=1))
    state = fold(None, after(passing(), *commands))
    assert ("play", (1,)) == (state.phase, to_act(state))


@pytest.mark.parametrize(("step", "receivers"), [(1, [1, 2, 3, 0]), (-1, [3, 0, 1, 2]), (2, [2, 3, 0, 1])])
def test_cards_are_passed_in_the_direction_of_the_hand(step: int, receivers: list[int]) -> None:
    """Left is the next seat, right the one before, across the one opposite; each lead shows who holds 2C."""
    table = after(passing(step), *(give(seat, cards) for seat, cards in enumerate(PASSES)))
    given(table).when(play(receivers[0], "2C")).then(e.CardPlayed, ...)
    for giver, receiver in enumerate(receivers):
        for card in PASSES[giver].split():
            held = fold(None, table).hand.held[receiver]  # type: ignore[union-attr]
            assert held >> parse_card(card) & 1


@pytest.mark.parametrize(
    ("players", "steps"),
    [(3, [1, 2]), (4, [1, 3, 2]), (5, [1, 4]), (6, [1, 5, 3]), (10, [1, 9, 5]), (11, [1, 10])],
)
def test_steps_are_counted_in_seats_to_the_left(players: int, steps: list[int]) -> None:
    """Right is one back around the table, across is half way."""
    cycle = [1, -1, 2][: len(steps)]
    decks = 2 if players > 4 else 1
    rules = ruleset_of(
        {"variant": "custom", "players": players, "decks": decks, "hand": 9, "pass_cycle": cycle}
    )
    for hand in range(1, 7):
        table = dealt(rules, ["2C"] * 2 + ["3C"] * (players - 2), hand=hand)
        state = fold(None, table)
        assert steps[(hand - 1) % len(steps)] == state.hand.offset  # type: ignore[union-attr]


def test_the_dealer_moves_on_and_the_cycle_goes_round() -> None:
    """The dealer's left of hand h is seat (h-1) mod n, and the pass follows the cycle through all hands."""
    rules = ruleset_of({"variant": "basic"})
    for hand, offset in [(1, 1), (2, 3), (3, 2), (4, 0), (5, 1), (6, 3), (8, 0)]:
        state = fold(None, dealt(rules, HANDS, hand=hand))
        assert state.hand is not None
        assert ((hand - 1) % 4, offset) == (state.hand.opener, state.hand.offset)
        assert ("pass" if offset else "play") == state.phase


@pytest.mark.parametrize(
    "cards",
    ["", "2C", "2C 3D 4S", "2C 2C", "2C 3C", "3C 4D", "2C 2C 2C", "2C 3D 2C"],
)
def test_a_pass_is_so_many_of_the_cards_held(cards: str) -> None:
    """Not fewer, not more, no card twice that is held once, no card of another seat."""
    given(passing()).when(give(0, cards)).refused("pass/wrong_cards", says="2 of the cards held")


@pytest.mark.parametrize(
    ("cards", "right"),
    [("AH AH 7C", True), ("AH 7C 8C", True), ("AH AH AH", False), ("7C 7C AH", False)],
)
def test_identical_cards_are_two_cards(cards: str, right: bool) -> None:
    """Two aces of hearts may be passed by whoever holds two, three by nobody (4.17)."""
    hands = ["AH AH 7C 8C", "2C 3C 4C 5C", "2D 3D 4D 5D"]
    rules = small_rules(hands, decks=2, pass_count=3, pass_cycle=[1])
    when = given(dealt(rules, hands)).when(give(0, cards))
    if right:
        when.then(e.CardsPassed)
    else:
        when.refused("pass/wrong_cards")


def test_passing_through_two_decks_keeps_copies_apart() -> None:
    """A seat that gives one nine of clubs and is given the other holds one, or two where it kept its own."""
    hands = ["9C 2C 3C", "9C 4C 5C", "6C 7C 8C"]
    rules = small_rules(hands, decks=2, cancel=True, pass_count=1, pass_cycle=[1])
    table = dealt(rules, hands)
    table = after(table, give(0, "9C"), give(1, "4C"), give(2, "6C"))
    assert [3, 3, 3] == [mask.bit_count() for mask in fold(None, table).hand.held]  # type: ignore[union-attr]
    table = played(table, "2C 9C 4C", first=0)
    assert 2 == view(fold(None, table), 1).seats[1].cards
    given(table).when(play(1, "9C")).then(e.CardPlayed(seat=1, card="9C", by="player"))


def test_nobody_passes_twice_or_out_of_time() -> None:
    """A pass stands; in a hold hand, during play and at a pending moon there is none."""
    given(passing()).when(give(0, "2C 3D"), give(0, "4S 5H")).refused("pass/not_now")
    table = after(passing(), *(give(seat, cards) for seat, cards in enumerate(PASSES)))
    given(table).when(give(1, "2C 3D")).refused("pass/not_now")
    given(plain()).when(give(0, "2C 3D")).refused("pass/not_now")
    given(passing(0)).when(give(0, "2C 3D")).refused("pass/not_now")
    given(moon_pending()).when(give(0, "")).refused("pass/not_now")


def test_no_card_is_played_before_the_exchange() -> None:
    """Not even by a seat that has passed."""
    given(passing()).when(give(0, "3D 4S"), play(0, "2C")).refused("play/not_your_turn", says="pass")
    given(passing()).when(c.ChooseMoon(who="p0", choice="add")).refused("moon/not_now")


def test_no_pass_at_all_where_none_is_counted() -> None:
    """`pass_count` 0 makes every hand a hold hand, whatever the cycle says."""
    table = dealt(small_rules(HANDS, pass_count=0, pass_cycle=[1, -1]), HANDS)
    assert "play" == fold(None, table).phase


@pytest.mark.parametrize("cycle", [1, -1])
def test_nobody_leads_before_the_exchange(cycle: int) -> None:
    """During the pass no view says who holds the lowest club: the lead is given once the cards have changed hands."""
    hands = ["AH 2C 3C", "2H 4C 5C", "3H 6C 7C"]
    table = dealt(small_rules(hands, opener="forced", pass_count=1, pass_cycle=[cycle]), hands)
    for seat in (None, 0, 1, 2):
        look = view(fold(None, table), seat)
        assert ("pass", -1, None) == (look.phase, look.leader, look.turn)
    table = after(table, give(0, "2C"), give(1, "2H"))
    assert -1 == view(fold(None, table), None).leader
    look = view(fold(None, after(table, give(2, "3H"))), None)
    assert ("play", cycle % 3, cycle % 3) == (look.phase, look.leader, look.turn)
