"""Headers of answers as OpenAPI describes them, by name, whatever call sends them."""

from __future__ import annotations

from typing import Any, Final

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "Location": {
        "description": "the address of the table",
        "required": True,
        "schema": {"type": "string", "format": "uri-reference", "pattern": "^/v1/games/[A-Za-z0-9_-]{1,64}$"},
    },
    "Link": {
        "description": 'the address of the next page, as `<...>; rel="next"`; not there on the last one',
        "schema": {"type": "string", "pattern": '^<[^>]+>; rel="next"$'},
    },
}
"""Beside those that `api.answers` has in full."""
BODY_ETAG_DOC: Final[dict[str, Any]] = {
    "ETag": {
        "description": "of what the answer says",
        "schema": {"type": "string", "pattern": '^"[0-9a-f]{16}"$'},
    }
}
"""The ETag of an answer that is about no one game."""
