"""Rule sets: the published ones against the tables of the rules, and what is wrong with others, all at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from domain.cards import DECK_SIZE
from domain.refusals import InvalidRules
from domain.ruleset import KEYS, RuleSet, Terms, check_rules, decode_rules
from domain.variants import VARIANTS, ruleset_of

# docs/spec/ruleset.md, a row a key: basic, classic, special, standard, cancellation, omnibus (four seats where possible)
FAMILIES = ("basic", "classic", "special", "standard", "cancellation", "omnibus")
PLAIN = {"H": 1, "QS": 13}
TABLE: dict[str, tuple[Any, ...]] = {
    "decks": (1, 1, 1, 1, 2, 1),
    "kitty_to": ("first",) * 6,
    "pass_count": (3,) * 6,
    "opener": ("forced", "forced", "forced", "forced", "left", "forced"),
    "opening_ban": ((), (), (), (), ("H", "QS"), ()),
    "trick1_ban": (("H", "QS"), ("QS",), ("QS",), ("H", "QS"), (), ("H", "QS")),
    "trick1_all_banned": ("any",) * 6,
    "breakers": (("H",), ("H",), ("H",), ("H", "QS"), ("H", "QS"), ("H", "QS")),
    "qs_hearts_lead": ("qs",) * 6,
    "cancel": (False, False, False, False, True, False),
    "dead_trick": ("no_live_card",) * 6,
    "dead_last": ("nobody",) * 6,
    "points": (PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, {**PLAIN, "JD": -10}),
    "moon_effect": ("add", "add", "add", "choice", "choice", "choice"),
    "moon_x": (26, 13, 13, 26, 26, 26),
    "moon_needs_bonus": (False,) * 6,
    "floor": (None,) * 6,
    "target": (100, 50, 50, 100, 150, 100),
    "tie": ("continue", "shared", "continue", "shared", "shared", "shared"),
    "perfect_hand": (False, False, True, False, False, False),
    "hand_limit": (None,) * 6,
}
ACROSS, ROUND = (1, -1, 2, 0), (1, -1)
SEATS: list[tuple[str, int, str, int, int, tuple[int, ...]]] = [
    *[(name, 4, "", 13, 0, ACROSS) for name in ("basic", "classic", "special", "omnibus", "standard")],
    ("standard", 3, "2D", 17, 0, ROUND),
    ("standard", 5, "2C 2D", 10, 0, ROUND),
    ("standard", 6, "3C 4C 2D 3D", 8, 0, ROUND),
    ("standard", 7, "3C 2D 3D", 7, 0, ROUND),
    ("cancellation", 6, "", 17, 2, ROUND),
    ("cancellation", 7, "", 14, 6, ROUND),
    ("cancellation", 8, "", 13, 0, ROUND),
    ("cancellation", 9, "", 11, 5, ROUND),
    ("cancellation", 10, "", 10, 4, ROUND),
    ("cancellation", 11, "", 9, 5, ROUND),
]


@pytest.mark.parametrize("name", FAMILIES)
def test_published_rules_are_those_of_the_table(name: str) -> None:
    """Key for key, for every number of seats."""
    column = FAMILIES.index(name)
    for players in VARIANTS[name].seats:
        rules = ruleset_of({"variant": name, "players": players})
        assert {key: row[column] for key, row in TABLE.items()} == {key: getattr(rules, key) for key in TABLE}
        assert [] == rules.problems()


@pytest.mark.parametrize(("name", "players", "removed", "hand", "kitty", "cycle"), SEATS)
def test_decks_and_hands_go_with_the_seats(
    name: str, players: int, removed: str, hand: int, kitty: int, cycle: tuple[int, ...]
) -> None:
    """The cards removed, the hand, the kitty and the cycle of each number of seats."""
    rules = ruleset_of({"variant": name, "players": players})
    assert (removed, hand, cycle) == (rules.removed, rules.hand, rules.pass_cycle)
    assert kitty == Terms(rules).kitty
    assert rules.decks * DECK_SIZE - len(removed.split()) == len(Terms(rules).deck) == players * hand + kitty


def test_the_tables_are_whole() -> None:
    """Every key, family and number of seats stands in the tables above; keys are stored in the order of the spec."""
    assert set(KEYS) == {*TABLE, "variant", "players", "removed", "hand", "pass_cycle"}
    assert [*FAMILIES] == [*VARIANTS]
    assert {(row[0], row[1]) for row in SEATS} == {
        (name, players) for name, variant in VARIANTS.items() for players in variant.seats
    }
    stored = (
        "variant players decks removed hand kitty_to pass_count pass_cycle opener opening_ban trick1_ban "
        "trick1_all_banned breakers qs_hearts_lead cancel dead_trick dead_last points moon_effect moon_x "
        "moon_needs_bonus floor target tie perfect_hand hand_limit"
    )
    assert stored == " ".join(KEYS)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_published_variant_is_named_alone(name: str) -> None:
    """Without a number of seats it is for its usual one: four, or the fewest."""
    assert {"cancellation": 6}.get(name, 4) == ruleset_of({"variant": name}).players
    assert VARIANTS[name].rules() == ruleset_of({"variant": name})


def test_overrides_win_over_the_variant() -> None:
    """Any key may be given; seats bring their own deck, which may be overridden too."""
    rules = ruleset_of({"variant": "standard", "players": 5, "target": 50, "hand": 9, "removed": "2d  2C"})
    assert (5, 50, 9, "2C 2D", (1, -1)) == (
        rules.players, rules.target, rules.hand, rules.removed, rules.pass_cycle
    )  # fmt: skip
    assert "standard" == rules.variant


def test_custom_rules_start_from_the_defaults() -> None:
    """`custom` is basic Hearts until told otherwise, for any number of seats that its deck can serve."""
    rules = ruleset_of({"variant": "custom", "players": 3, "hand": 17, "pass_cycle": [1]})
    assert RuleSet(variant="custom", players=3, hand=17, pass_cycle=(1,)) == rules


def test_classes_and_cards_are_read_in_any_spelling() -> None:
    """Lower case and 10 for T are read, repeats dropped, and one spelling is kept."""
    rules = ruleset_of(
        {
            "variant": "basic",
            "breakers": ["h", "qs", "H", "10s"],
            "points": {"h": 1, "10d": -10},
            "removed": "10s 2c",
            "hand": 12,
        }
    )
    assert (("H", "QS", "TS"), {"H": 1, "TD": -10}, "2C TS") == (rules.breakers, rules.points, rules.removed)


def problems_of(given: dict[str, Any]) -> list[str]:
    """What is told of rules that cannot be played."""
    with pytest.raises(InvalidRules) as caught:
        ruleset_of(given)
    assert "rules/invalid" == caught.value.code
    assert all(problem in str(caught.value) for problem in caught.value.problems)
    return caught.value.problems


WRONG: dict[str, list[object]] = {
    "variant": ["", 5, None, "bridge", ["basic"], "x" * 41],
    "players": [2, 12, 0, "4", 4.0, True, None],
    "decks": [0, 3, "1", True],
    "removed": ["1C", "QSS", 5, None, ["2C"], "2C,3C"],
    "hand": [0, 35, -1, "13", None],
    "kitty_to": ["second", None, 1],
    "pass_count": [-1, 5, "3", True, None],
    "pass_cycle": [[], [3], [-2], 1, "1", None, [1.5], [True], [None]],
    "opener": ["right", None, True],
    "opening_ban": ["H", ["X"], [1], None, {"H": 1}, ["HH"]],
    "trick1_ban": ["QS", ["1S"], None, [None], ["♥"]],
    "trick1_all_banned": ["qs", None, False],
    "breakers": ["H", None, ["hearts"], [["H"]]],
    "qs_hearts_lead": ["all", None],
    "cancel": [0, 1, "true", None],
    "dead_trick": ["pairs", None],
    "dead_last": ["winner", None],
    "points": [[], None, {"X": 1}, {"H": "1"}, {"H": 1.5}, {"H": True}, {"H": 10**7}, "H=1"],
    "moon_effect": ["both", None, ""],
    "moon_x": [-1, "26", None, 2.5, 10**7, True],
    "moon_needs_bonus": [0, None, "no"],
    "floor": ["0", 0.5, False, 10**7],
    "target": [0, -1, "100", None, 10**7],
    "tie": ["play", None, False],
    "perfect_hand": [1, None],
    "hand_limit": [0, -1, 4097, "10", True],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG.items() for value in values], ids=repr
)
def test_a_wrong_value_is_told_with_its_key(key: str, value: object) -> None:
    """Wrong types, numbers out of range and unknown words, never taken for something near."""
    found = problems_of({"variant": "basic", key: value})
    assert any(key in problem or repr(value)[:20] in problem for problem in found)
    if key not in ("variant", "players"):
        assert [key] == [problem.split()[0] for problem in found]


def test_every_key_has_wrong_values() -> None:
    """The table above speaks of every key."""
    assert set(KEYS) == set(WRONG)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"variant": "basic", "hand": 14}, "too few cards: 4 seats x hand 14 = 56, and the deck has 52"),
        ({"variant": "basic", "removed": "2C"}, "too few cards"),
        ({"variant": "custom", "players": 5, "pass_cycle": [1]}, "too few cards"),
        ({"variant": "standard", "players": 5, "pass_cycle": [1, 2]}, "across"),
        ({"variant": "cancellation", "players": 7, "pass_cycle": [2], "pass_count": 0}, "across"),
        ({"variant": "basic", "removed": "2C 2C", "hand": 12}, "removed takes out 2 x 2C"),
        ({"variant": "cancellation", "removed": "2C 2C 2C", "hand": 12}, "removed takes out 3 x 2C"),
        ({"variant": "basic", "hand": 2, "pass_count": 3}, "pass_count 3"),
        ({"variant": "standard", "players": 8}, "not played with 8 seats"),
        ({"variant": "cancellation", "players": 5}, "not played with 5 seats"),
        ({"variant": "classic", "players": 3}, "not played with 3 seats"),
        ({}, "variant is missing"),
        ({"players": 4}, "variant is missing"),
        ({"variant": "basik"}, "did you mean basic?"),
        ({"variant": "basic", "moon_xx": 1}, "did you mean moon_x?"),
        ({"variant": "basic", "": 1}, "is no key"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_told(given: dict[str, Any], says: str) -> None:
    """Each value may be right by itself; the sentence tells what is wrong between them."""
    found = problems_of(given)
    assert [says] == [says for problem in found if says in problem]
    assert 1 == len(found)


def test_all_problems_are_told_at_once() -> None:
    """Unknown keys, wrong values and what does not fit together, a sentence each."""
    found = problems_of(
        {
            "variant": "standard",
            "players": 5,
            "removed": "2C 2C",
            "hand": 13,
            "pass_cycle": [1, 2],
            "pass_count": 9,
            "target": 0,
            "tie": "never",
            "jokers": 2,
        }
    )
    starts = ("'jokers'", "tie ", "target ", "pass_count ", "removed ", "too few cards", "pass_cycle ")
    assert sorted(starts) == sorted(
        start for start in starts for problem in found if problem.startswith(start)
    )
    assert len(starts) == len(found)


def test_a_wrong_variant_hides_no_other_problem() -> None:
    """What can be judged without it is."""
    assert 3 == len(problems_of({"variant": "bridge", "target": 0, "jokers": 1}))
    assert 2 == len(problems_of({"variant": "standard", "players": 9, "target": 0}))


@pytest.mark.parametrize(
    "changes",
    [
        {"breakers": ("h",)},
        {"trick1_ban": ("10S",)},
        {"opening_ban": ("X",)},
        {"points": {"h": 1}},
        {"players": 2},
        {"hand": 14},
        {"pass_cycle": ()},
        {"cancel": 1},
        {"target": 0},
        {"moon_effect": "twice"},
        {"players": 3, "hand": 13},
    ],
)
def test_a_stored_rule_set_is_checked_as_it_is(changes: dict[str, Any]) -> None:
    """Rules that came by value are played as they stand, so they must stand as we write them."""
    rules = RuleSet(variant="custom", **changes)
    assert 1 == len(rules.problems())
    with pytest.raises(InvalidRules):
        check_rules(rules)


def test_a_rule_set_travels_by_value() -> None:
    """Stored whole and read again it is the same; with a key too few or too many it is none."""
    rules = ruleset_of({"variant": "omnibus", "floor": 0})
    stored = msgspec.json.decode(msgspec.json.encode(rules))
    assert rules == decode_rules(stored)
    assert [*KEYS] == [*stored]
    for broken in ({**stored, "jokers": 1}, {key: stored[key] for key in KEYS[:-1]}, [], None):
        with pytest.raises(InvalidRules):
            decode_rules(broken)


def test_a_removed_card_takes_one_copy() -> None:
    """Of two decks the other copy stays in play."""
    terms = Terms(ruleset_of({"variant": "cancellation", "players": 8, "removed": "2C QS QS", "hand": 12}))
    assert (1, 0, 2) == tuple(terms.deck.count(card) for card in (0, 36, 1))
    assert 26 == terms.penalty_cards
