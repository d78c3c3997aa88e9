"""Where an answer leads: OpenAPI's links, by which a tool walks from opening a table to its proof.

They follow from the addresses: who opens a table is led to every call at a table, who has acted at one to the next move.
A call that is added under ``/v1/games/{game}`` is led to without a line here.
"""

from __future__ import annotations

from typing import Any, Final

Operations = dict[str, tuple[str, str, dict[str, Any]]]
"""Method, address and the operation itself, by operationId."""

_AT_A_TABLE: Final = "/v1/games/{game}"
_TABLE: Final = frozenset(("id", "seq", "phase", "seats", "rules"))
"""A body with these fields is a table."""
_NEXT: Final = ("show_table", "read_events", "get_hint", "make_move", "get_ready")
"""What is done after a command, and after a look."""
_BODY: Final = "$response.body#/"
_HINTED: Final = {"play": f"{_BODY}play", "pass": f"{_BODY}pass", "moon": f"{_BODY}moon"}


def add_links(spec: dict[str, Any], operations: Operations) -> None:
    """Give the successful answers of ``spec`` the links that their bodies allow."""
    schemas = spec["components"]["schemas"]
    for name, (_, _, operation) in operations.items():
        for status, response in operation["responses"].items():
            schema = _body(response, schemas) if status in ("200", "201") else {}
            links = _from_table(status, schema, operations)
            links |= {to: link for to, link in _of(name, operations).items() if status in ("200", "201")}
            if links:
                response["links"] = links


def _from_table(status: str, schema: dict[str, Any], operations: Operations) -> dict[str, Any]:
    if not schema.get("properties", {}).keys() >= _TABLE:
        return {}
    if status == "201":
        wanted = [to for to, (_, other, _) in operations.items() if other.startswith(_AT_A_TABLE)]
    else:
        wanted = [to for to in _NEXT if to in operations]
    return {to: _link(to, operations, f"{_BODY}id") for to in wanted}


def _link(to: str, operations: Operations, game: str) -> dict[str, Any]:
    """A link to the call ``to`` at the table ``game``, with what else the table tells of its parameters."""
    _, path, operation = operations[to]
    known = {"seat": f"{_BODY}you"} if "{seat}" in path else {}
    taken = {one["name"] for one in operation.get("parameters", ())}
    if "If-Match" in taken:
        known["If-Match"] = "$response.header.ETag"
    if "at" in taken:
        known["at"] = f"{_BODY}seq"
    return {"operationId": to, "parameters": {"game": game, **known}}


def _of(name: str, operations: Operations) -> dict[str, Any]:
    """The links of the calls whose answers are no tables."""
    found: dict[str, Any] = {}
    if name == "create_player":
        for to, (_, path, operation) in operations.items():
            taken = {one["name"] for one in operation.get("parameters", ())}
            if "player" in taken or "{player}" in path:
                found[to] = {"operationId": to, "parameters": {"player": f"{_BODY}id"}}
    elif name == "list_variants":
        found["show_variant"] = {
            "operationId": "show_variant",
            "parameters": {"name": f"{_BODY}variants/0/name"},
        }
    elif name == "read_events":
        here = {"game": "$request.path.game"}
        found["next"] = {"operationId": name, "parameters": {**here, "after": f"{_BODY}next"}}
    elif name == "get_hint":
        for move, value in _HINTED.items():
            found[move] = {
                "operationId": "make_move",
                "parameters": {"game": "$request.path.game"},
                "requestBody": {move: value},
                "description": f"the hint as a move, where it is a {move}",
            }
    return {to: one for to, one in found.items() if one["operationId"] in operations}


def _body(response: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    found: dict[str, Any] = schemas.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    return found
