"""The published rule sets, as data with their source.

``docs/rules.md`` section 2 has each as a table, with what its page says and what we decided where it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from domain.refusals import InvalidRules
from domain.ruleset import KEYS, RuleSet, misfits, read_fields, wrong_seats

CUSTOM: Final = "custom"


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A published variant: what it changes of the defaults of `RuleSet`, at all numbers of seats and at some."""

    name: str
    title: str
    source: str
    seats: dict[int, dict[str, Any]]
    """The numbers of seats it can be played with, and what each changes."""
    fields: dict[str, Any] = {}
    like: str = ""
    """The variant whose family it belongs to, where it is no family of its own: skill and points are on one scale."""

    @property
    def family(self) -> str:
        """What its games are rated with."""
        return self.like or self.name

    @property
    def usual_seats(self) -> int:
        """The number of seats of a table that does not say: four where that is possible, else the fewest."""
        return 4 if 4 in self.seats else min(self.seats)

    def rules(self, players: int | None = None) -> RuleSet:
        """The whole rule set for ``players`` seats, one of `seats`; ``None`` is the usual number."""
        players = self.usual_seats if players is None else players
        changes = {**self.fields, **self.seats[players]}
        return RuleSet(variant=self.name, players=players, **changes)


_LEFT_RIGHT: Final = (1, -1)
_STANDARD: Final[dict[str, Any]] = {
    "breakers": ("H", "QS"),
    "moon_effect": "choice",
    "tie": "shared",
}
_GAMEDUELL: Final[dict[str, Any]] = {"trick1_ban": ("QS",), "moon_x": 13, "target": 50}

_PIPS: Final = {f"{rank}H": value for value, rank in enumerate("23456789TJQKA", 2)}
"""Hearts at what they show."""

_PUBLISHED: Final = (
    Variant(
        name="basic",
        title="Hearts",
        source="cardgames.io, rules of 21.02.2014 (docs/seeds/000)",
        seats={4: {}},
    ),
    Variant(
        name="classic",
        title="Classic Hearts",
        source="GameDuell, Klassisch (docs/seeds/001 and 004)",
        seats={4: {}},
        fields={**_GAMEDUELL, "tie": "shared"},
    ),
    Variant(
        name="special",
        title="Special Hearts",
        source="GameDuell, Spezial (docs/seeds/001 and 004)",
        seats={4: {}},
        fields={**_GAMEDUELL, "perfect_hand": True},
    ),
    Variant(
        name="standard",
        title="Standard Hearts",
        source="the English text behind docs/seeds/003 (jokyland.com, 100freegames.com, yourgametips.com)",
        seats={
            3: {"removed": "2D", "hand": 17, "pass_cycle": _LEFT_RIGHT},
            4: {},
            5: {"removed": "2C 2D", "hand": 10, "pass_cycle": _LEFT_RIGHT},
            6: {"removed": "3C 4C 2D 3D", "hand": 8, "pass_cycle": _LEFT_RIGHT},
            7: {"removed": "3C 2D 3D", "hand": 7, "pass_cycle": _LEFT_RIGHT},
        },
        fields=_STANDARD,
    ),
    Variant(
        name="cancellation",
        title="Cancellation Hearts",
        source="the English text behind docs/seeds/002 (same publisher as standard)",
        seats={6: {"hand": 17}, 7: {"hand": 14}, 8: {}, 9: {"hand": 11}, 10: {"hand": 10}, 11: {"hand": 9}},
        fields={
            **_STANDARD,
            "decks": 2,
            "pass_cycle": _LEFT_RIGHT,
            "opener": "left",
            "opening_ban": ("H", "QS"),
            "trick1_ban": (),
            "cancel": True,
            "target": 150,
        },
    ),
    Variant(
        name="omnibus",
        title="Omnibus Hearts",
        source="named by docs/seeds/003; Bicycle's Omnibus with the jack of diamonds (docs/rules.md 2.6)",
        seats={4: {}},
        fields={**_STANDARD, "points": {"H": 1, "QS": 13, "JD": -10}},
    ),
    Variant(
        name="microsoft",
        title="Microsoft Hearts",
        source="the help of Microsoft Hearts, Windows 3.1 to 7 (docs/rules.md 3.1)",
        like="standard",
        seats={4: {}},
        fields={**_STANDARD, "breakers": ("H",), "moon_effect": "add"},
    ),
    Variant(
        name="pagat",
        title="Black Lady",
        source="pagat.com, Hearts, the American game (docs/rules.md 3.1)",
        like="standard",
        seats={4: {}},
        fields={**_STANDARD, "breakers": ("H",)},
    ),
    Variant(
        name="bicycle",
        title="Bicycle Black Lady",
        source="bicyclecards.com, Black Lady (docs/rules.md 3.0 and 3.1)",
        like="standard",
        seats={
            3: {"removed": "2D", "hand": 17, "pass_cycle": _LEFT_RIGHT},
            4: {},
            5: {"removed": "2C 2D", "hand": 10, "pass_cycle": _LEFT_RIGHT},
        },
        fields={**_STANDARD, "moon_effect": "add"},
    ),
    Variant(
        name="bicycle_cancellation",
        title="Bicycle Cancellation Hearts",
        source="bicyclecards.com, Cancellation Hearts (docs/rules.md 3.1)",
        like="cancellation",
        seats={7: {"hand": 14}, 8: {}},
        fields={
            **_STANDARD,
            "decks": 2,
            "pass_count": 0,
            "pass_cycle": (0,),
            "opener": "left",
            "opening_ban": ("H", "QS"),
            "cancel": True,
            "moon_effect": "add",
        },
    ),
    Variant(
        name="bicycle_omnibus",
        title="Bicycle Omnibus Hearts",
        source="bicyclecards.com, Omnibus Hearts (docs/rules.md 2.6 and 3.1)",
        like="omnibus",
        seats={4: {}},
        fields={
            **_STANDARD,
            "points": {"H": 1, "QS": 13, "TD": -10},
            "moon_effect": "subtract",
            "moon_needs_bonus": True,
            "moon_bonus": "swallowed",
        },
    ),
    Variant(
        name="black_maria",
        title="Black Maria",
        source="the British game; Wikipedia, Black Maria, and Phillips 1939 (docs/rules.md 3.1)",
        seats={
            3: {"removed": "2C", "hand": 17},
            4: {},
            5: {"removed": "2C 2D", "hand": 10},
            6: {"removed": "2C 2D 2S 2H", "hand": 8},
        },
        fields={
            **_STANDARD,
            "pass_cycle": (-1,),
            "opener": "left",
            "trick1_ban": (),
            "breakers": (),
            "points": {"H": 1, "QS": 13, "KS": 10, "AS": 7},
            "moon_effect": "none",
        },
    ),
    Variant(
        name="black_jack",
        title="Black Jack",
        source="Foster 1909, discard hearts with the jack of spades (docs/rules.md 3.1)",
        seats={4: {}},
        fields={
            **_STANDARD,
            "pass_cycle": (1,),
            "opener": "left",
            "trick1_ban": (),
            "breakers": (),
            "points": {"H": 1, "JS": 10},
            "moon_effect": "none",
        },
    ),
    Variant(
        name="spot",
        title="Spot Hearts",
        source="gnome-hearts, Spot Hearts (docs/rules.md 3.1)",
        seats={4: {}},
        fields={
            **_STANDARD,
            "points": {**_PIPS, "QS": 25},
            "moon_effect": "add",
            "moon_x": 129,
            "target": 500,
        },
    ),
    Variant(
        name="pip",
        title="Pip Hearts",
        source="Wikipedia, Hearts: Spot Hearts without the queen (docs/rules.md 3.1)",
        seats={4: {}},
        fields={**_STANDARD, "points": _PIPS, "moon_effect": "add", "moon_x": 104, "target": 500},
    ),
    Variant(
        name="greek",
        title="Greek Hearts",
        source="Wikipedia, Hearts: Greek Hearts (docs/rules.md 3.1)",
        seats={4: {}},
        fields={**_STANDARD, "pass_cycle": (-1,), "moon_effect": "collect"},
    ),
    Variant(
        name="partnership",
        title="Partnership Hearts",
        source="Wikipedia, Hearts: Partnership Hearts (docs/rules.md 3.1)",
        seats={4: {}},
        fields={**_STANDARD, "moon_effect": "add", "partners": "opposite"},
    ),
)

VARIANTS: Final[dict[str, Variant]] = {variant.name: variant for variant in _PUBLISHED}
"""Every published variant, by its name."""
FAMILIES: Final = tuple(dict.fromkeys(variant.family for variant in _PUBLISHED))
"""What games are rated by: the six families, and those of their relatives that are scored on scales of their own."""
_CUSTOM_BASE: Final = VARIANTS["basic"]


def ruleset_of(given: Mapping[str, object]) -> RuleSet:
    """The whole rule set of a variant's name and overrides of any of its keys.

    Another number of ``players`` brings the variant's own deck, hand and cycle for so many seats. ``custom`` starts
    from the defaults of `RuleSet`. Raises `InvalidRules` with all problems.
    """
    fields, found = read_fields({key: value for key, value in given.items() if key != "variant"})
    variant = _variant(given, found)
    players: int | None = fields.get("players")
    if variant is None:
        raise InvalidRules(found)
    if given["variant"] != CUSTOM and players is not None and players not in variant.seats:
        raise InvalidRules([*found, wrong_seats(variant.name, players)])
    base = RuleSet(variant=CUSTOM) if given["variant"] == CUSTOM else variant.rules(players)
    rules = RuleSet(
        variant=str(given["variant"]), **{key: fields.get(key, getattr(base, key)) for key in KEYS[1:]}
    )
    found.extend(misfits(rules))
    if found:
        raise InvalidRules(found)
    return rules


def _variant(given: Mapping[str, object], found: list[str]) -> Variant | None:
    name = given.get("variant")
    if name == CUSTOM:
        return _CUSTOM_BASE
    if isinstance(name, str) and name in VARIANTS:
        return VARIANTS[name]
    if name is None:
        found.append(f"variant is missing; published are {', '.join(VARIANTS)}")
    elif isinstance(name, str):
        near = get_close_matches(name, VARIANTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"published are {', '.join(VARIANTS)}"
        found.append(f"{name!r:.60} is no published variant; {hint}")
    else:
        found.append(f"variant is the name of a published variant, or custom; it is {name!r:.60}")
    return None
