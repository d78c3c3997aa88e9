"""What answers look like: an example made of the schema that describes them, with values as they are at a table."""

from __future__ import annotations

from typing import Any, Final

from msgspec import to_builtins

from domain.variants import ruleset_of

_HEAD: Final = "0123456789abcdef" * 4
_GAME: Final = "kX3vQ9b1T0yWm2Ra"
_PLAYER: Final = "p0123456789abcdef"
_SEATS: Final = [
    {
        "seat": seat,
        "kind": "bot" if bot else "player",
        "name": "rules" if bot else "Anna",
        "ready": True,
        "cards": 9 if seat == 2 else 10,
        "taken": taken,
        "won": won,
        "passed": True,
        "player": None if bot else _PLAYER,
        "away": False,
        "returning": False,
    }
    for seat, (bot, taken, won) in enumerate(
        [(True, 1, "2H 9H"), (True, 2, ""), (True, 0, ""), (False, 0, "")]
    )
]
_VALUES: Final[dict[str, Any]] = {
    "id": _GAME,
    "game": _GAME,
    "player": _PLAYER,
    "token": "hearts_...",
    "name": "Anna",
    "seq": 57,
    "next": 57,
    "head": _HEAD,
    "status": "playing",
    "phase": "play",
    "variant": "standard",
    "format": "hearts-record/1",
    "kind": "player",
    "cards": 9,
    "taken": 2,
    "hand_number": 2,
    "pass_offset": 1,
    "turn": 3,
    "deadline": None,
    "trick": [{"seat": 2, "card": "9C"}],
    "last_trick": [
        {"seat": 1, "card": "KC"},
        {"seat": 2, "card": "4C"},
        {"seat": 3, "card": "2C"},
        {"seat": 0, "card": "AC"},
    ],
    "last_winner": 0,
    "totals": [0, 13, 5, 8],
    "hands": [{"hand": 1, "points": [0, 13, 5, 8], "totals": [0, 13, 5, 8], "pass_offset": 1, "moon": None}],
    "winners": [],
    "places": [1, 4, 2, 3],
    "counting": "QS 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH",
    "pass_to": 0,
    "claim": {"tricks": 3, "points": [2, 0, 0, 24]},
    "you": 3,
    "hand": "4C 9D QS",
    "received": "QS",
    "given": "AS",
    "legal": "4C",
    "reason": None,
    "clock": None,
    "ready_seconds": 60,
    "created_at": 1_700_000_000_000,
    "updated_at": 1_700_000_060_000,
    "target": 100,
    "signature": "00" * 64,
    "server_key": "00" * 32,
    "scopes": ["play", "watch"],
    "event": '{"n":57,"t":"card_played","at":1700000000000,"seat":2,"card":"9C","by":"player"}',
    "private": None,
    "ready": True,
    "passed": True,
    "players": 4,
    "partitions": 64,
    "projector_lag": 0,
    "warnings": [],
    "version": "0.1.0",
    "commit": None,
    "kernel": "compiled",
    "live": True,
    "away": False,
    "returning": False,
    "hearts_broken": False,
    "rated": False,
    "hints": True,
}
"""Values of fields, by their names; one that does not fit its schema is not used."""
_VARIANT: Final = {
    "name": "standard",
    "title": "Standard",
    "summary": "What sets it apart.",
    "source": "where its rules are from",
    "players": [3, 4, 5, 6, 7],
}
_WHOLE: Final[dict[str, dict[str, Any]]] = {
    "PlayerAnswer": {"id": _PLAYER, "token": "hearts_" + "A" * 43, "name": "Anna"},
    "MeAnswer": {"id": _PLAYER, "name": "Anna", "scopes": ["play", "watch"]},
    "HintAnswer": {"play": "4C", "bot": {"name": "rules", "version": "1"}},
    "RecordAnswer": {"format": "hearts-record/1", "seats": ["Anna", "rules", "rules", "rules"], "hands": []},
    "GamesAnswer": {"next": None},
    "VariantAnswer": _VARIANT,
    "ToldVariantAnswer": {**_VARIANT, "sections": []},
    "TableAnswer": {"seats": _SEATS},
    "CommandAnswer": {"seats": _SEATS},
    "GameSeat": {"seat": 0, "bot": None},
}
"""Fields of certain bodies whose values are other ones there."""
_PATTERNS: Final = {"^[0-9a-f]{64}$": _HEAD, "^[0-9a-f]{128}$": "00" * 64}
"""Texts of a form."""
_LEFT_OUT: Final = frozenset(("open", "imported"))
"""Fields that stand there in few answers."""


_REQUESTS: Final[dict[str, Any]] = {
    "NewTable": {"variant": "standard", "seats": ["me", *[{"bot": "rules"}] * 3]},
}
"""Bodies that are sent, where their required fields are no example."""


def sample_request(name: str, components: dict[str, Any]) -> dict[str, Any]:
    """An example of the body ``name`` of a request: what it needs, and no more."""
    if name in _REQUESTS:
        found: dict[str, Any] = _REQUESTS[name]
        return found
    schema = components[name]
    return {
        field: _of(schema["properties"][field], components, name, field)
        for field in schema.get("required", ())
    }


def sample(schema: dict[str, Any], components: dict[str, Any]) -> Any:
    """An example of ``schema``, whose references lead to ``components``, the schemas by name."""
    return _of(schema, components, "", "")


def _of(schema: dict[str, Any], components: dict[str, Any], owner: str, field: str) -> Any:
    if "$ref" in schema:
        owner = str(schema["$ref"]).rpartition("/")[2]
        if owner == "Rules":
            return to_builtins(ruleset_of({"variant": "standard"}))
        return _of(components[owner], components, owner, field)
    if "allOf" in schema:
        return _of(schema["allOf"][0], components, owner, field)
    if "properties" in schema:
        return _object(schema, components, owner)
    if field in _WHOLE.get(owner, {}):
        return _WHOLE[owner][field]
    if schema.get("examples"):
        return schema["examples"][0]
    value = _VALUES.get(field)
    if field in _VALUES and _fits(value, schema):
        return value
    if "enum" in schema:
        return schema["enum"][0]
    for choices in ("anyOf", "oneOf"):
        if choices in schema:
            return _of(schema[choices][0], components, owner, field)
    kinds = _kinds(schema)
    if "array" in kinds:
        return [_of(schema.get("items", {}), components, "", field)]
    if "integer" in kinds:
        return max(0, schema.get("minimum", 0))
    if schema.get("pattern") in _PATTERNS:
        return _PATTERNS[schema["pattern"]]
    return {"string": "...", "boolean": False, "object": {}, "number": 0.5}.get(kinds[0]) if kinds else None


def _object(schema: dict[str, Any], components: dict[str, Any], owner: str) -> dict[str, Any]:
    if owner == "HintAnswer":
        return _WHOLE[owner]
    return {
        name: _of(what, components, owner, name)
        for name, what in schema["properties"].items()
        if name not in _LEFT_OUT
    }


def _kinds(schema: dict[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether ``value`` is of the kind that ``schema`` wants, and one of its choices."""
    if any(_fits(value, one) for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))):
        return True
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = {
        str: "string",
        bool: "boolean",
        int: "integer",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return kinds[type(value)] in _kinds(schema)
