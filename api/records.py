"""What a game leaves behind: its proof file at any time, its record once it is over."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, cast

from flask import Response

from api.answers import ETAG_DOC, ReadHeaders, RecordAnswer
from api.answers_log import ProofQuery
from api.errors import FieldProblem, problem_of
from api.gate import gate_of
from api.house import house
from api.inputs import check_game_id, read_query, wsgi
from api.present import encode
from api.room import Room
from api.telling import check_over, check_shown
from domain.events import AnyEvent
from domain.record import record_of
from domain.refusals import CorruptLog
from services.codec import CODEC
from services.folded import Table
from services.proof import proof_lines
from services.store import PAGE

records: Final = Room("records", __name__, url_prefix="/v1/games", description="What a game leaves behind")

NDJSON: Final = "application/x-ndjson"
_FRAME: Final = 8
"""Pieces of a proof file of a page that are no events: the first line, the heads in three, receipt, checkpoint, two
inclusions."""
_PROOF_QUERY: Final = ProofQuery()


@records.view(
    "GET",
    "/<game>/proof",
    {"type": "string", "description": "one JSON object a line"},
    query=ProofQuery,
    headers=ReadHeaders,
    content_type=NDJSON,
    sends=ETAG_DOC,
    refuses=(404, 503),
    unchanged=True,
)
def get_proof(game: str) -> Response:
    """Get the proof file of the public events so far.

    Anybody can check it offline, with `hearts verify` or a program of their own: docs/spec/audit.md. Behind the events
    stand a receipt of the last one and, from the lock on, the path to the game's leaves in the transparency log.
    """
    here = house()
    check_game_id(game)
    size = read_query(_PROOF_QUERY)["size"]
    table, log = here.tables.load(game), here.services.log
    if size is not None and size > (leaves := log.tree.size()):
        raise FieldProblem([{"field": "size", "detail": f"size: the log has {leaves} entries"}])
    # where the log has something of the game the file changes with the log, not with the game alone
    if _is_known(table) and not log.has(game):
        return _unchanged(table)
    entries, keys = here.pages.entries(game, table.seq), here.services.key
    pieces = _pieces(proof_lines(entries, keys, table.head, lambda leaves, key: log.prove(leaves, key, size)))
    # the first one is made here, where a store that is silent can still be told; a game of usual length is that one piece
    whole = next(pieces)
    if table.seq <= PAGE:
        return _file(table, whole, NDJSON, "ndjson")
    return _file(table, gate_of(wsgi()).pieces(chain((whole,), _watched(pieces))), NDJSON, "ndjson")


@records.view(
    "GET",
    "/<game>/record",
    RecordAnswer,
    headers=ReadHeaders,
    sends=ETAG_DOC,
    refuses=(404, 409, 503),
    codes=("game/not_over",),
    unchanged=True,
)
def get_record(game: str) -> Response:
    """Get the record of a finished game.

    What was dealt, passed and played, for people and other programs: docs/spec/record.md.
    """
    here = house()
    check_game_id(game)
    table = here.tables.load(game)
    check_over(
        table,
        "the record is given out when the game is over",
        hint="the public events so far are in the proof file",
    )
    check_shown(table)
    if _is_known(table):
        return _unchanged(table)
    events = (CODEC.decode(public, hidden) for _, public, hidden in here.pages.entries(game, table.seq))
    record = record_of(cast("Iterator[AnyEvent]", events), here.players.seat_names(table.state))
    return _file(table, encode(record) + b"\n", "application/json", "json")


def _watched(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """``pieces`` of an answer that has begun: what is found now breaks it off, and can be told to the operator alone."""
    try:
        yield from pieces
    except CorruptLog as error:
        problem_of(error)
        raise


def _pieces(lines: Iterator[bytes]) -> Iterator[bytes]:
    """``lines`` joined to pieces of some hundred kilobytes."""
    while piece := b"".join(islice(lines, PAGE + _FRAME)):
        yield piece


def _file(table: Table, data: bytes | Iterator[bytes], content_type: str, ending: str) -> Response:
    headers = {
        "Content-Type": content_type,
        "Content-Disposition": f'attachment; filename="hearts-{table.state.game}.{ending}"',
        "Cache-Control": "no-cache",
        "ETag": table.etag,
    }
    return Response(data, headers=headers)


def _is_known(table: Table) -> bool:
    known = wsgi().get("HTTP_IF_NONE_MATCH")
    return known is not None and table.etag in known


def _unchanged(table: Table) -> Response:
    return Response(status=304, headers={"ETag": table.etag, "Cache-Control": "no-cache"})
