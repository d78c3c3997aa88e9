"""Pages for people: what this server is, and its documentation, made of the OpenAPI document. Plain HTML, nothing from elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Final

from flask import Flask, Response, request

from api.errors import CODES
from api.ops import program_version
from api.present import encode
from domain.variants import VARIANTS
from services.rules_text import published_summary

_METHODS: Final = ("get", "post", "delete")
_STYLE: Final = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
pre, code { font-family: ui-monospace, monospace; background: #f4f2ee; }
pre { padding: 1rem; overflow-x: auto; }
section { border-top: 1px solid #ccc; margin-top: 1.5rem; }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto; }
h2, h3, p { overflow-wrap: anywhere; }
dt { margin-top: .8rem; } dd { margin-left: 1.2rem; }
td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }
a { color: #8a1c1c; }
@media (prefers-color-scheme: dark) {
  body { background: #1c1b1a; color: #e6e3de; } pre, code { background: #2a2826; } a { color: #f09a9a; }
}
"""
_QUICK_START: Final = """\
URL={url}
TOKEN=$(curl -s --json '{{"name": "Anna"}}' $URL/v1/players | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
WHO="Authorization: Bearer $TOKEN"
GAME=$(curl -s -H "$WHO" --json '{{"variant": "standard", "seats": ["me", {{"bot": "rules"}}, {{"bot": "rules"}}, {{"bot": "rules"}}]}}' \\
  $URL/v1/games | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -s -H "$WHO" -X POST $URL/v1/games/$GAME/ready                            # deals; "hand" is yours
curl -s -H "$WHO" --json '{{"pass": ["AS", "KS", "QS"]}}' $URL/v1/games/$GAME/moves  # three cards of your hand
curl -s -H "$WHO" $URL/v1/games/$GAME                                          # "legal" when it is your turn
curl -s -H "$WHO" --json '{{"play": "2C"}}' $URL/v1/games/$GAME/moves
curl -s $URL/v1/games/$GAME/proof                                              # for hearts verify
"""


class Pages:
    """The pages of an application whose OpenAPI document is ``spec``."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._openapi = encode(spec)
        self._docs = _docs_page(spec).encode()

    def install(self, app: Flask) -> None:
        """Add the pages to ``app``."""
        app.add_url_rule("/", "home", self.home)
        app.add_url_rule("/docs", "docs", lambda: _sent(self._docs, "text/html; charset=utf-8"))
        app.add_url_rule("/docs.css", "docs_css", lambda: _sent(_STYLE.encode(), "text/css; charset=utf-8"))
        app.add_url_rule("/v1/openapi.json", "openapi", lambda: _sent(self._openapi, "application/json"))

    def home(self) -> Response:
        """What this is and how to begin, with the server's own address as the caller knows it."""
        url = request.host_url.rstrip("/")
        rows = "".join(
            f"<dt><a href='/v1/variants/{one.name}'>{one.name}</a>: {escape(one.title)}, "
            f"{_seats(sorted(one.seats))} seats</dt><dd>{escape(published_summary(one.name, one.usual_seats))}</dd>"
            for one in VARIANTS.values()
        )
        page = _page(
            "Hearts",
            f"""<h1>Hearts</h1>
<p>This server deals Hearts by the rules of six families and their relatives, for people and bots. Each shuffle is fixed before play and no event
can be altered unseen: whoever played can check the whole game afterwards, offline.</p>
<h2>Play</h2>
<p>In a terminal, where the program is installed:</p><pre>hearts play standard --url {escape(url)}</pre>
<p>By HTTP, with a recent curl:</p><pre>{escape(_QUICK_START.format(url=url))}</pre>
<p><a href="/docs">All calls</a> · <a href="/v1/openapi.json">OpenAPI</a> · <a href="/v1/games">tables</a></p>
<h2>Variants</h2>
<dl>{rows}</dl>
<p>Version {escape(program_version())} · <a href="/version">key and build</a></p>""",
        )
        return _sent(page.encode(), "text/html; charset=utf-8")


def _sent(data: bytes, content_type: str) -> Response:
    return Response(data, headers={"Content-Type": content_type, "Cache-Control": "no-cache"})


def _seats(counts: list[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="stylesheet" href="/docs.css"></head>\n<body>{body}</body></html>\n'
    )


def _docs_page(spec: dict[str, Any]) -> str:
    operations = [
        _operation(method, path, item[method], spec)
        for path, item in spec["paths"].items()
        for method in _METHODS
        if method in item
    ]
    bodies = [_schema(name, schema) for name, schema in spec["components"]["schemas"].items()]
    codes = "".join(
        f'<tr id="{code}"><td><code>{code}</code></td><td>{status}</td><td>{escape(title)}</td></tr>'
        for code, (status, title) in sorted(CODES.items())
    )
    info = spec["info"]
    return _page(
        "Hearts: the calls",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{_prose(info.get('description', ''))}</p>"
        f'<p>As data: <a href="/v1/openapi.json">OpenAPI 3.1</a>. What bodies hold stands '
        f'<a href="#bodies">below the calls</a>, the codes of refusals <a href="#codes">below that</a>.</p>'
        f'{"".join(operations)}<h2 id="bodies">Bodies</h2>{"".join(bodies)}'
        f'<h2 id="codes">Codes of refusals</h2><table>{codes}</table>',
    )


def _operation(method: str, path: str, operation: dict[str, Any], spec: dict[str, Any]) -> str:
    rows = [
        _row(one["name"], f"in the {one['in']}", one.get("schema", {}), one.get("description", ""))
        for one in operation.get("parameters", [])
    ]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        schema = spec["components"]["schemas"][_name_of(media["schema"])]
        needed = schema.get("required", [])
        for name, field in schema.get("properties", {}).items():
            where = "in the body, required" if name in needed else "in the body"
            rows.append(_row(name, where, field, field.get("description", "")))
    token = "" if {} in operation.get("security", [{}]) else " A token is needed."
    named = {status: one for status, one in operation["responses"].items() if status != "default"}
    answers = [f"{status} {_reference(one)}" for status, one in named.items() if "$ref" not in one]
    answers += [status for status, one in named.items() if _name_of(one) == "UNCHANGED"]
    refusals = [status for status, one in named.items() if _name_of(one) == "PROBLEM"]
    told = f", and refuses with {', '.join(refusals)}" if refusals else ""
    return (
        f"<section><h3><code>{method.upper()} {escape(path)}</code> {escape(operation['summary'].rstrip('.'))}</h3>"
        f"<p>{_prose(operation.get('description', ''))}{token}</p><table>{''.join(rows)}</table>"
        f"<p>Answers {', '.join(answers)}{told}.</p></section>"
    )


def _schema(name: str, schema: dict[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = "".join(
        _row(field, "" if field in needed else "not always", what, what.get("description", ""))
        for field, what in schema.get("properties", {}).items()
    )
    return f'<section><h3 id="{name}">{name}</h3><table>{rows}</table></section>'


def _row(name: str, where: str, schema: dict[str, Any], description: str) -> str:
    cells = (f"<code>{escape(name)}</code>", escape(where), _kind(schema), _prose(description))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _kind(schema: dict[str, Any]) -> str:
    """What a field is, as HTML."""
    if "$ref" in schema:
        return _link(_name_of(schema))
    if "enum" in schema:
        return escape(" | ".join(str(one) for one in schema["enum"] if one is not None))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "oneOf" in schema:
        return " or ".join(_kind(one) for one in schema["oneOf"])
    if "properties" in schema:
        return escape(f"{{{', '.join(schema['properties'])}}}")
    kind = schema.get("type", "any")
    return escape(" or ".join(kind) if isinstance(kind, list) else str(kind))


def _reference(response: dict[str, Any]) -> str:
    """A link to the body of a response, or what it is where it has no schema of its own."""
    for media, content in response.get("content", {}).items():
        name = _name_of(content["schema"])
        return _link(name) if name else escape(media)
    return ""


def _link(name: str) -> str:
    return f'<a href="#{name}">{name}</a>'


def _name_of(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _prose(text: str) -> str:
    """Text as HTML, what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
