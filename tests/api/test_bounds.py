"""Whatever a request can say is bounded: in the document that clients read, and where it is taken."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from tests.api.guests import Guest

BOUNDS = {
    "string": ({"maxLength"}, {"pattern"}, {"enum"}),
    "integer": ({"minimum", "maximum"}, {"enum"}),
    "array": ({"maxItems"},),
    "boolean": (set(),),
}
"""By type, what of a schema bounds it; one of several is enough."""
READ_IN_PLACE = {"If-None-Match"}
"""Headers that are only compared; the server bounds the head of a request. Names in paths have a test of their own."""


def found_unbounded(spec: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    """The places within a schema of a request that have no bound."""
    if "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name in ("oneOf", "anyOf", "allOf"):
        for number, inner in enumerate(schema.get(name, [])):
            yield from found_unbounded(spec, inner, f"{where}.{name}{number}")
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "object":
            if "properties" not in schema and not {"maxProperties", "additionalProperties"} <= schema.keys():
                yield f"{where}: {schema}"
        elif kind != "null" and not any(bound <= schema.keys() for bound in BOUNDS[kind]):
            yield f"{where}: {schema}"
    if not kinds and not {"oneOf", "anyOf", "allOf", "enum", "properties"} & schema.keys():
        yield f"{where}: {schema}"
    if "items" in schema:
        yield from found_unbounded(spec, schema["items"], f"{where}[]")
    for name, inner in schema.get("properties", {}).items():
        yield from found_unbounded(spec, inner, f"{where}.{name}")


def unbounded(spec: dict[str, Any]) -> list[str]:
    """The places in the requests of a document that have no bound."""
    found = []
    for path, item in spec["paths"].items():
        shared = item.get("parameters", [])
        for method in item.keys() - {"parameters"}:
            call = item[method]
            for one in [*shared, *call.get("parameters", [])]:
                if one["in"] == "path" or one["name"] in READ_IN_PLACE:
                    continue
                found += found_unbounded(spec, one["schema"], f"{method} {path} {one['in']} {one['name']}")
            for media in call.get("requestBody", {}).get("content", {}).values():
                found += found_unbounded(spec, media["schema"], f"{method} {path} body")
    return found


def test_every_field_of_every_request_is_bounded(app: Flask) -> None:
    """Texts by length or pattern, numbers by range, lists by count; parameters, headers and bodies alike."""
    spec = app.test_client().get("/v1/openapi.json").json
    assert [] == unbounded(spec)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"enum": ["x"]}},
        {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        {"type": ["integer", "null"]},
        {"type": "object"},
        {"type": "object", "properties": {"x": {"type": "string"}}},
        {"oneOf": [{"type": "string", "enum": ["x"]}, {"type": "string"}]},
        {},
    ],
)
def test_what_has_no_bound_is_found(schema: dict[str, Any]) -> None:
    """The search sees what it is for, so that its silence means something."""
    assert [] != list(found_unbounded({}, schema, "x"))


def test_names_in_addresses_are_bounded(four: list[Guest]) -> None:
    """An id of any length that cannot be one is unknown, and never becomes a key of the store."""
    for long in ("x" * 65, "x" * 8000):
        for path in (f"/v1/games/{long}", f"/v1/games/{long}/events", f"/v1/variants/{long}"):
            assert 404 == four[0].get(path).status_code
        assert 404 == four[0].delete(f"/v1/me/tokens/{long}").status_code
        assert 422 == four[0].get(f"/v1/games?player={long}").status_code
        assert 400 == four[0].post("/v1/me/tokens", {}, Idempotency_Key=long * 4).status_code


def test_texts_that_are_read_whole_are_bounded(four: list[Guest]) -> None:
    """A list of cards and a version have a length beyond which nothing is looked at."""
    seats = ["me", *[{"bot": "rules"}] * 3]
    rules = {"variant": "custom", "removed": "2C " * 200}
    refused = four[0].post("/v1/games", {**rules, "seats": seats})
    assert (422, "rules/invalid") == (refused.status_code, refused.json["code"])
    assert "removed must be a card list" in refused.json["detail"]
    game = four[0].post("/v1/games", {"variant": "basic", "seats": seats}).json["id"]
    for length, status in ((1022, 412), (1023, 400)):
        etag = f'"{"0" * length}"'
        assert status == four[0].post(f"/v1/games/{game}/ready", {}, If_Match=etag).status_code
