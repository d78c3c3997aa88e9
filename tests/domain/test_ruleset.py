"""Rule sets at the very edge of what can be played."""

from __future__ import annotations

from typing import Any

import pytest

from domain.cards import NAMES, SUITS
from domain.refusals import InvalidRules
from domain.ruleset import RuleSet, Terms
from domain.variants import ruleset_of


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
        ({"hand": 2, "pass_count": 3}, "pass_count"),
        ({"removed": "2C", "hand": 13}, "too few cards"),
        ({"removed": "2C 2C", "hand": 12}, "removed"),
        ({"decks": 2, "removed": "2C 2C 2C"}, "removed"),
        ({"players": 5, "hand": 10, "pass_cycle": [1, 2]}, "pass_cycle"),
        ({"trick1_ban": ["H"] * 57}, "trick1_ban"),
        ({"breakers": ["QS"] * 10_000}, "breakers"),
        ({"points": dict.fromkeys([*SUITS, *NAMES, "h"], 1)}, "points"),
        ({"points": {"H": 1_000_001}}, "points"),
        ({"points": {"H": -1_000_001}}, "points"),
        ({"moon_x": 1_000_001}, "moon_x"),
        ({"target": 1_000_001}, "target"),
        ({"floor": -1_000_001}, "floor"),
        ({"hand_limit": 4097}, "hand_limit"),
    ],
)
def test_the_first_value_that_does_not_fit_is_told(rules: dict[str, Any], key: str) -> None:
    """One step beyond a bound is one problem, and it names what does not fit."""
    with pytest.raises(InvalidRules) as caught:
        ruleset_of({"variant": "custom", **rules})
    assert 1 == len(caught.value.problems)
    assert caught.value.problems[0].startswith(key)


def test_problems_of_a_value_hide_those_of_the_others_no_more_than_they_must() -> None:
    """Every wrong value is told at once; whether the values fit together is told once each is right."""
    wrong = RuleSet(variant="custom", players=5, decks=3, hand=99, target=0, pass_cycle=(2,))
    assert ["decks", "hand", "target"] == [problem.split()[0] for problem in wrong.problems()]
    misfit = RuleSet(variant="custom", players=5, hand=11, pass_cycle=(2,), removed="2C 2C")
    assert ["removed", "too", "pass_cycle"] == [problem.split()[0] for problem in misfit.problems()]


@pytest.mark.parametrize(("name", "right"), [("x", True), ("x" * 40, True), ("x" * 41, False), ("", False)])
def test_the_name_in_a_stored_rule_set_is_short(name: str, right: bool) -> None:
    """A variant that is no longer published may still be named, in 1 to 40 letters."""
    problems = RuleSet(variant=name).problems()
    assert right is (problems == [])
    assert all(problem.startswith("variant") for problem in problems)
