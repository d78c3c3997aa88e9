"""The fields of a rule set as OpenAPI shows them. How they are read: `domain.knobs`."""

from __future__ import annotations

from typing import Any, Final

from domain.knobs import LARGEST, LONGEST_CYCLE, MOST_HAND, MOST_HANDS, MOST_SEATS

_CLASSES: Final = {"type": "array", "items": {"type": "string"}, "example": ["H", "QS"]}
KNOBS: Final[dict[str, dict[str, Any]]] = {
    "players": {"type": "integer", "minimum": 3, "maximum": MOST_SEATS, "description": "the number of seats"},
    "decks": {"type": "integer", "enum": [1, 2]},
    "removed": {"type": "string", "example": "2D 2C", "description": "cards taken out before the deal"},
    "hand": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_HAND,
        "description": "cards dealt to each seat",
    },
    "kitty_to": {"type": "string", "enum": ["first", "last"]},
    "pass_count": {"type": "integer", "minimum": 0, "maximum": 4},
    "pass_cycle": {
        "type": "array",
        "items": {"type": "integer", "enum": [-1, 0, 1, 2]},
        "minItems": 1,
        "maxItems": LONGEST_CYCLE,
        "description": f"hand by hand, at most {LONGEST_CYCLE}: 1 left, -1 right, 2 across, 0 hold",
    },
    "opener": {"type": "string", "enum": ["forced", "left"]},
    "opening_ban": _CLASSES,
    "trick1_ban": _CLASSES,
    "trick1_all_banned": {"type": "string", "enum": ["any", "must_qs"]},
    "breakers": _CLASSES,
    "qs_hearts_lead": {"type": "string", "enum": ["qs", "any"]},
    "cancel": {"type": "boolean"},
    "dead_trick": {"type": "string", "enum": ["no_live_card", "two_pairs"]},
    "dead_last": {"type": "string", "enum": ["nobody", "leader"]},
    "points": {
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST},
        "description": f"points by class, each from {-LARGEST} to {LARGEST}",
        "example": {"H": 1, "QS": 13, "JD": -10},
    },
    "moon_effect": {
        "type": "string",
        "enum": ["add", "subtract", "choice", "choice_if_lost", "auto", "collect", "none"],
    },
    "moon_x": {
        "type": "integer",
        "minimum": 0,
        "maximum": LARGEST,
        "description": f"points of a moon, at most {LARGEST}",
    },
    "moon_needs_bonus": {"type": "boolean"},
    "floor": {
        "type": "integer",
        "minimum": -LARGEST,
        "maximum": LARGEST,
        "description": f"the lowest a total may reach, from {-LARGEST} to {LARGEST}, or null",
    },
    "target": {
        "type": "integer",
        "minimum": 1,
        "maximum": LARGEST,
        "description": f"points that end the game, at most {LARGEST}",
    },
    "tie": {"type": "string", "enum": ["shared", "continue"]},
    "perfect_hand": {"type": "boolean"},
    "hand_limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_HANDS,
        "description": f"hands after which the game ends, at most {MOST_HANDS}, or null",
    },
    "moon_choice_from": {
        "type": "integer",
        "minimum": -LARGEST,
        "maximum": LARGEST,
        "description": "the total from which on a shooter may choose, or null: always",
    },
    "moon_bonus": {"type": "string", "enum": ["kept", "swallowed"]},
    "sun_effect": {"type": "string", "enum": ["none", "add", "subtract", "punish", "reset"]},
    "sun_x": {
        "type": "integer",
        "minimum": 0,
        "maximum": LARGEST,
        "description": f"points of a sun, at most {LARGEST}",
    },
    "sun_from": {"type": "integer", "enum": [1, 2]},
    "no_trick_points": {
        "type": "integer",
        "minimum": -LARGEST,
        "maximum": LARGEST,
        "description": "points for taking no trick",
    },
    "hand_floor": {
        "type": "integer",
        "minimum": -LARGEST,
        "maximum": LARGEST,
        "description": "the least that the cards of a hand score for a seat, or null",
    },
    "partners": {"type": "string", "enum": ["none", "opposite"]},
}
"""The fields of a rule set as OpenAPI shows them; what each means is docs/rules.md, section 1."""
MAY_BE_NULL: Final = frozenset(("floor", "hand_limit", "moon_choice_from", "hand_floor"))
"""The fields that may be null."""
