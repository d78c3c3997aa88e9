"""The transparency log: its checkpoint, its entries, and proofs of both, for whoever watches the server."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from flask import Response

from api.answers import ReadHeaders
from api.answers_log import LogEntriesAnswer, LogEntriesQuery, LogKeysAnswer, LogProofAnswer, LogProofQuery
from api.errors import FieldProblem, Problem
from api.house import house
from api.inputs import read_query, wsgi
from api.present import encode
from api.room import Room
from services.checkpoints import PublicLog
from services.leaves import Leaf
from services.notes import read_checkpoint
from services.translog import Place

logs: Final = Room("log", __name__, url_prefix="/v1/log", description="The transparency log")

FOR_EVER: Final = "public, max-age=31536000, immutable"
"""What an answer that can never be another is kept by."""
ANEW: Final = "no-cache"

_PROOF_QUERY: Final = LogProofQuery()
_ENTRIES_QUERY: Final = LogEntriesQuery()
_ETAG_DOC: Final = {
    "ETag": {
        "description": "size and root of the log, and how many keys sign for it",
        "schema": {"type": "string", "example": '"12-0123456789abcdef-1"'},
    }
}


@logs.view(
    "GET",
    "/checkpoint",
    {"type": "string", "description": "a signed note (C2SP tlog-checkpoint)"},
    headers=ReadHeaders,
    content_type="text/plain",
    sends=_ETAG_DOC,
    refuses=(503,),
    unchanged=True,
)
def get_checkpoint() -> Response:
    """Get the signed checkpoint of the log as it is now.

    Keep it: whoever has one can show that what was in the log then was changed or taken out later.
    """
    note = house().services.log.checkpoint()
    (_, size, root), _, signatures = read_checkpoint(note)
    etag = f'"{size}-{root.hex()[:16]}-{len(signatures)}"'
    headers = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": ANEW, "ETag": etag}
    if etag in (wsgi().get("HTTP_IF_NONE_MATCH") or ""):
        return Response(status=304, headers=headers)
    return Response(note.encode(), headers=headers)


@logs.view("GET", "/keys", LogKeysAnswer, refuses=(503,))
def get_keys() -> Response:
    """List the server's keys, each signed by the one before it.

    Whoever has one of them believes those behind it: `hearts verify --server-key HEX --server-keys FILE`.
    """
    log = house().services.log
    return _sent({"origin": log.origin, "keys": log.keys()}, ANEW)


@logs.view("GET", "/entries", LogEntriesAnswer, query=LogEntriesQuery, refuses=(503,))
def get_entries() -> Response:
    """List the entries of the log, oldest first.

    Whoever reads them all can compute every root. Two entries of one kind for one game prove that it was forked.
    """
    tree, query = house().services.log.tree, read_query(_ENTRIES_QUERY)
    start, limit = query["start"], query["limit"]
    size = tree.size()
    if start > size:
        raise _beyond("start", size)
    places = tree.leaves(start, limit)
    body = {
        "size": max(size, start + len(places)),
        "entries": [_entry(place) for place in places],
        "next": start + len(places),
    }
    return _sent(body, ANEW)


@logs.view(
    "GET", "/proof", LogProofAnswer, query=LogProofQuery, refuses=(404, 503), codes=("log/unknown_leaf",)
)
def get_log_proof() -> Response:
    """Prove that a leaf is in the log, or that an earlier log is the beginning of a later one.

    `leaf`, or `game` and `kind`, with or without `size`, ask for a leaf; `first`, with or without `second`, for two sizes.
    """
    log, query = house().services.log, read_query(_PROOF_QUERY)
    asked = {name for name, value in query.items() if value is not None}
    size = log.tree.size()
    for name in ("size", "first", "second"):
        if (query[name] or 0) > size:
            raise _beyond(name, size)
    if asked in ({"first"}, {"first", "second"}):
        return _consistency(log, query["first"], query["second"], size)
    if asked - {"size"} == {"leaf"}:
        found = log.tree.find([bytes.fromhex(query["leaf"])])[0]
        places = [] if found is None else log.tree.leaves(found, 1)
    elif asked - {"size"} == {"game", "kind"}:
        places = [one for one in log.tree.of_game(query["game"]) if one[1].kind == query["kind"]]
    else:
        told = "ask with leaf, with game and kind, each with or without size, or with first and second"
        raise FieldProblem([{"field": "", "detail": told}])
    if not places:
        raise _unknown("there is no such leaf in the log")
    return _inclusion(log, places[0], query["size"], size)


def _consistency(log: PublicLog, first: int, second: int | None, size: int) -> Response:
    later = size if second is None else second
    if first > later:
        raise FieldProblem([{"field": "first", "detail": f"first: it is above second, {later}"}])
    path = [one.hex() for one in log.consistency(first, later)]
    body = {"first": first, "second": later, "path": path, "checkpoint": log.checkpoint(later)}
    return _sent(body, ANEW if second is None else FOR_EVER)


def _inclusion(log: PublicLog, place: Place, asked: int | None, size: int) -> Response:
    index, leaf = place
    at = size if asked is None else asked
    if index >= at:
        raise _unknown(f"the leaf is the one at index {index}, and not in the log of {at}")
    body = msgspec.structs.asdict(log.inclusion(leaf.hash, index, at))
    body |= {**_fields(leaf), "checkpoint": log.checkpoint(at)}
    return _sent(body, ANEW if asked is None else FOR_EVER)


def _entry(place: Place) -> dict[str, Any]:
    index, leaf = place
    return {"index": index, "leaf": leaf.hash.hex(), **_fields(leaf)}


def _fields(leaf: Leaf) -> dict[str, Any]:
    return {"game": leaf.game, "kind": leaf.kind, "seq": leaf.seq, "head": leaf.head.hex()}


def _beyond(name: str, size: int) -> FieldProblem:
    return FieldProblem([{"field": name, "detail": f"{name}: the log has {size} entries"}])


def _unknown(detail: str) -> Problem:
    return Problem(
        "log/unknown_leaf",
        detail,
        hint="a game has a leaf from its lock and one from its end on; /v1/log/entries lists them all",
    )


def _sent(body: dict[str, Any], kept: str) -> Response:
    return Response(encode(body), headers={"Content-Type": "application/json", "Cache-Control": kept})
