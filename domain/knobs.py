"""The values that each key of a rule set may have: how they are read, and what is said of a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.cards import NAMES, SUITS, format_cards, parse_card, parse_cards

LARGEST: Final = 1_000_000
"""No number of a rule set is larger, so that totals stay small integers everywhere."""
CLASSES: Final = frozenset((*SUITS, *NAMES))
"""What a class may be: a suit letter or a card."""
MOST_SEATS: Final = 11
MOST_HAND: Final = 34
"""The most seats, and the most cards that a seat can be dealt: two decks at three seats."""
MOST_HANDS: Final = 4096
"""The longest game: the longest seed chain of ``docs/spec/audit.md``."""
LONGEST_LIST: Final = 512
"""Characters of a card list; two decks have 416."""
LONGEST_CYCLE: Final = 64
"""Entries of a pass cycle: every deal of a table's usual length may have a pass of its own, and no rule set is huge."""
VARIANT_SEATS: Final[dict[str, tuple[int, ...]]] = {
    "basic": (4,),
    "classic": (4,),
    "special": (4,),
    "standard": (3, 4, 5, 6, 7),
    "cancellation": (6, 7, 8, 9, 10, 11),
    "omnibus": (4,),
    "microsoft": (4,),
    "pagat": (4,),
    "bicycle": (3, 4, 5),
    "bicycle_cancellation": (7, 8),
    "bicycle_omnibus": (4,),
    "black_maria": (3, 4, 5, 6),
    "black_jack": (4,),
    "spot": (4,),
    "pip": (4,),
    "greek": (4,),
    "partnership": (4,),
    "custom": tuple(range(3, 12)),
}
"""What a rule set may be named after, and the numbers of seats each name stands for; their rules: `domain.variants`."""
LATER: Final[Mapping[str, Any]] = {
    "moon_choice_from": None,
    "moon_bonus": "kept",
    "sun_effect": "none",
    "sun_x": 52,
    "sun_from": 1,
    "no_trick_points": 0,
    "hand_floor": None,
    "partners": "none",
}
"""The keys that are left out at their defaults, and these defaults."""


def _number(low: int, high: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError
        return value

    return read


def _optional(read: Callable[[object], int]) -> Callable[[object], int | None]:
    return lambda value: None if value is None else read(value)


def _choice(*allowed: object) -> Callable[[object], object]:
    def read(value: object) -> object:
        for one in allowed:
            if type(value) is type(one) and value == one:
                return value
        raise ValueError

    return read


def _one_class(value: object) -> str:
    name = value.upper() if isinstance(value, str) else ""
    if name not in CLASSES:
        name = NAMES[parse_card(value)]
    return name


def _classes(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or len(value) > len(CLASSES):
        raise ValueError
    return tuple(dict.fromkeys(_one_class(one) for one in value))


def _cycle(value: object) -> tuple[int, ...]:
    read = _number(-1, 2)
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= LONGEST_CYCLE:
        raise ValueError
    return tuple(read(one) for one in value)


def _points(value: object) -> dict[str, int]:
    if not isinstance(value, Mapping) or len(value) > len(CLASSES):
        raise ValueError
    read = _number(-LARGEST, LARGEST)
    return {_one_class(key): read(number) for key, number in value.items()}


def _card_list(value: object) -> str:
    if isinstance(value, str) and len(value) > LONGEST_LIST:
        raise ValueError
    return format_cards(parse_cards(value))


_SEATS = (_number(3, MOST_SEATS), f"a number from 3 to {MOST_SEATS}")
_YES_NO = (_choice(True, False), "true or false")
_CLASS_LIST = (_classes, 'a list of classes, each a suit letter or a card, as in ["H", "QS"]')

READERS: Final[dict[str, tuple[Callable[[object], object], str]]] = {
    "variant": (_choice(*VARIANT_SEATS), "the name of a published variant, or custom"),
    "players": _SEATS,
    "decks": (_number(1, 2), "1 or 2"),
    "removed": (_card_list, "a card list, as in '2D 2C'"),
    "hand": (_number(1, MOST_HAND), f"a number from 1 to {MOST_HAND}"),
    "kitty_to": (_choice("first", "last"), "first or last"),
    "pass_count": (_number(0, 4), "a number from 0 to 4"),
    "pass_cycle": (
        _cycle,
        f"a list of 1 to {LONGEST_CYCLE} entries, each 1 (left), -1 (right), 2 (across) or 0 (hold)",
    ),
    "opener": (_choice("forced", "left"), "forced or left"),
    "opening_ban": _CLASS_LIST,
    "trick1_ban": _CLASS_LIST,
    "trick1_all_banned": (_choice("any", "must_qs"), "any or must_qs"),
    "breakers": _CLASS_LIST,
    "qs_hearts_lead": (_choice("qs", "any"), "qs or any"),
    "cancel": _YES_NO,
    "dead_trick": (_choice("no_live_card", "two_pairs"), "no_live_card or two_pairs"),
    "dead_last": (_choice("nobody", "leader"), "nobody or leader"),
    "points": (
        _points,
        f'an object of class or card to a number from {-LARGEST} to {LARGEST}, as in {{"H": 1, "QS": 13}}',
    ),
    "moon_effect": (
        _choice("add", "subtract", "choice", "choice_if_lost", "auto", "collect", "none"),
        "add, subtract, choice, choice_if_lost, auto, collect or none",
    ),
    "moon_x": (_number(0, LARGEST), f"a number from 0 to {LARGEST}"),
    "moon_needs_bonus": _YES_NO,
    "floor": (_optional(_number(-LARGEST, LARGEST)), f"null or a number from {-LARGEST} to {LARGEST}"),
    "target": (_number(1, LARGEST), f"a number from 1 to {LARGEST}"),
    "tie": (_choice("shared", "continue"), "shared or continue"),
    "perfect_hand": _YES_NO,
    "hand_limit": (_optional(_number(1, MOST_HANDS)), f"null or a number from 1 to {MOST_HANDS}"),
    "moon_choice_from": (
        _optional(_number(-LARGEST, LARGEST)),
        f"null or a number from {-LARGEST} to {LARGEST}",
    ),
    "moon_bonus": (_choice("kept", "swallowed"), "kept or swallowed"),
    "sun_effect": (
        _choice("none", "add", "subtract", "punish", "reset"),
        "none, add, subtract, punish or reset",
    ),
    "sun_x": (_number(0, LARGEST), f"a number from 0 to {LARGEST}"),
    "sun_from": (_number(1, 2), "1 or 2"),
    "no_trick_points": (_number(-LARGEST, LARGEST), f"a number from {-LARGEST} to {LARGEST}"),
    "hand_floor": (_optional(_number(-LARGEST, LARGEST)), f"null or a number from {-LARGEST} to {LARGEST}"),
    "partners": (_choice("none", "opposite"), "none or opposite"),
}
"""By key: a reader, which raises ValueError or `Malformed` for what it does not take, and what it takes, in words."""
