"""The documentation page, made of the OpenAPI document: every call, every code of a refusal, every body."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from api.document import JSON, operations_of
from api.errors import CODES
from api.links import Operations
from api.refusing import codes_in, example, told

WEB: Final = Path(__file__).with_name("web")
ADDRESS: Final = "http://hearts.invalid"
"""What stands on the page for the address of the server."""
_SHELL: Final = {"game": "$GAME", "seat": "3", "name": "standard"}
"""What stands in an example for a part of an address."""
_BEYOND: Final = {
    "request/not_found": "From addresses that nothing is at.",
    "request/method_not_allowed": "From any address, by a method that it does not take.",
    "game/altered": "From any call about a game that somebody has changed in the store.",
    "log/altered": "From calls about the log, when somebody has changed it in the store.",
    "server/error": "From no call that works as it should.",
}
"""Where the codes come from that are no matter of a call."""
_LIMITS: Final = (
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("maxItems", "at most {} entries"),
    ("pattern", "as in the pattern {}"),
)


def docs_page(spec: dict[str, Any]) -> str:
    """The page for a complete document, as HTML."""
    operations = operations_of(spec)
    info = spec["info"]
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        (WEB / "docs.html").read_text(encoding="utf-8")
    )
    return template.render(
        title=info["title"],
        version=info["version"],
        about=_paragraphs(info.get("description", "")),
        url=ADDRESS,
        groups=_groups(spec, operations),
        codes=[_code(code, operations) for code in sorted(CODES)],
        bodies=[_body(name, schema) for name, schema in sorted(spec["components"]["schemas"].items())],
    )


def _groups(spec: dict[str, Any], operations: Operations) -> list[dict[str, Any]]:
    calls = {name: _call(name, spec, operations) for name in operations}
    return [
        {
            "name": tag["name"],
            "about": tag.get("description", ""),
            "calls": [
                calls[name] for name, (_, _, one) in operations.items() if one["tags"] == [tag["name"]]
            ],
        }
        for tag in spec["tags"]
    ]


def _call(name: str, spec: dict[str, Any], operations: Operations) -> dict[str, Any]:
    method, path, operation = operations[name]
    media = operation.get("requestBody", {}).get("content", {}).get(JSON, {})
    schema = _resolve(media.get("schema", {}), spec)
    needed = schema.get("required", [])
    one_of = [field for one in schema.get("oneOf", []) for field in one["required"]]
    return {
        "id": name,
        "method": method,
        "path": path,
        "summary": operation["summary"].rstrip("."),
        "about": _paragraphs(operation.get("description", "")),
        "who": _who(operation),
        "parameters": [
            _row(one["name"], one["schema"], one.get("description", ""))
            | {"where": f"in the {one['in']}", "required": one.get("required", False)}
            for one in (*spec["paths"][path].get("parameters", ()), *operation.get("parameters", ()))
        ],
        "body": [
            _row(field, what) | {"required": field in needed}
            for field, what in sorted(
                schema.get("properties", {}).items(), key=lambda item: item[0] not in needed
            )
        ],
        "body_note": _prose(f"Exactly one of {', '.join(f'`{one}`' for one in one_of)}.") if one_of else "",
        "curl": "\n".join(_curl(method, path, operation, body) for body in _sent(media)),
        "answers": [
            _answer(status, one, spec) for status, one in operation["responses"].items() if status < "400"
        ],
        "refusals": [
            {"status": status, "codes": codes_in(one)}
            for status, one in operation["responses"].items()
            if status >= "400"
        ],
    }


def _sent(media: dict[str, Any]) -> list[Any]:
    """The examples of what is sent, nothing where no body is."""
    if "examples" in media:
        return [one["value"] for one in media["examples"].values()]
    return [media.get("example")]


def _who(operation: dict[str, Any]) -> str:
    if not operation["security"]:
        return "For anyone; a token is not looked at."
    if {} in operation["security"]:
        return "For anyone; with a token, the answer is what its player may see."
    return "A token is needed."


def _curl(method: str, path: str, operation: dict[str, Any], body: Any) -> str:
    address = re.sub(r"{(\w+)}", lambda part: _SHELL.get(part[1], f"${part[1].upper()}"), path)
    words = ["curl"]
    if {} not in operation["security"] and operation["security"]:
        words.append('-H "Authorization: Bearer $TOKEN"')
    if body:
        words.append(f"--json '{json.dumps(body)}'")
    elif method != "GET":
        words.append(f"-X {method}")
    return " ".join([*words, f"$URL{address}"])


def _answer(status: str, response: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    content = response.get("content", {})
    media = content.get(JSON, {})
    name = _name_of(media.get("schema", {}))
    kinds = " or ".join(f"`{kind}`" for kind in content)
    return {
        "status": status,
        "about": _prose(response["description"]),
        "body": _link(name) if name else _prose(kinds),
        "headers": [
            (header, _prose(_resolve(one, spec).get("description", "")))
            for header, one in response.get("headers", {}).items()
        ],
        "example": _pretty(media["example"]) if "example" in media else "",
    }


def _code(code: str, operations: Operations) -> dict[str, Any]:
    status, title = CODES[code]
    said = told(code)
    return {
        "code": code,
        "status": status,
        "title": title,
        "meaning": _prose(said.meaning),
        "advice": _prose(said.advice),
        "example": _pretty(example(code)),
        "beyond": _BEYOND.get(code, ""),
        "calls": [
            {"id": name, "method": method, "path": path}
            for name, (method, path, one) in operations.items()
            if code in codes_in(one["responses"].get(str(status), {}))
        ],
    }


def _body(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    needed = schema.get("required", [])
    return {
        "name": name,
        "about": _prose(schema.get("description", "")),
        "fields": [
            _row(field, what) | {"required": field in needed}
            for field, what in schema.get("properties", {}).items()
        ],
    }


def _row(name: str, schema: dict[str, Any], about: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "kind": _kind(schema),
        "about": _prose(about or schema.get("description", "")),
        "limits": _limits(schema),
    }


def _kind(schema: dict[str, Any]) -> Markup:
    """What a field is."""
    if "$ref" in schema:
        return _link(_name_of(schema))
    if "enum" in schema:
        return Markup(" | ").join(Markup("<code>{}</code>").format(_spelt(one)) for one in schema["enum"])
    for choices in ("oneOf", "anyOf"):
        if choices in schema:
            return Markup(" or ").join(_kind(one) for one in schema[choices])
    kinds = schema.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "properties" in schema:
        inner = Markup(", ").join(
            Markup("<code>{}</code>: {}").format(name, _kind(one))
            for name, one in schema["properties"].items()
        )
        return Markup("{{{}}}").format(inner)
    if "array" in kinds:
        rest = [kind for kind in kinds if kind != "array"]
        return Markup(" or ").join(
            [Markup("list of {}").format(_kind(schema.get("items", {}))), *map(escape, rest)]
        )
    return Markup(" or ".join(escape(kind) for kind in kinds))


def _limits(schema: dict[str, Any]) -> str:
    found = []
    if "minimum" in schema and "maximum" in schema:
        found.append(f"{schema['minimum']:,} to {schema['maximum']:,}")
    found += [text.format(schema[key]) for key, text in _LIMITS if key in schema]
    if schema.get("default") is not None:
        found.append(f"{_spelt(schema['default'])} unless you say so")
    if "examples" in schema:
        found.append(f"for example {json.dumps(schema['examples'][0])}")
    return "; ".join(found)


def _spelt(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _pretty(value: Any) -> str:
    """JSON for people: a line a field, inner lists and objects on one line where they are short."""
    if isinstance(value, dict) and value:
        lines = (f"  {json.dumps(name)}: {_inner(one)}" for name, one in value.items())
        return "{\n" + ",\n".join(lines) + "\n}"
    return json.dumps(value, indent=2)


def _inner(value: Any) -> str:
    short = json.dumps(value)
    if len(short) <= 100 or not isinstance(value, list):
        return short
    return "[\n    " + ",\n    ".join(json.dumps(one) for one in value) + "\n  ]"


def _paragraphs(text: str) -> list[Markup]:
    return [_prose(one) for one in text.split("\n\n") if one.strip()]


def _prose(text: str) -> Markup:
    """Text as HTML, what stands between backticks as code."""
    return Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text)))


def _link(name: str) -> Markup:
    return Markup('<a href="#{0}">{0}</a>').format(name)


def _name_of(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _resolve(value: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to, or ``value`` itself."""
    place: Any = value
    if "$ref" in place:
        place = spec
        for step in value["$ref"].removeprefix("#/").split("/"):
            place = place[step]
    found: dict[str, Any] = place
    return found
