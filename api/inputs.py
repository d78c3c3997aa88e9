"""What a request says: its body, its query, its idempotency key and the version it was meant for.

Nothing here trusts its input. JSON is read strictly and validated by the marshmallow schemas that the OpenAPI document is
made of; whatever is wrong is told at once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, cast

import msgspec
from flask import Request, request
from marshmallow import ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from api.errors import FieldProblem, HeaderProblem, Problem
from api.gate import gate_of
from api.schemas import LONGEST_IF_MATCH, QueryWhole
from api.schemas import Request as Taken
from api.sent import JSON
from services.json_keys import find_twice
from services.once import Key
from services.tables import UnknownGame

MOST_DRAINED: Final = 32
"""Pieces of the largest body that are read and thrown away of one that is larger."""
LARGEST_BODY: Final = 64 * 1024
"""Bytes of a body."""
DEEPEST: Final = 16
"""Lists and objects inside one another in a body; the deepest that any request needs is three."""
MOST_UNKNOWN: Final = 10
"""Unknown fields that are told; finding the nearest known one takes its time."""
GAME_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FRACTION: Final = re.compile(rb"[0-9](?:\.[0-9]|[eE])")
"""What stands in a body that has a float, and in few others."""
_LARGEST_FLOAT: Final = 2**53
"""Whole numbers beyond it are no longer told apart as floats."""
_MOST_DIGITS: Final = 9
_INTEGER: Final = re.compile("-?[0-9]+")
_MOST_PLACES: Final = 20
"""So many say of any number whether it is within bounds, and are soon read."""
_IDEMPOTENCY_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
_ETAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
_ETAGS: Final = re.compile(rf"{_ETAG.pattern}(?:[ \t]*,[ \t]*{_ETAG.pattern})*")


class RawRequest(Request):
    """A request that gives out the mapping it was made of: reading two headers there costs less than one by werkzeug."""

    def __init__(self, wsgi: dict[str, Any], *args: Any, **options: Any) -> None:
        super().__init__(wsgi, *args, **options)
        self.wsgi = wsgi


def wsgi() -> dict[str, Any]:
    """The current request as WSGI has it (PEP 3333): headers by their ``HTTP_`` names."""
    return cast(RawRequest, request).wsgi


class Body(NamedTuple):
    """A JSON object as it was sent, and as its schema reads it."""

    sent: dict[str, Any]
    fields: dict[str, Any]


def read_body(environ: Mapping[str, Any], schema: Taken) -> Body:
    """The body of the request, read by ``schema``; no body at all is an empty object.

    Raises ``request/unreadable``, ``request/media_type``, ``request/too_large``, ``request/invalid``.
    """
    sent = _read_object(environ)
    unknown = [name for name in sent if name not in schema.names]
    errors = [_unknown_field(name, schema) for name in unknown[:MOST_UNKNOWN]]
    if len(unknown) > MOST_UNKNOWN:
        errors.append(
            {"field": "", "detail": f"{len(unknown) - MOST_UNKNOWN} more are no fields of this request"}
        )
    try:
        fields = schema.load(sent)
    except ValidationError as error:
        raise FieldProblem(errors + _flatten(error.messages)) from error
    if errors:
        raise FieldProblem(errors)
    return Body(sent, fields)


def read_query(schema: Taken) -> dict[str, Any]:
    """The query of the request, read by ``schema``; parameters that it does not know are let be."""
    sent = read_args()
    try:
        found: dict[str, Any] = schema.load(sent)
    except ValidationError as error:
        messages = cast("dict[str, Any]", error.messages)
        raise FieldProblem(_flatten({**messages, **_out_of_bounds(schema, sent)})) from error
    return found


def _out_of_bounds(schema: Taken, sent: Mapping[str, str]) -> dict[str, Any]:
    """What to tell of whole numbers that are outside what their parameters take: their bounds."""
    found: dict[str, Any] = {}
    for name, text in sent.items():
        field = schema.load_fields.get(name)
        if isinstance(field, QueryWhole) and _INTEGER.fullmatch(text):
            try:
                for check in field.validators:
                    check(int((text.lstrip("0") or "0")[:_MOST_PLACES]))
            except ValidationError as error:
                found[name] = error.messages
    return found


def read_args() -> dict[str, str]:
    """The query as it was sent, the first of parameters of one name. Raises ``request/unreadable``."""
    try:
        return request.args.to_dict()
    except ValueError as error:
        raise Problem(
            "request/unreadable", "the query is no UTF-8", hint="write such bytes as %XX"
        ) from error


def read_key(environ: Mapping[str, Any], caller: str, sent: dict[str, Any]) -> Key | None:
    """The idempotency key of the request with the digest of what it asks, none where it has none."""
    text = environ.get("HTTP_IDEMPOTENCY_KEY")
    if text is None:
        return None
    if _IDEMPOTENCY_KEY.fullmatch(text) is None:
        detail = "Idempotency-Key: it has 1 to 255 visible ASCII characters"
        raise HeaderProblem("Idempotency-Key", detail)
    route = f"{request.method} {request.path}"
    canonical = msgspec.json.encode(sent, order="sorted")
    return Key(caller, route, text, hashlib.sha256(route.encode() + b"\n" + canonical).hexdigest())


def read_if_match(environ: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The versions that a command may be judged by, as etags, mostly one; none where any will do (RFC 9110, 13.1.1).

    A weak etag is never the version of a table, so it is compared like any other and found stale.
    """
    text: str | None = environ.get("HTTP_IF_MATCH")
    if text is None:
        return None
    text = text.strip()
    if text == "*":
        return None
    if len(text) > LONGEST_IF_MATCH or _ETAGS.fullmatch(text) is None:
        detail = 'If-Match: it is * or a version in quotes, as in "57-0123456789abcdef", or some with commas between'
        raise HeaderProblem("If-Match", detail)
    return tuple(_ETAG.findall(text))


def check_game_id(game: str) -> None:
    """Raise `UnknownGame` for what cannot be a game's id, so that it never becomes a key of the store."""
    if GAME_ID.fullmatch(game) is None:
        raise UnknownGame("no game has such an id")


def _read_object(environ: Mapping[str, Any]) -> dict[str, Any]:
    data = _read_bytes(environ)
    if not data:
        # the server underneath reads nothing of chunks that are none, nor where the sender leaves
        if "HTTP_TRANSFER_ENCODING" in environ:
            raise Problem(
                "request/unreadable",
                "a chunked body that is empty or broke off",
                hint="send it whole, or no body and no Transfer-Encoding",
            )
        return {}
    if environ.get("CONTENT_TYPE") != JSON and not _is_json():
        raise Problem(
            "request/media_type",
            f"the body is {_media_type()}",
            hint=f"send JSON in UTF-8, with Content-Type: {JSON}",
        )
    try:
        sent = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Problem(
            "request/unreadable", f"the body is no JSON: {error}", hint="send one object"
        ) from error
    if data.count(b"[") + data.count(b"{") > DEEPEST and _is_deep(sent):
        raise Problem("request/unreadable", f"the body is nested deeper than {DEEPEST} levels")
    if _FRACTION.search(data):
        sent = _whole(sent)
    if not isinstance(sent, dict):
        raise FieldProblem([{"field": "", "detail": "the body is a JSON object"}])
    # each key brings a colon, so with as many as there are keys none stands there twice; more may be inner ones, or text
    if data.count(b":") != len(sent) and (twice := find_twice(data)):
        raise Problem(
            "request/unreadable", f"the key {twice.key!r:.60} stands there twice", hint="send each key once"
        )
    return sent


def _read_bytes(environ: Mapping[str, Any]) -> bytes:
    length = environ.get("CONTENT_LENGTH")
    outside = gate_of(environ).outside
    if length and len(length) <= _MOST_DIGITS and length.isascii() and length.isdecimal():
        # the usual case, without the layers of streams that werkzeug lays over it
        size = int(length)
        if size > LARGEST_BODY:
            outside(_drain, environ)
            raise RequestEntityTooLarge
        data: bytes = outside(environ["wsgi.input"].read, size)
        if len(data) < size:
            raise Problem("request/unreadable", f"the body broke off after {len(data)} of {size} bytes")
        return data
    try:
        data = outside(request.get_data, False)
    except RequestEntityTooLarge:
        outside(_drain, environ)
        raise
    if len(data) > LARGEST_BODY:
        raise RequestEntityTooLarge
    return data


def _drain(environ: Mapping[str, Any]) -> None:
    """Read what is left of a body that is too large, within bounds: a client that is still sending hears no answer."""
    for _ in range(MOST_DRAINED):
        if not environ["wsgi.input"].read(LARGEST_BODY):
            return


def _media_type() -> str:
    kind, charset = request.mimetype, request.mimetype_params.get("charset")
    if not kind:
        return "of no type"
    return f"{kind!r:.60}" if charset is None else f"{kind!r:.60} in the charset {charset!r:.40}"


def _is_json() -> bool:
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    return request.mimetype == JSON and charset in ("utf-8", "utf8")


def _whole(value: Any) -> Any:
    """``value`` with its floats that are whole numbers as such: to JSON Schema, and to many senders, 7.0 is 7."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _LARGEST_FLOAT else value
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {name: _whole(one) for name, one in value.items()}
    return value


def _is_deep(value: object) -> bool:
    """Whether a value is nested too deeply to be handed on: later code may walk it recursively."""
    level = [value]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not inner:
            return False
        level = inner
    return any(isinstance(one, dict | list) for one in level)


def _unknown_field(name: str, schema: Taken) -> dict[str, str]:
    near = get_close_matches(name[:60], schema.names, n=1)
    if near:
        told = f"did you mean {near[0]}?"
    else:
        told = f"there are {', '.join(sorted(schema.names))}" if schema.names else "there are none"
    return {"field": name[:60], "detail": f"{name!r:.60} is no field of this request; {told}"}


def _flatten(messages: Any, path: str = "") -> list[dict[str, str]]:
    """The nested messages of marshmallow as a list, each with the dotted path of its field."""
    if isinstance(messages, dict):
        found: list[dict[str, str]] = []
        for key, inner in messages.items():
            found += _flatten(inner, path if key == "_schema" else f"{path}.{key}" if path else str(key))
        return found
    return [{"field": path, "detail": _sentence(path, str(message))} for message in messages]


def _sentence(path: str, message: str) -> str:
    plain = message[:1].lower() + message[1:].rstrip(".")
    return f"{path}: {plain}" if path else plain
