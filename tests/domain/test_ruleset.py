"""Rule sets: what is wrong with one, all at once, and how it is stored."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from domain.cards import NAMES, SUITS
from domain.record_format import short_rules
from domain.refusals import InvalidRules
from domain.ruleset import (
    KEYS,
    LATER,
    LONGEST_CYCLE,
    VARIANT_SEATS,
    RuleSet,
    Terms,
    check_rules,
    decode_rules,
)
from domain.variants import CUSTOM, VARIANTS, ruleset_of


@pytest.mark.parametrize(
    "rules",
    [
        {"hand": 3, "pass_count": 3},
        {"hand": 1, "pass_count": 1},
        {"players": 11, "decks": 2, "hand": 9, "pass_cycle": [1, -1]},
        {"players": 3, "hand": 17, "pass_cycle": [0]},
        {"players": 3, "decks": 2, "hand": 34, "pass_cycle": [1]},
        {"decks": 2, "removed": "2C 2C 3D"},
        {"removed": "", "hand": 13},
        {"hand_limit": 1},
        {"hand_limit": 4096},
        {"target": 1},
        {"moon_x": 0},
        {"floor": -1_000_000},
        {"moon_x": 1_000_000, "target": 1_000_000, "floor": 1_000_000},
        {"points": {}},
        {"points": dict.fromkeys([*SUITS, *NAMES], -1_000_000)},
        {"pass_cycle": [0]},
        {"pass_cycle": [1] * LONGEST_CYCLE},
        {"trick1_ban": [*SUITS, *NAMES]},
    ],
)
def test_the_last_value_that_fits_is_right(rules: dict[str, Any]) -> None:
    """Bounds belong to what is allowed, and a rule set at one can be worked out for play."""
    found = ruleset_of({"variant": "custom", **rules})
    assert [] == found.problems()
    assert Terms(found).kitty >= 0


@pytest.mark.parametrize(
    ("rules", "key"),
    [
        ({"trick1_ban": ["H"] * 57}, "trick1_ban"),
        ({"breakers": ["QS"] * 10_000}, "breakers"),
        ({"points": dict.fromkeys([*SUITS, *NAMES, "h"], 1)}, "points"),
    ],
)
def test_a_list_longer_than_there_are_classes_is_told(rules: dict[str, Any], key: str) -> None:
    """Repeats and other spellings do not make it longer than it may be."""
    with pytest.raises(InvalidRules) as caught:
        ruleset_of({"variant": "custom", **rules})
    assert 1 == len(caught.value.problems)
    assert caught.value.problems[0].startswith(key)


def problems_of(given: dict[str, Any]) -> list[str]:
    """What is told of rules that cannot be played."""
    with pytest.raises(InvalidRules) as caught:
        ruleset_of(given)
    assert "rules/invalid" == caught.value.code
    assert all(problem in str(caught.value) for problem in caught.value.problems)
    return caught.value.problems


WRONG: dict[str, list[object]] = {
    "variant": ["", 5, None, "bridge", "BASIC", "basic ", ["basic"], {}, "x" * 41],
    "players": [2, 12, 0, "4", 4.0, True, None],
    "decks": [0, 3, "1", True],
    "removed": ["1C", "QSS", 5, None, ["2C"], "2C,3C"],
    "hand": [0, 35, -1, "13", None],
    "kitty_to": ["second", None, 1],
    "pass_count": [-1, 5, "3", True, None],
    "pass_cycle": [[], [1] * 65, [3], [-2], 1, "1", None, [1.5], [True], [None]],
    "opener": ["right", None, True],
    "opening_ban": ["H", ["X"], [1], None, {"H": 1}, ["HH"]],
    "trick1_ban": ["QS", ["1S"], None, [None], ["♥"]],
    "trick1_all_banned": ["qs", None, False],
    "breakers": ["H", None, ["hearts"], [["H"]]],
    "qs_hearts_lead": ["all", None],
    "cancel": [0, 1, "true", None],
    "dead_trick": ["pairs", None],
    "dead_last": ["winner", None],
    "points": [
        [],
        None,
        {"X": 1},
        {"H": "1"},
        {"H": 1.5},
        {"H": True},
        {"H": 1_000_001},
        {"H": -1_000_001},
        "H=1",
    ],
    "moon_effect": ["both", None, ""],
    "moon_x": [-1, "26", None, 2.5, 1_000_001, True],
    "moon_needs_bonus": [0, None, "no"],
    "floor": ["0", 0.5, False, 1_000_001, -1_000_001],
    "target": [0, -1, "100", None, 1_000_001],
    "tie": ["play", None, False],
    "perfect_hand": [1, None],
    "hand_limit": [0, -1, 4097, "10", True],
    "moon_choice_from": ["0", 1_000_001, -1_000_001, False],
    "moon_bonus": ["lost", None, True],
    "sun_effect": ["choice", None, ""],
    "sun_x": [-1, "52", None, 1_000_001],
    "sun_from": [0, 3, None, True],
    "no_trick_points": [None, "-5", 1_000_001, -1_000_001, 0.5],
    "hand_floor": ["0", 0.5, False, 1_000_001, -1_000_001],
    "partners": ["left", None, True],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG.items() for value in values], ids=repr
)
def test_a_wrong_value_is_told_with_its_key(key: str, value: object) -> None:
    """Wrong types, numbers out of range and unknown words, never taken for something near."""
    found = problems_of({"variant": "basic", key: value})
    assert 1 == len(found)
    if key != "variant":
        assert key == found[0].split()[0]
    else:
        assert "variant" in found[0]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("target", 1_000_001, "a number from 1 to 1000000"),
        ("moon_x", 1_000_001, "a number from 0 to 1000000"),
        ("floor", -1_000_001, "null or a number from -1000000 to 1000000"),
        ("points", {"H": 1_000_001}, "a number from -1000000 to 1000000"),
        ("hand_limit", 4097, "null or a number from 1 to 4096"),
        ("hand", 35, "a number from 1 to 34"),
        ("pass_cycle", [0] * 65, "a list of 1 to 64 entries"),
    ],
)
def test_a_bound_is_told(key: str, value: object, told: str) -> None:
    """Who goes beyond it learns where it is."""
    assert told in problems_of({"variant": "basic", key: value})[0]


def test_the_largest_values_are_taken() -> None:
    """A bound is itself within it."""
    assert ruleset_of({"variant": "basic", "pass_cycle": [0] * 64, "target": 1_000_000, "floor": -1_000_000})


def test_every_key_has_wrong_values() -> None:
    """The table above speaks of every key."""
    assert set(KEYS) == set(WRONG)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"variant": "bicycle", "players": 5, "partners": "opposite"}, "opposite"),
        ({"variant": "basic", "hand": 1, "pass_count": 1, "sun_from": 2}, "sun_from 2 is more than the 1"),
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


def test_problems_of_a_value_hide_those_of_the_others_no_more_than_they_must() -> None:
    """Every wrong value is told at once; whether the values fit together is told once each is right."""
    wrong = RuleSet(variant="custom", players=5, decks=3, hand=99, target=0, pass_cycle=(2,))
    assert ["decks", "hand", "target"] == [problem.split()[0] for problem in wrong.problems()]
    misfit = RuleSet(variant="custom", players=5, hand=11, pass_cycle=(2,), removed="2C 2C")
    assert ["removed", "too", "pass_cycle"] == [problem.split()[0] for problem in misfit.problems()]


# --- stored rule sets


@pytest.mark.parametrize(
    "changes",
    [
        {"variant": ""},
        {"variant": "bridge"},
        {"variant": "x" * 40},
        {"variant": "Basic"},
        {"variant": "basic", "players": 3, "pass_cycle": (1,)},
        {"variant": "standard", "players": 8, "hand": 6, "pass_cycle": (1,)},
        {"breakers": ("h",)},
        {"breakers": ("H", "H")},
        {"removed": "2d", "hand": 12},
        {"removed": "3D 2D", "hand": 12},
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
    rules = RuleSet(**{"variant": "custom", **changes})
    assert 1 == len(rules.problems())
    with pytest.raises(InvalidRules):
        check_rules(rules)


STORED = [
    *[
        VARIANTS[name].rules(players)
        for name, seats in VARIANT_SEATS.items()
        if name != CUSTOM
        for players in seats
    ],
    RuleSet(variant="custom"),
    RuleSet(variant="custom", players=3, hand=17, pass_cycle=(1, 0), removed="2D", points={"QS": 13, "H": 1}),
    RuleSet(
        variant="basic", decks=2, hand=26, breakers=("QS", "H"), trick1_ban=(), hand_limit=4096, floor=-5
    ),
]


@pytest.mark.parametrize("rules", STORED, ids=range(len(STORED)))
def test_a_stored_rule_set_that_is_right_can_be_written_down_and_read_again(rules: RuleSet) -> None:
    """What has no problems is what a record of it reads back: the same rules, key for key."""
    assert [] == rules.problems()
    assert rules == ruleset_of(short_rules(rules))


def test_a_rule_set_travels_by_value() -> None:
    """Stored whole and read again it is the same; with a key too few or too many it is none."""
    rules = ruleset_of({"variant": "omnibus", "floor": 0})
    stored = msgspec.json.decode(msgspec.json.encode(rules))
    assert rules == decode_rules(stored)
    assert [key for key in KEYS if key not in LATER] == [*stored]
    for broken in ({**stored, "jokers": 1}, {key: stored[key] for key in [*stored][:-1]}, [], None):
        with pytest.raises(InvalidRules):
            decode_rules(broken)


SAID: dict[str, object] = {
    "moon_choice_from": 26,
    "moon_bonus": "swallowed",
    "sun_effect": "punish",
    "sun_x": 39,
    "sun_from": 2,
    "no_trick_points": -5,
    "hand_floor": 0,
    "partners": "opposite",
}


@pytest.mark.parametrize("key", LATER)
def test_a_later_key_is_written_only_where_it_says_something(key: str) -> None:
    """At its default it stands in no stored rule set, given or not; elsewhere it travels by value as the others do."""
    said = SAID[key]
    plain = ruleset_of({"variant": "basic"})
    assert plain == ruleset_of({"variant": "basic", key: LATER[key]})
    assert (LATER[key], said) == (plain.get(key), ruleset_of({"variant": "basic", key: said}).get(key))
    stored = msgspec.json.decode(msgspec.json.encode(ruleset_of({"variant": "basic", key: said})))
    assert {key: said} == {name: value for name, value in stored.items() if name in LATER}
    assert said == decode_rules(stored).get(key)


def test_a_record_can_take_back_what_its_variant_says() -> None:
    """An override to the default of a later key is written down, and read again."""
    rules = ruleset_of({"variant": "partnership", "partners": "none"})
    assert {"variant": "partnership", "players": 4, "partners": "none"} == short_rules(rules)
    assert rules == ruleset_of(short_rules(rules))
