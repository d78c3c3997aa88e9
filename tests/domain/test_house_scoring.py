"""Scoring by house rules: suns, partners, floors, and moons that are not everybody's to choose (docs/rules.md section 6)."""

from __future__ import annotations

from typing import Any

import pytest

from domain.cards import parse_cards
from domain.rules import End, game_end, hand_points, moon_chooser, moon_points, moon_shooter, sun_shooter
from domain.ruleset import Terms
from domain.state import HandState
from tests.support.tables import HANDS, small_rules

CLUBS, DIAMONDS, SPADES, HEARTS = "2C 3C 4C 5C", "3D 4D 5D 6D", "4S 5S 6S 7S", "5H 6H 7H 8H"
"""The four tricks of a hand of `HANDS`; only the last one costs points, a heart 1."""
SUITS = (CLUBS, DIAMONDS, SPADES, HEARTS)


def terms_with(**rules: Any) -> Terms:
    """The terms of a game of `HANDS` in which a moon adds 26 to the others."""
    return Terms(small_rules(HANDS, **{"moon_effect": "add", "hand_limit": None, **rules}))


def hand_with(terms: Terms, takers: str, cards: tuple[str, ...] = SUITS, offset: int = 0) -> HandState:
    """A hand that is played out: who took which trick, a letter a trick, ``-`` for a dead one."""
    hand = HandState(1, offset, 0, [0] * terms.players, 0)
    for taker, text in zip(takers, cards, strict=True):
        hand.trick = parse_cards(text)
        hand.take(None if taker == "-" else int(taker), terms, [])
    assert hand.turn < 0
    return hand


def points(terms: Terms, takers: str, *, totals: str = "0 0 0 0", offset: int = 0, choice: Any = None) -> str:
    """What a hand adds to each total."""
    before = [int(total) for total in totals.split()]
    return " ".join(map(str, hand_points(terms, hand_with(terms, takers, offset=offset), before, choice)))


# --- suns


SUNS: list[tuple[str, dict[str, Any], int, str]] = [
    ("no sun is a moon", {}, 0, "26 0 26 26"),
    ("add", {"sun_effect": "add"}, 0, "52 0 52 52"),
    ("add another number", {"sun_effect": "add", "sun_x": 30}, 0, "30 0 30 30"),
    ("subtract", {"sun_effect": "subtract"}, 0, "0 -52 0 0"),
    ("reset", {"sun_effect": "reset"}, 0, "0 -17 0 0"),
    ("punish the seat to the right", {"sun_effect": "punish"}, 1, "52 0 26 26"),
    ("punish the seat to the left", {"sun_effect": "punish"}, -1, "26 0 52 26"),
    ("punish the seat across", {"sun_effect": "punish", "sun_x": 40, "moon_x": 5}, 2, "5 0 5 40"),
    ("punish nobody in a hold hand", {"sun_effect": "punish"}, 0, "26 0 26 26"),
]


@pytest.mark.parametrize(
    ("rules", "offset", "expected"), [row[1:] for row in SUNS], ids=[row[0] for row in SUNS]
)
def test_what_a_sun_does(rules: dict[str, Any], offset: int, expected: str) -> None:
    """Seat 1 has 17 and takes every trick: the sun stands in place of the moon."""
    terms = terms_with(**rules)
    assert expected == points(terms, "1111", totals="5 17 3 9", offset=offset)


@pytest.mark.parametrize("effect", ["add", "subtract", "reset", "punish"])
def test_a_hand_but_for_one_trick_is_no_sun(effect: str) -> None:
    """It is a moon where all penalty cards were taken, and nothing special otherwise."""
    terms = terms_with(sun_effect=effect)
    for takers in ("0111", "1011", "1101", "-111"):
        assert sun_shooter(terms, hand_with(terms, takers)) is None
        assert "26 0 26 26" == points(terms, takers)
    assert "0 0 4 0" == points(terms_with(sun_effect=effect, moon_effect="none"), "1112")


@pytest.mark.parametrize("first", ["0", "1", "-"])
def test_a_sun_may_begin_with_the_second_trick(first: str) -> None:
    """Then whoever takes the first one is as good, also nobody; and the second counts as ever."""
    terms = terms_with(sun_effect="subtract", sun_from=2)
    assert 1 == sun_shooter(terms, hand_with(terms, f"{first}111"))
    assert "0 -52 0 0" == points(terms, f"{first}111")
    assert "26 0 26 26" == points(terms, f"{first}011")
    assert sun_shooter(terms, hand_with(terms, f"{first}-11")) is None


def test_a_sun_may_be_a_single_trick() -> None:
    """Where a hand is one trick, or two of which the second counts, whoever takes that one shot it."""
    one = Terms(small_rules(["2H", "3H", "4H", "5H"], sun_effect="add"))
    assert 3 == sun_shooter(one, hand_with(one, "3", ("2H 3H 4H 5H",)))
    assert sun_shooter(one, hand_with(one, "-", ("2H 3H 4H 5H",))) is None
    two = Terms(small_rules(["2C 2H", "3C 3H", "4C 4H", "5C 5H"], sun_effect="add", sun_from=2))
    assert 2 == sun_shooter(two, hand_with(two, "02", (CLUBS, "2H 3H 4H 5H")))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"sun_effect": "add"}, "52 -10 52 52"),
        ({"sun_effect": "subtract"}, "0 -62 0 0"),
        ({"sun_effect": "reset"}, "0 -17 0 0"),
        ({"sun_effect": "add", "moon_bonus": "swallowed"}, "52 0 52 52"),
        ({"sun_effect": "subtract", "moon_bonus": "swallowed"}, "0 -52 0 0"),
        ({"sun_effect": "add", "hand_floor": -4}, "52 -4 52 52"),
        ({}, "26 -10 26 26"),
        ({"moon_bonus": "swallowed"}, "26 0 26 26"),
        ({"hand_floor": -4}, "26 -4 26 26"),
    ],
)
def test_bonus_cards_of_a_sun_or_moon(rules: dict[str, Any], expected: str) -> None:
    """They count beside it, bounded as in any hand, unless the rules swallow them; a reset leaves nothing."""
    terms = terms_with(points={"H": 1, "3D": -10}, **rules)
    assert expected == points(terms, "1111", totals="5 17 3 9")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"sun_effect": "add"}, "47 0 52 52"),
        ({"sun_effect": "subtract"}, "-5 -52 0 0"),
        ({"sun_effect": "reset"}, "-5 -17 0 0"),
        ({"sun_effect": "punish"}, "47 0 26 26"),
    ],
)
def test_a_bonus_card_of_the_first_trick_is_its_takers(rules: dict[str, Any], expected: str) -> None:
    """Where the sun begins with the second trick, what another seat took before it counts beside the sun."""
    terms = terms_with(points={"H": 1, "2C": -5}, sun_from=2, **rules)
    assert expected == points(terms, "0111", totals="5 17 3 9", offset=1)


def test_a_sun_leaves_nothing_to_choose() -> None:
    """Where a moon would be its shooter's choice, a sun does what it does."""
    terms = terms_with(sun_effect="add", moon_effect="choice")
    assert moon_chooser(terms, hand_with(terms, "1111"), [0] * 4) is None
    assert 1 == moon_chooser(terms, hand_with(terms, "0111"), [0] * 4)
    assert "52 0 52 52" == points(terms, "1111", choice="subtract")


# --- moons


@pytest.mark.parametrize(
    ("effect", "expected"),
    [("add", "26 0 26 26"), ("subtract", "0 -26 0 0"), ("collect", "26 -78 26 26"), ("none", "0 4 0 0")],
)
def test_a_moon_without_a_choice(effect: str, expected: str) -> None:
    """Where the shooter collects, it is given what the others pay."""
    assert expected == points(terms_with(moon_effect=effect), "0111")


@pytest.mark.parametrize(("total", "asked"), [(-1, False), (29, False), (30, True), (31, True)])
def test_a_choice_may_need_a_total(total: int, asked: bool) -> None:
    """That of the shooter before the hand, reached or passed; who has less adds to the others whatever it says."""
    terms = terms_with(moon_effect="choice", moon_choice_from=30)
    totals = f"99 {total} 99 99"
    assert (1 if asked else None) == moon_chooser(
        terms, hand_with(terms, "0111"), [int(one) for one in totals.split()]
    )
    assert ("0 -26 0 0" if asked else "26 0 26 26") == points(terms, "0111", totals=totals, choice="subtract")
    assert "26 0 26 26" == points(terms, "0111", totals=totals, choice="add")


@pytest.mark.parametrize(("total", "asked"), [(89, False), (90, False), (91, True)])
def test_a_choice_may_need_a_loss(total: int, asked: bool) -> None:
    """The moon ends the game, and the shooter loses it alone: more than the 90 that the lowest would have then."""
    terms = terms_with(moon_effect="choice_if_lost", tie="shared")
    totals = [64, total, 99, 99]
    assert (1 if asked else None) == moon_chooser(terms, hand_with(terms, "0111"), totals)
    assert moon_chooser(terms, hand_with(terms, "0111"), [0, total - 64, 35, 35]) is None
    assert moon_chooser(terms, hand_with(terms, "011-"), totals) is None


def test_who_is_asked_and_has_not_chosen_adds() -> None:
    """The score of a moon that is still to be chosen is that of `add`."""
    assert "26 0 26 26" == points(terms_with(moon_effect="choice"), "0111", choice=None)


# --- what the cards of a hand cost


@pytest.mark.parametrize(
    ("rules", "takers", "expected"),
    [
        ({"no_trick_points": 5}, "0012", "0 0 4 5"),
        ({"no_trick_points": -5}, "0002", "0 -5 4 -5"),
        ({"no_trick_points": -5, "hand_floor": -2, "moon_effect": "add"}, "-222", "26 26 0 26"),
        ({"no_trick_points": -5, "hand_floor": -2}, "0002", "0 -5 4 -5"),
        ({"points": {"H": -3}, "hand_floor": 1, "no_trick_points": 5}, "0002", "1 6 1 6"),
        ({"points": {"H": -3}}, "0002", "0 0 -12 0"),
        ({"points": {"H": -3}, "hand_floor": -7}, "0002", "0 0 -7 0"),
        ({"points": {"H": -3}, "hand_floor": 1}, "0002", "1 1 1 1"),
        ({"points": {"5H": 1, "6H": -4}}, "0-12", "0 0 -3 0"),
    ],
)
def test_tricks_and_floors_of_a_hand(rules: dict[str, Any], takers: str, expected: str) -> None:
    """No cards score less than the floor; a seat without a trick is given what the rules say, too; a moon knows neither."""
    assert expected == points(terms_with(**{"moon_effect": "none", **rules}), takers)


# --- partners


PAIRS: dict[str, Any] = {"partners": "opposite"}


@pytest.mark.parametrize(
    ("rules", "takers", "expected"),
    [
        ({"moon_effect": "none"}, "0112", "4 0 4 0"),
        ({"points": {"C": 1, "D": 2, "S": 4, "H": 8}}, "0123", "20 40 20 40"),
        ({"moon_effect": "add"}, "0112", "0 52 0 52"),
        ({"moon_effect": "subtract"}, "0112", "-26 0 -26 0"),
        ({"moon_effect": "collect"}, "0112", "-52 52 -52 52"),
        ({"sun_effect": "add"}, "0022", "0 104 0 104"),
        ({"sun_effect": "add"}, "0122", "0 52 0 52"),
        ({"sun_effect": "subtract"}, "2002", "-52 0 -52 0"),
    ],
)
def test_partners_score_together(rules: dict[str, Any], takers: str, expected: str) -> None:
    """Each is given what both took; what a moon adds it adds to each seat of the other pair."""
    assert expected == points(terms_with(**PAIRS, **rules), takers)


@pytest.mark.parametrize(
    ("takers", "cards", "shooter"),
    [
        ("0022", (CLUBS, DIAMONDS, SPADES, HEARTS), 2),
        ("0222", ("5H 6H 7H 2C", "3C 4C 5C 8H", DIAMONDS, SPADES), 0),
        ("2000", ("5H 6H 7H 2C", "3C 4C 5C 8H", DIAMONDS, SPADES), 2),
        ("2000", ("5H 6H 3C 2C", "7H 4C 5C 8H", DIAMONDS, SPADES), 0),
        ("1333", ("5H 6H 7H 2C", "3C 4C 5C 8H", DIAMONDS, SPADES), 1),
        ("0122", ("5H 6H 7H 2C", "3C 4C 5C 8H", DIAMONDS, SPADES), None),
    ],
)
def test_of_partners_who_took_more_penalty_cards_shot_the_moon(
    takers: str, cards: tuple[str, ...], shooter: int | None
) -> None:
    """Between them they took all; of two who took as many it is the lower seat."""
    terms = terms_with(**PAIRS)
    assert shooter == moon_shooter(terms, hand_with(terms, takers, cards))


@pytest.mark.parametrize(
    ("takers", "shooter"),
    [("0002", 0), ("2220", 2), ("2200", 0), ("1333", 3), ("0132", None), ("00-2", None), ("-000", None)],
)
def test_of_partners_who_took_more_tricks_shot_the_sun(takers: str, shooter: int | None) -> None:
    """Between them they took every trick, none of them dead."""
    terms = terms_with(sun_effect="reset", **PAIRS)
    assert shooter == sun_shooter(terms, hand_with(terms, takers))


@pytest.mark.parametrize(("takers", "shooter"), [("0111", None), ("1012", None), ("0202", 2), ("2002", 2)])
def test_a_bonus_that_a_moon_needs_may_be_the_partners(takers: str, shooter: int | None) -> None:
    """All the bonus cards of the deck, whichever of the two took them."""
    terms = terms_with(points={"H": 1, "2C": -5, "3D": -10}, moon_needs_bonus=True, **PAIRS)
    assert shooter == moon_shooter(terms, hand_with(terms, takers))


def test_a_pair_does_not_tie_with_itself() -> None:
    """Two lowest seats of one pair win together; of two pairs they play on."""
    terms = terms_with(tie="continue", **PAIRS)
    assert End((0, 2), "target") == game_end(terms, [30, 100, 30, 100], [1] * 4, 3)
    assert game_end(terms, [100, 100, 100, 100], [1] * 4, 3) is None


def test_the_effect_of_a_moon_is_each_its_own() -> None:
    """By name, with the bonuses that were taken: what is neither added nor collected costs the others nothing."""
    terms = terms_with(points={"H": 1, "3D": -10})
    assert [-10, 26, 26, 26] == moon_points(terms, [-10, 0, 0, 0], 0, "add")
    assert [-36, 0, 0, 0] == moon_points(terms, [-10, 0, 0, 0], 0, "subtract")
    assert [-78, 26, 16, 26] == moon_points(terms, [0, 0, -10, 0], 0, "collect")
