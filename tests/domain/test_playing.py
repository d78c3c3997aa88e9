"""The decider from the deal on: passing, playing, choosing a moon's effect, scoring, the next hand and the end."""

from __future__ import annotations

from typing import Any

import pytest

from domain import commands as c
from domain import events as e
from domain.cards import parse_card
from domain.game import deadline, fold, to_act
from domain.variants import ruleset_of
from tests.support.tables import (
    HAND_SECRET,
    after,
    dealt,
    give,
    given,
    hidden_pass,
    opened,
    play,
    played,
    small_rules,
)

HANDS = ["2C 3D 4S 5H", "3C 4D 5S 6H", "4C 5D 6S 7H", "5C 6D 7S 8H"]
PASSES = ["2C 3D", "5S 6H", "4C 7H", "6D 7S"]


def passing(step: int = 1, hands: list[str] = HANDS, **more: Any) -> list[e.Event]:
    """A table of four persons that passes two cards each by ``step``."""
    rules = small_rules(hands, pass_count=2, pass_cycle=[step], opener="forced", **more)
    return dealt(rules, hands)


def plain(hands: list[str] = HANDS, kitty: str = "", **more: Any) -> list[e.Event]:
    """A table of persons in a hold hand, p0 to lead unless ``more`` says otherwise."""
    return dealt(small_rules(hands, kitty, **more), hands, kitty)


# --- passing


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


def test_both_copies_change_hands() -> None:
    """Who gives one ace of hearts and gets another holds two cards again."""
    hands = ["AH 7C", "AH 8C", "TH 9C"]
    rules = small_rules(hands, decks=2, pass_count=1, pass_cycle=[1])
    table = after(dealt(rules, hands), give(0, "AH"), give(1, "8C"), give(2, "TH"))
    given(table).when(play(0, "TH")).then(e.CardPlayed, ...)
    given(table).when(play(0, "TH"), play(1, "AH")).then(e.CardPlayed, ...)
    table = after(table, play(0, "TH"))
    given(table).when(play(1, "AH"), play(2, "8C")).then(e.CardPlayed, e.TrickEnded(seat=1))


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


# --- whose move it is


def test_only_a_seat_moves_for_itself() -> None:
    """Strangers have no seat, and a seat's turn is its own."""
    given(plain()).when(c.PlayCard(who="x", card=0)).refused("seat/not_yours")
    given(passing()).when(c.PassCards(who="x", cards=(0, 1))).refused("seat/not_yours")
    given(plain()).when(play(1, "3C")).refused("play/not_your_turn", says="seat 0")
    given(plain()).when(play(0, "2C"), play(0, "3D")).refused("play/not_your_turn", says="seat 1")


def test_the_house_moves_for_its_bots_alone() -> None:
    """A bot's move is told as a bot's; a clock's is made for a person, and told as the clock's."""
    rules = small_rules(HANDS)
    table = dealt(rules, HANDS, seats="bppp", clock=10)
    given(table).when(c.PlayCard(who=0, card=0)).then(e.CardPlayed(seat=0, card="2C", by="bot"))
    given(table).when(c.PlayCard(who=0, card=0), c.PlayCard(who=1, card=1)).refused("seat/not_yours")
    given(table).when(c.PlayCard(who=0, card=0), c.PlayCard(who=1, card=1, by="clock", at=10_000)).then(
        e.CardPlayed(seat=1, card="3C", by="clock", at=10_000)
    )


def test_moves_wait_for_the_game_to_start() -> None:
    """At a table that is still filling nothing is passed or played."""
    table = opened(seats="ppbb")
    given(table).when(give(0, "2C 3C 4C")).refused("game/not_started")
    given(table).when(play(0, "2C")).refused("game/not_started")
    given(table).when(c.ChooseMoon(who="p0", choice="add")).refused("game/not_started")


def test_deadlines_are_for_persons_at_tables_with_a_clock() -> None:
    """The house acts so many seconds after the table came to wait; never where no clock is set."""
    assert deadline(fold(None, plain())) is None
    table = dealt(small_rules(HANDS), HANDS, seats="ppbp", clock=30)
    assert 30_000 == deadline(fold(None, table))
    table = after(table, play(0, "2C", at=5000))
    assert 35_000 == deadline(fold(None, table))
    table = after(table, play(1, "3C", at=6000))
    assert deadline(fold(None, table)) is None
    full = opened(seats="ppbb", ready_seconds=20)
    assert deadline(fold(None, full)) is None
    assert 20_700 == deadline(fold(None, [*full, e.SeatReady(at=700, seat=0, entropy="")]))


# --- playing


def test_a_trick_ends_with_its_last_card() -> None:
    """Its winner leads next."""
    table = after(plain(), play(0, "2C"), play(1, "3C"), play(2, "4C"))
    given(table).when(play(3, "5C")).then(e.CardPlayed(seat=3, card="5C", by="player"), e.TrickEnded(seat=3))
    given(after(table, play(3, "5C"))).when(play(3, "6D")).then(e.CardPlayed)


def test_the_last_trick_scores_the_hand_and_reveals_it() -> None:
    """Secret, deal, kitty and passes become public, with the points and totals; then the game goes on or ends."""
    hands = ["2C 3D", "3C 4D", "4C 5D"]
    passes = ["3D", "4D", "4C"]
    rules = small_rules(hands, "QS", pass_count=1, pass_cycle=[1], opener="forced")
    table = after(dealt(rules, hands, "QS"), *(give(seat, card) for seat, card in enumerate(passes)))
    table = played(table, "2C 3C 5D 3D 4D", first=0)
    score = e.HandScored(
        hand=1,
        secret=HAND_SECRET.hex(),
        deal=("2C 3D", "3C 4D", "4C 5D"),
        kitty="QS",
        passes=("3D", "4D", "4C"),
        points=(0, 13, 0),
        totals=(0, 13, 0),
    )
    given(table).when(play(0, "4C")).then(
        e.CardPlayed(seat=0, card="4C", by="player"),
        e.TrickEnded(seat=2),
        score,
        ended((0, 2), (0, 13, 0)),
    )


# --- scoring and the next hand


def moon_hands() -> list[str]:
    """Hands of which seat 0 takes all there is, leading."""
    return ["AH QS", "2H 2S", "3H 3S"]


def moon_pending(**more: Any) -> list[e.Event]:
    """A table at which p0 has shot the moon and must choose."""
    rules = small_rules(moon_hands(), **({"moon_effect": "choice", "breakers": []} | more))
    return played(dealt(rules, moon_hands()), "AH 2H 3H QS 2S 3S")


def scored(points: tuple[int, ...], totals: tuple[int, ...]) -> e.HandScored:
    """The end of the hand of `moon_pending`."""
    return e.HandScored(
        hand=1,
        secret=HAND_SECRET.hex(),
        deal=("QS AH", "2S 2H", "3S 3H"),
        kitty="",
        passes=None,
        points=points,
        totals=totals,
    )


def ended(winners: tuple[int, ...], totals: tuple[int, ...], reason: Any = "limit") -> e.GameEnded:
    """The end of the game."""
    return e.GameEnded(winners=winners, totals=totals, reason=reason, secret=None)


@pytest.mark.parametrize(
    ("choice", "points", "winners"), [("add", (0, 26, 26), (0,)), ("subtract", (-26, 0, 0), (0,))]
)
def test_who_shot_the_moon_chooses(choice: Any, points: tuple[int, ...], winners: tuple[int, ...]) -> None:
    """The choice is an event of its own, after the last trick and before the score."""
    given(moon_pending()).when(c.ChooseMoon(who="p0", choice=choice)).then(
        e.MoonChosen(seat=0, choice=choice, by="player"), scored(points, points), ended(winners, points)
    )


def test_nobody_else_chooses_and_nothing_else_happens_meanwhile() -> None:
    """The table waits for the shooter alone."""
    table = moon_pending()
    assert e.TrickEnded(seat=0) == table[-1]
    assert ("moon", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
    given(table).when(c.ChooseMoon(who="p1", choice="add")).refused("moon/not_now", says="another")
    given(table).when(c.ChooseMoon(who="x", choice="add")).refused("seat/not_yours")
    given(table).when(play(0, "AH")).refused("play/hand_over")
    given(table).when(play(1, "AH")).refused("play/hand_over")


def test_no_moon_is_chosen_for_where_none_was_shot() -> None:
    """Neither in play nor where the effect is fixed."""
    given(plain()).when(c.ChooseMoon(who="p0", choice="add")).refused("moon/not_now")
    table = played(dealt(small_rules(moon_hands(), moon_effect="add", breakers=[]), moon_hands()), "AH 2H")
    given(table).when(c.ChooseMoon(who="p0", choice="add")).refused("moon/not_now")


@pytest.mark.parametrize(
    ("effect", "points"),
    [("add", (0, 26, 26)), ("subtract", (-26, 0, 0)), ("none", (16, 0, 0)), ("auto", (0, 26, 26))],
)
def test_a_fixed_effect_needs_no_choice(effect: str, points: tuple[int, ...]) -> None:
    """The last card scores the hand at once."""
    rules = small_rules(moon_hands(), moon_effect=effect, breakers=[])
    table = played(dealt(rules, moon_hands()), "AH 2H 3H QS 2S")
    winners = tuple(seat for seat in range(3) if points[seat] == min(points))
    given(table).when(play(2, "3S")).then(
        e.CardPlayed(seat=2, card="3S", by="player"),
        e.TrickEnded(seat=0),
        scored(points, points),
        ended(winners, points),
    )


def test_the_next_hand_is_dealt_in_the_same_breath() -> None:
    """Where the game goes on the score is followed by the deal of the next hand, opened by the next seat."""
    rules = small_rules(moon_hands(), moon_effect="none", breakers=[], hand_limit=None)
    table = played(dealt(rules, moon_hands()), "AH 2H 3H QS 2S")
    events = given(table).when(play(2, "3S")).then(e.CardPlayed, e.TrickEnded, e.HandScored, e.HandDealt)
    assert 2 == events[-1].hand  # type: ignore[attr-defined]
    state = fold(None, [*table, *events])
    assert (2, 1, (1,)) == (state.hand.number, state.hand.opener, to_act(state))  # type: ignore[union-attr]
    assert ([(16, 0, 0)], [16, 0, 0]) == (state.hands, state.totals)


def test_the_target_comes_before_the_limit() -> None:
    """Where both end the game the target is the reason; a tie that must be played out leaves the limit."""
    rules = small_rules(moon_hands(), moon_effect="none", breakers=[], target=16)
    table = played(dealt(rules, moon_hands()), "AH 2H 3H QS 2S")
    events = given(table).when(play(2, "3S")).then(e.CardPlayed, ...)
    assert ended((1, 2), (16, 0, 0), "limit") == events[-1]
    shared = small_rules(moon_hands(), moon_effect="none", breakers=[], target=16, tie="shared")
    table = played(dealt(shared, moon_hands()), "AH 2H 3H QS 2S")
    events = given(table).when(play(2, "3S")).then(e.CardPlayed, ...)
    assert ended((1, 2), (16, 0, 0), "target") == events[-1]


def test_the_dealer_moves_on_and_the_cycle_goes_round() -> None:
    """The dealer's left of hand h is seat (h-1) mod n, and the pass follows the cycle through all hands."""
    rules = ruleset_of({"variant": "basic"})
    for hand, offset in [(1, 1), (2, 3), (3, 2), (4, 0), (5, 1), (6, 3), (8, 0)]:
        state = fold(None, dealt(rules, HANDS, hand=hand))
        assert state.hand is not None
        assert ((hand - 1) % 4, offset) == (state.hand.opener, state.hand.offset)
        assert ("pass" if offset else "play") == state.phase
