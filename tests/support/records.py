"""Small game records written by hand, and copies of them with something changed."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from domain.record import replay
from domain.record_format import parse_record, short_rules
from tests.support.tables import complement, small_rules

HANDS = ["2C 3D 4S", "3C 4D 5S", "4C 5D 6S"]
AGAIN = ["2C 3D 4S", "3C 4D QS", "4C 5D 6S"]
PLAYS = "2C 3C 4C 6S 4S 5S 5D 3D 4D"


def verdict_of(record: object) -> dict[str, Any]:
    """What replaying a record says of it."""
    return dict(msgspec.to_builtins(replay(parse_record(record))))


def small_record(**more: Any) -> dict[str, Any]:
    """Three seats, three cards each and the queen over: a hand without a pass, then one with a pass to the left."""
    return {
        "format": "hearts-record/1",
        "rules": {
            "variant": "custom",
            "hand": 3,
            "removed": complement(HANDS, "QS", 1),
            "pass_count": 1,
            "pass_cycle": [0, 1],
            "opener": "left",
            "moon_effect": "none",
            "target": 50,
        },
        "seats": ["Anna", "Bo", "Cy"],
        "hands": [
            {
                "deal": list(HANDS),
                "kitty": "QS",
                "plays": PLAYS.split(),
                "points": [0, 0, 13],
                "totals": [0, 0, 13],
            },
            {
                "deal": list(AGAIN),
                "kitty": "5S",
                "pass": ["2C", "QS", "6S"],
                "plays": ["3C", "4C", "3D", "QS", "6S", "2C", "5D", "4S", "4D"],
                "points": [0, 0, 13],
                "totals": [0, 0, 26],
            },
        ],
        **more,
    }


def moon_record(**more: Any) -> dict[str, Any]:
    """Two hands of a moon that its shooter chose for."""
    hands = ["AH QS", "2H 2S", "3H 3S"]
    hand = {"deal": hands, "plays": ["AH", "2H", "3H", "QS", "2S", "3S"], "moon": "subtract"}
    other = {"deal": hands[1:] + hands[:1], "plays": ["3H", "AH", "2H", "QS", "2S", "3S"]}
    rules = short_rules(small_rules(hands, moon_effect="choice", breakers=[], hand_limit=3, tie="shared"))
    return {
        "format": "hearts-record/1",
        "rules": rules,
        "seats": ["a", "b", "c"],
        "hands": [hand, {**other, "moon": "add"}],
        **more,
    }


def spoil(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of ``record`` with one entry changed, or left out where ``value`` is `...`; ``path`` is dotted."""
    twin = copy.deepcopy(record)
    *way, key = path.split(".")
    where: Any = twin
    for step in way:
        where = where[int(step) if isinstance(where, list) else step]
    at = int(key) if isinstance(where, list) else key
    if value is ...:
        del where[at]
    else:
        where[at] = value
    return twin


def cut(record: dict[str, Any], plays: int, number: int = 1) -> dict[str, Any]:
    """A copy of ``record`` that breaks off in hand ``number`` (from 0) after so many plays."""
    twin = copy.deepcopy(record)
    hand = twin["hands"][number]
    hand["plays"] = hand["plays"][:plays]
    for key in ("points", "totals"):
        hand.pop(key, None)
    twin["hands"] = twin["hands"][: number + 1]
    return twin
