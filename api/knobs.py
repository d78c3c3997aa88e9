"""The fields of a rule set as OpenAPI shows them. How they are read: `domain.knobs`."""

from __future__ import annotations

from typing import Any, Final

from domain.knobs import CLASSES, LARGEST, LONGEST_CYCLE, LONGEST_LIST, MOST_HAND, MOST_HANDS, MOST_SEATS

_CLASSES: Final = {
    "type": "array",
    "items": {"type": "string", "maxLength": 3},
    "maxItems": len(CLASSES),
    "example": ["H", "QS"],
}
KNOBS: Final[dict[str, dict[str, Any]]] = {
    "players": {"type": "integer", "minimum": 3, "maximum": MOST_SEATS, "description": "the number of seats"},
    "decks": {"type": "integer", "enum": [1, 2]},
    "removed": {
        "type": "string",
        "maxLength": LONGEST_LIST,
        "example": "2D 2C",
        "description": "cards taken out before the deal",
    },
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
        "maxProperties": len(CLASSES),
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

_MEANINGS: Final = {
    "decks": "packs of 52 cards",
    "kitty_to": "who gets the cards left over from the deal: the winner of the first or of the last trick",
    "pass_count": "cards that each seat passes",
    "opener": "forced: the lowest club held after the pass is led; left: the seat left of the dealer leads",
    "opening_ban": "classes (a suit or a card) that the opening lead may not be, where another card is held",
    "trick1_ban": "classes that a follower may not discard on the first trick",
    "trick1_all_banned": "who holds banned cards alone plays any, or the queen of spades",
    "breakers": "classes whose play breaks hearts; none: hearts may always be led",
    "qs_hearts_lead": "who leads, unbroken, with hearts and the queen of spades alone: the queen, or any",
    "cancel": "whether identical cards cancel each other",
    "dead_trick": "when nobody takes a trick: no card is live, or two pairs have cancelled",
    "dead_last": "who gets the pile of a dead last trick",
    "moon_effect": "what taking all penalty cards does",
    "moon_needs_bonus": "whether the cards of negative points must be taken too",
    "tie": "the lowest share the win, or play goes on until there is one",
    "perfect_hand": "the perfect round of Special",
    "moon_bonus": "whether cards of negative points still count in a hand with a moon or sun",
    "sun_effect": "what taking every trick does, in place of a moon",
    "sun_from": "the first trick that counts for a sun",
    "partners": "opposite: seats across from each other score together",
}
"""What the fields mean that say no more than their choices."""
KNOBS.update({key: {**KNOBS[key], "description": said} for key, said in _MEANINGS.items()})
