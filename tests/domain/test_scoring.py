"""What a hand adds, what the moon does, and when the game is over: the rules document sections 2, 5 and 6."""

from __future__ import annotations

from typing import Any

import pytest

from domain.cards import mask_of, parse_cards
from domain.rules import End, add_points, game_end, hand_points, moon_shooter
from domain.ruleset import RuleSet, Terms
from domain.state import HandState
from domain.variants import ruleset_of

HEARTS = "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH"


def variant(name: str, **overrides: Any) -> Terms:
    """The terms of a published variant."""
    return Terms(ruleset_of({"variant": name, **overrides}))


# --- the end of a game


def end(terms: Terms, totals: str, points: str = "", hands: int = 5) -> str:
    """How a game stands: the winning seats and the reason, or that it goes on."""
    sums = [int(number) for number in totals.split()]
    added = [int(number) for number in points.split()] or [1] * len(sums)
    found = game_end(terms, sums, added, hands)
    return "goes on" if found is None else f"{' '.join(map(str, found.winners))} {found.reason}"


# Section 5 by its numbers: variant, totals, points of the last hand, what follows.
SPECIAL = [
    ("5.1 another seat perfect, the leader not", "special", "51 20 33 40", "13 5 8 0", "goes on"),
    ("5.2 the leader perfect too", "special", "51 20 33 40", "18 0 8 0", "1 target"),
    ("5.3 a tie for the lowest", "special", "51 20 20 40", "13 5 8 0", "goes on"),
    ("5.3 a tie, nobody perfect", "special", "51 20 20 40", "13 5 8 1", "goes on"),
    ("5.4 another seat shoots the moon", "special", "63 30 45 33", "13 13 0 13", "goes on"),
    ("5.4 the leader shoots the moon", "special", "63 30 45 33", "13 0 13 13", "1 target"),
    ("5.5 the target is not reached", "special", "49 0 0 0", "26 0 0 0", "goes on"),
    ("5.5 just reached", "special", "50 0 1 2", "26 0 1 2", "1 target"),
    ("5.6 again and again", "special", "151 20 33 40", "13 5 8 0", "goes on"),
    ("5.7 judged after scoring", "special", "51 20 19 40", "13 0 8 5", "goes on"),
    ("5.7 the leader of before", "special", "51 20 21 40", "13 0 8 5", "1 target"),
    ("5.9 classic ties are shared", "classic", "51 20 20 40", "13 5 8 0", "1 2 target"),
    ("5.9 classic knows no perfect hand", "classic", "51 20 33 40", "13 5 8 0", "1 target"),
    ("a perfect hand of a highest seat", "special", "51 20 33 40", "0 5 8 13", "goes on"),
    ("nobody perfect", "special", "51 20 33 40", "13 5 7 1", "1 target"),
]


@pytest.mark.parametrize(
    ("name", "totals", "points", "follows"), [row[1:] for row in SPECIAL], ids=[row[0] for row in SPECIAL]
)
def test_when_a_gameduell_game_ends(name: str, totals: str, points: str, follows: str) -> None:
    """A perfect hand of another seat than the leader, or a tie for the lowest, keeps Special going."""
    assert follows == end(variant(name), totals, points)


ENDS = [
    ("basic", "99 0 0 0", "goes on"),
    ("basic", "100 0 1 2", "1 target"),
    ("basic", "101 5 5 5", "goes on"),
    ("basic", "100 100 3 4", "2 target"),
    ("basic", "105 104 104 104", "goes on"),
    ("standard", "100 5 5 9", "1 2 target"),
    ("standard", "99 5 5 9", "goes on"),
    ("standard", "120 -26 5 9", "1 target"),
    ("omnibus", "100 -10 -10 9", "1 2 target"),
    ("classic", "49 1 2 3", "goes on"),
    ("classic", "50 1 1 1", "1 2 3 target"),
    ("cancellation", "149 0 0 0 0 0", "goes on"),
    ("cancellation", "150 7 3 3 9 9", "2 3 target"),
]


@pytest.mark.parametrize(("name", "totals", "follows"), ENDS)
def test_when_a_published_game_ends(name: str, totals: str, follows: str) -> None:
    """Some total reaches the target, and the lowest win; ties are shared or played out (decision 8)."""
    assert follows == end(variant(name), totals)


@pytest.mark.parametrize(
    ("rules", "totals", "points", "hands", "follows"),
    [
        ({"hand_limit": 4}, "10 3 3 8", "", 3, "goes on"),
        ({"hand_limit": 4}, "10 3 3 8", "", 4, "1 2 limit"),
        ({"hand_limit": 4}, "100 3 3 8", "", 4, "1 2 limit"),
        ({"hand_limit": 4}, "100 2 3 8", "", 4, "1 target"),
        ({"hand_limit": 4, "perfect_hand": True}, "100 2 3 8", "1 1 0 1", 4, "1 limit"),
        ({"hand_limit": 4, "perfect_hand": True}, "100 2 3 8", "1 1 0 1", 3, "goes on"),
        ({"tie": "shared", "perfect_hand": True}, "100 2 2 8", "1 1 0 1", 3, "1 2 target"),
        ({"tie": "shared", "perfect_hand": True}, "100 2 2 8", "0 1 1 1", 3, "goes on"),
        ({"perfect_hand": True}, "100 2 3 8", "0 -10 1 1", 3, "1 target"),
        ({"target": 1}, "1 0 5 5", "", 1, "1 target"),
    ],
)
def test_when_a_house_game_ends(
    rules: dict[str, Any], totals: str, points: str, hands: int, follows: str
) -> None:
    """The limit ends it as it stands, all lowest winning; a perfect hand may be combined with a shared tie."""
    assert follows == end(variant("basic", **rules), totals, points, hands)


def test_the_end_is_judged_anew_after_each_hand() -> None:
    """A condition that was met before is not sticky (decision 9): a moon may bring a total back below the target."""
    terms = variant("basic", moon_effect="subtract")
    assert "goes on" == end(terms, "101 5 5 7")
    assert "goes on" == end(terms, "75 5 6 7")
    assert End((1,), "target") == game_end(terms, [101, 5, 6, 7], [1, 1, 1, 1], 9)


# --- the points of a hand


def hand_of(terms: Terms, *taken: str, lost: str = "") -> HandState:
    """A hand that is played out, each seat having taken just these cards."""
    hand = HandState(1, 0, 0, [0] * terms.players, mask_of([]))
    for seat, cards in enumerate(taken):
        hand.trick = parse_cards(cards)
        hand.take(seat, terms, [])
    hand.pile = parse_cards(lost)
    hand.turn = -1
    return hand


def points(terms: Terms, *taken: str, totals: str = "", choice: Any = None) -> list[int]:
    """What a hand adds, each seat having taken just these cards."""
    before = [int(number) for number in totals.split()] or [0] * terms.players
    return hand_points(terms, hand_of(terms, *taken), before, choice)


def test_cards_are_worth_what_the_rules_say() -> None:
    """A heart 1, the queen 13, the rest nothing; the jack of diamonds minus ten in omnibus."""
    taken = ("2H 3H QS", "4H 5C AS KS", "JD 9D", "6H")
    assert [15, 1, 0, 1] == points(variant("basic"), *taken)
    assert [15, 1, -10, 1] == points(variant("omnibus"), *taken)
    spot = variant("basic", points={"H": 1, "AH": 5, "S": 2, "QS": 25, "KS": 0, "D": -1})
    assert [27, 3, -2, 1] == points(spot, *taken)
    assert [0, 1, -2, 6] == points(spot, "", "4H", "2D 3D", "AH 2H KS")


ALL = f"{HEARTS} QS"


MOONS: list[tuple[str, dict[str, Any], str, list[int]]] = [
    ("basic", {}, "", [0, 26, 26, 26]),
    ("classic", {}, "", [0, 13, 13, 13]),
    ("special", {}, "", [0, 13, 13, 13]),
    ("classic", {"moon_x": 26}, "", [0, 26, 26, 26]),
    ("basic", {"moon_x": 52}, "", [0, 52, 52, 52]),
    ("basic", {"moon_effect": "subtract"}, "", [-26, 0, 0, 0]),
    ("basic", {"moon_effect": "none"}, "", [26, 0, 0, 0]),
    ("standard", {}, "add", [0, 26, 26, 26]),
    ("standard", {}, "subtract", [-26, 0, 0, 0]),
    ("omnibus", {}, "add", [0, 26, 26, 16]),
    ("omnibus", {}, "subtract", [-26, 0, 0, -10]),
]


@pytest.mark.parametrize(("name", "rules", "choice", "expected"), MOONS)
def test_what_the_moon_does(name: str, rules: dict[str, Any], choice: str, expected: list[int]) -> None:
    """The effects of the catalogue; negative points are scored by whoever took them, moon or not."""
    assert expected == points(variant(name, **rules), ALL, "", "", "JD", choice=choice or None)


def test_the_jack_goes_with_its_taker() -> None:
    """Omnibus: the shooter with the jack scores -10 and the others 26, or -36 and nothing (decision 7)."""
    terms = variant("omnibus")
    assert [-10, 26, 26, 26] == points(terms, f"{ALL} JD", choice="add")
    assert [-36, 0, 0, 0] == points(terms, f"{ALL} JD", choice="subtract")


@pytest.mark.parametrize(
    ("needs", "jack", "shooter"), [(False, False, 0), (False, True, 0), (True, False, None), (True, True, 0)]
)
def test_whether_the_jack_is_needed(needs: bool, jack: bool, shooter: int | None) -> None:
    """By default it is not; where it is, a hand without it is no moon."""
    terms = variant("omnibus", moon_needs_bonus=needs)
    taken = (f"{ALL} JD", "") if jack else (ALL, "JD")
    assert shooter == moon_shooter(terms, hand_of(terms, *taken))


@pytest.mark.parametrize(
    "taken",
    [
        (HEARTS, "QS"),
        (f"{HEARTS[3:]} QS", "2H"),
        ("QS", HEARTS),
        (HEARTS[:8], HEARTS[9:], "QS"),
    ],
)
def test_a_moon_takes_every_penalty_card(taken: tuple[str, ...]) -> None:
    """One card with another seat, and there is none."""
    terms = variant("basic")
    assert moon_shooter(terms, hand_of(terms, *taken)) is None
    assert 26 == sum(points(terms, *taken))


def test_a_lost_penalty_card_prevents_a_moon() -> None:
    """It was taken by nobody (4.13)."""
    terms = variant("basic")
    assert moon_shooter(terms, hand_of(terms, f"{HEARTS[3:]} QS", lost="2H")) is None


def test_two_decks_have_two_of_each_penalty_card() -> None:
    """26 hearts and both queens make the moon; half of them, 26 points, do not (4.14)."""
    terms = variant("cancellation")
    whole = f"{HEARTS} {HEARTS} QS QS"
    assert 0 == moon_shooter(terms, hand_of(terms, whole))
    assert [0, 26, 26, 26, 26, 26] == points(terms, whole, choice="add")
    assert [-26, 0, 0, 0, 0, 0] == points(terms, whole, choice="subtract")
    for half in (ALL, "QS QS", f"{HEARTS} {HEARTS}"):
        assert moon_shooter(terms, hand_of(terms, half)) is None
        assert 26 == points(terms, half)[0]


def test_no_penalty_cards_make_no_moon() -> None:
    """Where nothing costs points nobody has taken all that does."""
    for worth in ({}, {"JD": -10}, {"H": 0}):
        terms = variant("basic", points=worth)
        assert moon_shooter(terms, hand_of(terms, ALL)) is None


def test_removed_penalty_cards_are_not_needed() -> None:
    """The moon is all there are in the deck."""
    terms = variant("basic", removed="QS 2H 3H 4H", hand=12)
    assert 0 == moon_shooter(terms, hand_of(terms, HEARTS[9:]))


AUTO: list[tuple[str, dict[str, Any], str, list[int]]] = [
    ("the game goes on", {}, "10 20 30 40", [0, 26, 26, 26]),
    ("it ends, and the shooter wins", {}, "10 20 30 90", [0, 26, 26, 26]),
    ("it ends, and the shooter loses", {}, "90 95 63 70", [-26, 0, 0, 0]),
    ("it ends in a tie that is shared", {"tie": "shared"}, "89 95 63 70", [0, 26, 26, 26]),
    ("a tie that is played out", {}, "89 95 63 70", [0, 26, 26, 26]),
    ("the limit ends it, and the shooter loses", {"hand_limit": 1}, "40 1 2 3", [-26, 0, 0, 0]),
    ("the limit ends it, and the shooter wins", {"hand_limit": 1}, "20 1 2 3", [0, 26, 26, 26]),
    ("a perfect hand keeps it going", {"perfect_hand": True}, "90 95 63 70", [0, 26, 26, 26]),
    ("just not the end", {}, "73 73 3 5", [0, 26, 26, 26]),
    ("just the end", {}, "73 74 3 5", [-26, 0, 0, 0]),
    ("a shooter above the target", {"tie": "shared"}, "100 0 0 0", [-26, 0, 0, 0]),
    ("others with bonuses", {"points": {"H": 1, "QS": 13, "JD": -40}}, "20 80 1 31", [-26, 0, 0, -40]),
]


@pytest.mark.parametrize(
    ("rules", "totals", "expected"), [row[1:] for row in AUTO], ids=[row[0] for row in AUTO]
)
def test_an_automatic_moon(rules: dict[str, Any], totals: str, expected: list[int]) -> None:
    """`add`, unless the game would then end without the shooter among the lowest; tested on the totals after it."""
    terms = variant("basic", moon_effect="auto", **rules)
    assert expected == points(terms, ALL, "", "", "JD", totals=totals)


@pytest.mark.parametrize(
    ("floor", "totals"),
    [(None, [-26, 4, -10, 0]), (0, [0, 4, 0, 0]), (-20, [-20, 4, -10, 0]), (5, [5, 5, 5, 5])],
)
def test_no_total_falls_below_the_floor(floor: int | None, totals: list[int]) -> None:
    """Where the rules have one; without it totals are any whole numbers."""
    assert totals == add_points(variant("omnibus", floor=floor), [0, 3, 0, 0], [-26, 1, -10, 0])


def test_terms_are_the_rules_worked_out() -> None:
    """Counts of penalty and bonus cards in the deck, copies counted."""
    assert (14, 1) == (variant("omnibus").penalty_cards, variant("omnibus").bonus_cards)
    assert (28, 0) == (variant("cancellation").penalty_cards, variant("cancellation").bonus_cards)
    assert 0 == Terms(RuleSet(variant="custom", points={})).penalty_cards
