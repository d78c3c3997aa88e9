"""What may be led, followed with and discarded: the rules document sections 1, 2 and 8, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from domain import events as e
from domain.cards import format_mask
from domain.game import fold
from domain.rules import find_opener
from domain.ruleset import Terms
from domain.variants import ruleset_of
from domain.view import view
from tests.support.tables import (
    after,
    dealt,
    give,
    given,
    opened,
    play,
    played,
    small_rules,
)

ALL_PENALTY = "2H 3H QS"


def table(hands: list[str], plays: str = "", **rules: Any) -> list[e.Event]:
    """A table of persons, p0 to lead, after some plays."""
    return played(dealt(small_rules(hands, **rules), hands), plays)


def told(events: list[e.Event], seat: int) -> str:
    """The cards that the table tells a seat it may play."""
    own = view(fold(None, events), seat).own
    assert own is not None
    return format_mask(own.legal)


def check(events: list[e.Event], seat: int, legal: str, code: str, refused: str) -> None:
    """``seat`` may play just ``legal``; each of ``refused`` is refused with ``code``, and the legal ones named."""
    assert legal == told(events, seat)
    for card in legal.split():
        given(events).when(play(seat, card)).then(e.CardPlayed(seat=seat, card=card, by="player"), ...)
    for card in refused.split():
        given(events).when(play(seat, card)).refused(code, legal=legal)


# --- the opening lead


def test_the_lowest_club_opens() -> None:
    """Its holder leads, and leads just that."""
    events = table(["5C 3D 4H", "3C 4D 5D", "4C AC 6D"], opener="forced")
    given(events).when(play(0, "5C")).refused("play/not_your_turn")
    check(events, 1, "3C", "play/must_open_with", "4D 5D")


@pytest.mark.parametrize(("players", "club"), [(3, "2C"), (5, "3C"), (6, "2C"), (7, "2C")])
def test_the_lowest_club_of_a_trimmed_deck_opens(players: int, club: str) -> None:
    """At five seats 2C is removed, so 3C opens; at six 2C stays in."""
    rules = ruleset_of({"variant": "standard", "players": players, "pass_count": 0})
    events = opened(rules, "b" * players)
    hands = events[-1].hidden.deal  # type: ignore[attr-defined]
    holder = next(seat for seat, cards in enumerate(hands) if club in cards.split())
    assert club == told(events, holder)


def test_the_opener_is_found_after_the_pass() -> None:
    """Whoever was passed the card leads."""
    hands = ["2C 3D", "3C 4D", "4C 5D"]
    events = dealt(small_rules(hands, opener="forced", pass_count=1, pass_cycle=[-1]), hands)
    events = after(events, give(0, "2C"), give(1, "4D"), give(2, "5D"))
    check(events, 2, "2C", "play/must_open_with", "4C")


def test_a_club_in_the_kitty_opens_nothing() -> None:
    """The lowest club that is held does."""
    hands = ["5C 3D", "3C 4D", "4C 5D"]
    events = dealt(small_rules(hands, "2C", opener="forced"), hands, "2C")
    check(events, 1, "3C", "play/must_open_with", "4D")


@pytest.mark.parametrize(("hand", "seat"), [(1, 1), (2, 1), (3, 3), (4, 3), (5, 1)])
def test_of_two_holders_the_first_from_the_dealers_left_opens(hand: int, seat: int) -> None:
    """With two decks two seats may hold the lowest club; the dealer's left itself comes first."""
    hands = ["5C 2D", "3C 3D", "6C 4D", "3C 5D"]
    events = dealt(small_rules(hands, decks=2, opener="forced"), hands, hand=hand)
    check(events, seat, "3C", "play/must_open_with", "3D" if seat == 1 else "5D")


def test_where_no_club_is_held_dealers_left_opens() -> None:
    """With any card that is not in the opening ban; breakers do not bind it."""
    hands = ["2H QS 3S", "3H 4S 3D", "4H 5S 4D"]
    check(table(hands, opener="forced"), 0, "3S QS 2H", "", "")
    check(table(hands, opener="forced", opening_ban=["H"]), 0, "3S QS", "play/penalty_opening_lead", "2H")
    events = dealt(small_rules(hands, opener="forced", hand_limit=3), hands, hand=3)
    check(events, 2, "4D 5S 4H", "", "")
    hand = fold(None, events).hand
    assert hand is not None
    assert (2, -1) == find_opener(Terms(small_rules(hands, opener="forced")), hand)


@pytest.mark.parametrize("hand", [1, 2, 3, 4, 6])
def test_dealers_left_opens_where_the_rules_say_so(hand: int) -> None:
    """The dealer moves one seat to the left with each hand."""
    hands = ["2C 3D", "3C 4D", "4C 5D"]
    events = dealt(small_rules(hands), hands, hand=hand)
    seat = (hand - 1) % 3
    check(events, seat, hands[seat], "", "")
    given(events).when(play((seat + 1) % 3, hands[(seat + 1) % 3][:2])).refused("play/not_your_turn")


def test_the_opening_ban_holds_while_another_card_is_held() -> None:
    """Cancellation: no heart and no QS as the opening lead; a hand of nothing else leads any card."""
    rules: dict[str, Any] = {"opening_ban": ["H", "QS"], "breakers": ["H", "QS"]}
    check(table(["2H QS 3D", "3H 4S 4D", "4H 5S 5D"], **rules), 0, "3D", "play/penalty_opening_lead", "QS 2H")
    check(table([ALL_PENALTY, "4H 4S 4D", "5H 5S 5D"], **rules), 0, "QS 2H 3H", "", "")


def test_breakers_do_not_bind_the_opening_lead() -> None:
    """Without an opening ban a heart may open though unbroken, and then they are broken."""
    hands = ["2H QS 3D", "3H 4S 4D", "4H 5S 5D"]
    check(table(hands), 0, "3D QS 2H", "", "")
    check(table(hands, qs_hearts_lead="qs"), 0, "3D QS 2H", "", "")
    assert view(fold(None, table(hands, "2H")), None).hearts_broken


# --- following and the first trick


def test_suit_must_be_followed() -> None:
    """Whoever holds the suit led plays it; whoever does not plays anything after the first trick."""
    events = table(["2C 3D 4S", "3C 2D 5H", "4C 6S 7H"], "2C 3C 4C 6S 4S")
    check(events, 1, "2D 5H", "", "")
    check(table(["2C 3D", "3C 2D", "4C 6S"], "2C"), 1, "3C", "play/must_follow_suit", "2D")


BANS: list[tuple[list[str], str, str]] = [
    (["H", "QS"], "2D", "QS 3H"),
    (["QS"], "2D 3H", "QS"),
    ([], "2D QS 3H", ""),
    (["H"], "2D QS", "3H"),
    (["H", "QS", "2D"], "2D QS 3H", ""),
]


@pytest.mark.parametrize(("ban", "legal", "refused"), BANS)
def test_the_ban_of_the_first_trick_is_for_who_cannot_follow(
    ban: list[str], legal: str, refused: str
) -> None:
    """Its cards may not be discarded while the hand holds another; a hand of nothing else plays any of them."""
    events = table(["2C 5D 4S", "2D QS 3H", "4C 6S 7H"], "2C", trick1_ban=ban)
    check(events, 1, legal, "play/penalty_on_first_trick", refused)


def test_the_ban_does_not_free_from_following() -> None:
    """Where its suit is led a banned card is no discard: it must be played if it is all there is of the suit."""
    hands = ["4S 5D", "QS 2D", "6H 7H"]
    check(table(hands, "4S", trick1_ban=["H", "QS"]), 1, "QS", "play/must_follow_suit", "2D")
    hands = ["4H 5D", "3H 2D", "6S 7S"]
    check(table(hands, "4H", trick1_ban=["H", "QS"]), 1, "3H", "play/must_follow_suit", "2D")


def test_the_ban_is_for_followers() -> None:
    """The leader of the first trick is bound by the opening ban alone."""
    check(table(["QS 2H 3C", "4S 3H 4C", "5S 4H 5C"], trick1_ban=["H", "QS"]), 0, "3C QS 2H", "", "")


@pytest.mark.parametrize(
    ("rule", "hand", "legal", "refused"),
    [
        ("any", ALL_PENALTY, "QS 2H 3H", ""),
        ("must_qs", ALL_PENALTY, "QS", "2H 3H"),
        ("must_qs", "2H 3H 4H", "2H 3H 4H", ""),
        ("must_qs", "2H QS 4D", "4D", "2H QS"),
    ],
)
def test_a_hand_of_penalty_cards_on_the_first_trick(rule: str, hand: str, legal: str, refused: str) -> None:
    """Any card is legal, or the queen must go where it is held (decision 1)."""
    events = table(["2C 5D 4S", hand, "4C 6S 7H"], "2C", trick1_ban=["H", "QS"], trick1_all_banned=rule)
    check(events, 1, legal, "play/penalty_on_first_trick", refused)


def test_the_ban_ends_with_the_first_trick() -> None:
    """Even where that was dead."""
    hands = ["4C 2D", "4C QS", "5D 6D"]
    events = table(hands, "4C 4C 5D", decks=2, cancel=True, trick1_ban=["H", "QS"])
    given(events).when(play(0, "2D"), play(1, "QS")).then(e.CardPlayed(seat=1, card="QS", by="player"))


# --- leading hearts


def third(hands: list[str], plays: str, **rules: Any) -> list[e.Event]:
    """A table at the lead to a later trick."""
    return table(hands, plays, **{"breakers": ["H", "QS"], **rules})


def test_hearts_are_not_led_before_they_are_broken() -> None:
    """A hand with another card leads that."""
    events = third(["AC 2H 3D", "3C 4S 4D", "4C 5S 5D"], "AC 3C 4C")
    check(events, 0, "3D", "play/hearts_not_broken", "2H")


BREAKS = [
    (["H"], "2D 3H 4D", True),
    (["H"], "2D QS 4D", False),
    (["H", "QS"], "2D QS 4D", True),
    (["QS"], "2D QS 4D", True),
    (["QS"], "2D 3H 4D", False),
    ([], "2D 5S 4D", True),
    (["H", "QS"], "2D 5S 4D", False),
    (["S"], "2D 5S 4D", True),
]


@pytest.mark.parametrize(("breakers", "trick", "broken"), BREAKS)
def test_what_breaks_hearts(breakers: list[str], trick: str, broken: bool) -> None:
    """The classes of `breakers`, played to any trick; none means that hearts may always be led."""
    discard = trick.split()[1]
    hands = ["AC 4D 2H 6S", f"3C {discard} 7S 8S", "4C 2D 9S TS"]
    events = third(hands, f"AC 3C 4C 4D {discard} 2D", breakers=breakers)
    when = given(events).when(play(0, "2H"))
    if broken:
        when.then(e.CardPlayed(seat=0, card="2H", by="player"))
    else:
        when.refused("play/hearts_not_broken", legal="6S")


def test_leading_the_queen_breaks_where_it_is_a_breaker() -> None:
    """The queen may be led to any trick after the first."""
    hands = ["AC QS 2H 3H", "3C 4S 4D 5D", "4C 5S 6D 7D"]
    for breakers, broken in ((["H", "QS"], True), (["H"], False)):
        events = third(hands, "AC 3C 4C QS 4S 5S", breakers=breakers)
        assert broken is view(fold(None, events), None).hearts_broken
        check(events, 0, "2H 3H", "", "")


def test_nothing_but_hearts_may_be_led() -> None:
    """A hand of hearts alone leads one, and breaks them (decision 2)."""
    hands = ["AC 2H 3H", "3C 4S 4H", "4C 5S 5D"]
    events = third(hands, "AC 3C 4C")
    check(events, 0, "2H 3H", "", "")
    assert not view(fold(None, events), None).hearts_broken
    assert view(fold(None, played(events, "2H")), None).hearts_broken


@pytest.mark.parametrize(
    ("rule", "hand", "legal", "refused"),
    [
        ("qs", "AC QS 2H 3H", "QS", "2H 3H"),
        ("any", "AC QS 2H 3H", "QS 2H 3H", ""),
        ("any", "AC QS KS 2H", "QS KS", "2H"),
        ("any", "AC 5D 2H 3H", "5D", "2H 3H"),
    ],
)
def test_queen_and_hearts_alone(rule: str, hand: str, legal: str, refused: str) -> None:
    """The queen is the one card that is no heart, so it is forced, unless the rules let hearts be led (decision 3)."""
    events = third([hand, "3C 4S 4D 6D", "4C 5S 7D 8D"], "AC 3C 4C", qs_hearts_lead=rule)
    check(events, 0, legal, "play/hearts_not_broken", refused)


def test_two_queens_and_hearts_are_queens_and_hearts_alone() -> None:
    """With two decks the other queen changes nothing."""
    hands = ["AC QS QS 2H", "3C 4S 4D 6D", "4C 5S 7D 8D"]
    check(third(hands, "AC 3C 4C", decks=2, qs_hearts_lead="any"), 0, "QS 2H", "", "")
    check(third(hands, "AC 3C 4C", decks=2), 0, "QS", "play/hearts_not_broken", "2H")


def test_codes_come_in_the_order_of_the_spec() -> None:
    """Where several reasons apply the first is told: not held before all others, the opening before the suit."""
    opening = table(["2C 2H", "3C 3H", "4C 4H"], opener="forced", opening_ban=["H"])
    given(opening).when(play(0, "3H")).refused("play/not_in_hand", legal="2C")
    given(opening).when(play(0, "2H")).refused("play/must_open_with")
    follow = table(["2C 5D", "3C 3H", "4C 4H"], "2C", trick1_ban=["H"])
    given(follow).when(play(1, "4H")).refused("play/not_in_hand", legal="3C")
    given(follow).when(play(1, "3H")).refused("play/must_follow_suit")


def test_a_refusal_names_no_card_of_another_seat() -> None:
    """It says what the seat itself holds, and what it may play."""
    events = table(["2C 5D", "3C 3H", "4C 4H"], "2C")
    refusal = given(events).when(play(1, "3H")).refused("play/must_follow_suit", says="seat 1 holds clubs")
    assert "play one of 3C" == refusal.hint
    given(events).when(play(1, "4C")).refused("play/not_in_hand", says="4C: seat 1 does not hold it")
