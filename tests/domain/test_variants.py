"""The published rule sets against the tables of the rules, and overrides of them."""

from __future__ import annotations

from typing import Any

import pytest

from domain.cards import DECK_SIZE
from domain.ruleset import KEYS, LATER, VARIANT_SEATS, RuleSet, Terms
from domain.variants import CUSTOM, VARIANTS, ruleset_of

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
    *[
        (name, 4, "", 13, 0, ACROSS)
        for name in ("microsoft", "pagat", "bicycle", "bicycle_omnibus", "spot", "pip")
    ],
    ("partnership", 4, "", 13, 0, ACROSS),
    ("bicycle", 3, "2D", 17, 0, ROUND),
    ("bicycle", 5, "2C 2D", 10, 0, ROUND),
    ("bicycle_cancellation", 7, "", 14, 6, (0,)),
    ("bicycle_cancellation", 8, "", 13, 0, (0,)),
    ("black_maria", 3, "2C", 17, 0, (-1,)),
    ("black_maria", 4, "", 13, 0, (-1,)),
    ("black_maria", 5, "2C 2D", 10, 0, (-1,)),
    ("black_maria", 6, "2C 2D 2S 2H", 8, 0, (-1,)),
    ("black_jack", 4, "", 13, 0, (1,)),
    ("greek", 4, "", 13, 0, (-1,)),
]


HEARTS = {f"{rank}H": value for value, rank in enumerate("23456789TJQKA", 2)}
FREE = {"opener": "left", "trick1_ban": (), "breakers": (), "moon_effect": "none"}
# docs/rules.md 3.1, a row a variant: what it changes of Standard Hearts, cards and passes apart
MORE: dict[str, dict[str, Any]] = {
    "microsoft": {"breakers": ("H",), "moon_effect": "add"},
    "pagat": {"breakers": ("H",)},
    "bicycle": {"moon_effect": "add"},
    "bicycle_cancellation": {
        "decks": 2, "pass_count": 0, "opener": "left", "opening_ban": ("H", "QS"), "cancel": True,
        "moon_effect": "add",
    },
    "bicycle_omnibus": {
        "points": {"H": 1, "QS": 13, "TD": -10}, "moon_effect": "subtract", "moon_needs_bonus": True,
        "moon_bonus": "swallowed",
    },
    "black_maria": {**FREE, "points": {"H": 1, "QS": 13, "KS": 10, "AS": 7}},
    "black_jack": {**FREE, "points": {"H": 1, "JS": 10}},
    "spot": {"points": {**HEARTS, "QS": 25}, "moon_effect": "add", "moon_x": 129, "target": 500},
    "pip": {"points": HEARTS, "moon_effect": "add", "moon_x": 104, "target": 500},
    "greek": {"moon_effect": "collect"},
    "partnership": {"moon_effect": "add", "partners": "opposite"},
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_other_published_rules_are_those_of_their_row(name: str) -> None:
    """Key for key, for every number of seats."""
    column = FAMILIES.index("standard")
    wanted = {key: row[column] for key, row in TABLE.items()} | LATER | MORE[name]
    for players in VARIANTS[name].seats:
        rules = ruleset_of({"variant": name, "players": players})
        assert wanted == {key: rules.get(key) for key in wanted}
        assert [] == rules.problems()


@pytest.mark.parametrize(
    ("name", "points"),
    [("black_maria", 43), ("spot", 129), ("pip", 104), ("black_jack", 23), ("omnibus", 16)],
)
def test_a_deal_is_worth_what_its_source_says(name: str, points: int) -> None:
    """The points of all cards together."""
    terms = Terms(ruleset_of({"variant": name}))
    assert points == sum(terms.values[card] for card in terms.deck)


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
    assert set(KEYS) - set(LATER) == {*TABLE, "variant", "players", "removed", "hand", "pass_cycle"}
    assert [*FAMILIES, *MORE] == [*VARIANTS]
    assert {(row[0], row[1]) for row in SEATS} == {
        (name, players) for name, variant in VARIANTS.items() for players in variant.seats
    }
    stored = (
        "variant players decks removed hand kitty_to pass_count pass_cycle opener opening_ban trick1_ban "
        "trick1_all_banned breakers qs_hearts_lead cancel dead_trick dead_last points moon_effect moon_x "
        "moon_needs_bonus floor target tie perfect_hand hand_limit"
    )
    later = "moon_choice_from moon_bonus sun_effect sun_x sun_from no_trick_points hand_floor partners"
    assert f"{stored} {later}" == " ".join(KEYS)


def test_a_rule_set_is_named_after_what_is_published() -> None:
    """The names and numbers of seats that rule sets are judged by are those of the published variants, and `custom`."""
    published = {name: tuple(variant.seats) for name, variant in VARIANTS.items()}
    assert {**published, CUSTOM: tuple(range(3, 12))} == VARIANT_SEATS


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


def test_a_removed_card_takes_one_copy() -> None:
    """Of two decks the other copy stays in play."""
    terms = Terms(ruleset_of({"variant": "cancellation", "players": 8, "removed": "2C QS QS", "hand": 12}))
    assert (1, 0, 2) == tuple(terms.deck.count(card) for card in (0, 36, 1))
    assert 26 == terms.penalty_cards
