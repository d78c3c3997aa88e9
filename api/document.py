"""The OpenAPI document, completed: what flask-smorest makes of the schemas, with what it cannot know of this server.

Everything follows from the calls as they are registered (`api.room`) and from the tables of codes and headers, so that a
call that is added is described whole without a line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any, Final

from marshmallow import Schema

from api.header_docs import HEADERS
from api.links import Operations, add_links
from api.refusing import REFUSES, codes_of, examples, refusals
from api.samples import sample, sample_request
from domain.knobs import MOST_SEATS
from domain.variants import VARIANTS

METHODS: Final = ("get", "post", "put", "patch", "delete")
JSON: Final = "application/json"
_PATHS: Final[dict[str, dict[str, Any]]] = {
    "game": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$", "description": "the id of a game"},
    "seat": {
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_SEATS - 1,
        "description": "the number of a seat, clockwise from 0",
    },
    "name": {"type": "string", "enum": list(VARIANTS), "description": "the name of a variant"},
    "player": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_:@.-]{1,64}$",
        "description": "the id of a player or bot",
    },
    "token": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]{1,64}$",
        "description": "the id of a token, which is not the token itself",
    },
}
"""What stands for a part of an address, by its name; ``description`` is that of the parameter."""
_HEADERS: Final[dict[str, str]] = {
    "Idempotency-Key": "^[!-~]{1,255}$",
    "If-Match": r'^(?:\*|(?:W/)?"[!#-~]*")$',
}
"""The form of what is sent in a header."""
_ONE_OF: Final = {"Move": ("pass", "play", "moon")}
"""Bodies of which exactly one of some fields is sent."""
_BY_TABLES: Final = frozenset(("204", "304", "403", "409", "412", "422"))
"""Statuses by which a table answers that is not shown."""
_UNCHANGED: Final = "Nothing has changed since the version of `If-None-Match`"
_BEARER: Final = "the token that `POST /v1/players` gives; never in an address, which ends up in logs"
_DONE: Final = {"200": "As asked", "201": "Made"}


def complete(spec: dict[str, Any]) -> dict[str, Any]:
    """The whole document of what flask-smorest has gathered in ``spec``, which is changed."""
    components = spec["components"]
    told = _docstrings()
    for name, schema in components["schemas"].items():
        schema["description"] = told[name]
    operations = operations_of(spec)
    used: set[str] = set()
    for _, path, operation in operations.values():
        codes = _codes(path, operation)
        used |= set(codes)
        done = {status: one for status, one in operation["responses"].items() if status < "400"}
        if "304" in done:
            done["304"] = {"description": _UNCHANGED}
        operation["responses"] = done | refusals(codes)
        _describe_answers(operation["responses"], components["schemas"])
        _version_refusals(operation["responses"])
        if "401" not in operation["responses"]:
            # a token that is sent all the same is not looked at
            operation["security"] = []
        _share_headers(operation["responses"], components.setdefault("headers", {}))
    components["examples"] = examples(used)
    components.pop("responses", None)
    _complete_parameters(spec)
    _complete_bodies(operations, components["schemas"])
    _modernise(spec["paths"])
    _modernise(components["schemas"])
    _modernise(components["headers"])
    _add_samples(operations, components["schemas"])
    add_links(spec, operations)
    components["securitySchemes"]["bearer"]["description"] = _BEARER
    spec["servers"] = [{"url": "/", "description": "this server"}]
    spec["security"] = []
    return spec


def _docstrings() -> dict[str, str]:
    """What each schema says of itself, by name."""
    found, waiting = {}, list[type[Schema]]([Schema])
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        found[one.__name__] = " ".join(cleandoc(one.__doc__ or "").replace("``", "`").split())
    return found


def _codes(path: str, operation: dict[str, Any]) -> list[str]:
    """The codes that a call may refuse with, of what `api.room` has left: statuses, and codes of its own."""
    statuses = [int(status) for status in operation["responses"] if "400" <= status < "default"]
    keyed = any(one["name"] == "Idempotency-Key" for one in operation.get("parameters", ()))
    return codes_of(statuses, operation.pop(REFUSES, ()), path, keyed=keyed)


def operations_of(spec: dict[str, Any]) -> Operations:
    """Every call of a document, in its order."""
    return {
        item[method]["operationId"]: (method.upper(), path, item[method])
        for path, item in spec["paths"].items()
        for method in METHODS
        if method in item
    }


def schemas_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object within ``value``, inner ones first; those that are schemas are among them."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from schemas_in(inner)
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from schemas_in(inner)


def _describe_answers(responses: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Say what a successful answer is: the first sentence of its schema."""
    for status, response in responses.items():
        if status in _DONE:
            body = response.get("content", {}).get(JSON, {}).get("schema", {})
            about = schemas.get(str(body.get("$ref", "")).rpartition("/")[2], {}).get("description", "")
            response["description"] = about or _DONE[status]


def _version_refusals(responses: dict[str, Any]) -> None:
    """A refusal by a table says by which version of it, in the header of every answer about one."""
    etag = next(
        (one["headers"]["ETag"] for one in responses.values() if "ETag" in one.get("headers", {})), None
    )
    for status in _BY_TABLES & responses.keys() if etag else ():
        responses[status].setdefault("headers", {})["ETag"] = etag


def _share_headers(responses: dict[str, Any], headers: dict[str, Any]) -> None:
    """Move the headers of answers among the components, where each is described once."""
    for response in responses.values():
        for name, header in response.get("headers", {}).items():
            described = HEADERS.get(name, header)
            if "$ref" in header or headers.setdefault(name, described) != described:
                continue
            response["headers"][name] = {"$ref": f"#/components/headers/{name}"}


def _complete_parameters(spec: dict[str, Any]) -> None:
    for item in spec["paths"].values():
        for one in item.get("parameters", ()):
            if one["name"] in _PATHS:
                schema = dict(_PATHS[one["name"]])
                one["description"] = schema.pop("description")
                one["schema"] = schema
        for method in METHODS:
            for one in item.get(method, {}).get("parameters", ()):
                _complete_parameter(one)


def _complete_parameter(one: dict[str, Any]) -> None:
    """A parameter has no null: it is left out."""
    schema = one["schema"]
    if one["name"] in _HEADERS:
        schema["pattern"] = _HEADERS[one["name"]]
    if isinstance(schema.get("type"), list):
        (schema["type"],) = [kind for kind in schema["type"] if kind != "null"]
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    if "default" in schema and schema["default"] is None:
        del schema["default"]


def _complete_bodies(operations: Operations, schemas: dict[str, Any]) -> None:
    """What is taken has no unknown fields, and may be left out where none is required."""
    for _, _, operation in operations.values():
        body = operation.get("requestBody")
        if body is None:
            continue
        name = str(body["content"][JSON]["schema"]["$ref"]).rpartition("/")[2]
        schema = schemas[name]
        schema["additionalProperties"] = False
        if name in _ONE_OF:
            schema["oneOf"] = _choices(schema["properties"], _ONE_OF[name])
        body["required"] = bool(schema.get("required")) or name in _ONE_OF


def _choices(properties: dict[str, Any], one_of: tuple[str, ...]) -> list[dict[str, Any]]:
    """A body for each field of ``one_of``: it, and what may be sent beside any of them."""
    beside = {name: what for name, what in properties.items() if name not in one_of}
    return [
        {
            "title": field,
            "type": "object",
            "properties": {field: properties[field], **beside},
            "required": [field],
            "additionalProperties": False,
        }
        for field in one_of
    ]


def _modernise(value: Any) -> None:
    """Schemas in the words of JSON Schema 2020-12; a choice or a list that may be null in those that generators like."""
    for one in schemas_in(value):
        if "example" in one and not {"content", "in", "value", "schema"} & one.keys():
            one["examples"] = [one.pop("example")]
        kinds = one.get("type")
        if isinstance(kinds, list) and "null" in kinds and ("enum" in one or "object" in kinds):
            about = {"description": one.pop("description")} if "description" in one else {}
            (one["type"],) = [kind for kind in kinds if kind != "null"]
            if "enum" in one:
                one["enum"] = [choice for choice in one["enum"] if choice is not None]
            inner = {"title": "value", **one}
            one.clear()
            one.update(about, anyOf=[inner, {"type": "null"}])


def _add_samples(operations: Operations, schemas: dict[str, Any]) -> None:
    for _, _, operation in operations.values():
        if "requestBody" in operation:
            _add_requests(operation["requestBody"]["content"][JSON], schemas)
        for status, response in operation["responses"].items():
            if status in _DONE and JSON in response.get("content", {}):
                media = response["content"][JSON]
                media["example"] = sample(media["schema"], schemas)


def _add_requests(media: dict[str, Any], schemas: dict[str, Any]) -> None:
    """An example of what is sent, or one of each where it is one of several."""
    name = str(media["schema"]["$ref"]).rpartition("/")[2]
    if name not in _ONE_OF:
        media["example"] = sample_request(name, schemas)
        return
    fields = schemas[name]["properties"]
    media["examples"] = {one: {"value": {one: sample(fields[one], schemas)}} for one in _ONE_OF[name]}
