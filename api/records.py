"""What a game leaves behind: its proof file at any time, its record once it is over."""

from __future__ import annotations

from typing import Final, cast

from flask import Response

from api.answers import ETAG_DOC, ReadHeaders, RecordAnswer
from api.errors import Problem
from api.house import House, house
from api.inputs import check_game_id, wsgi
from api.present import encode, players_of
from api.room import Room
from domain.events import AnyEvent
from domain.record import record_of
from domain.state import State
from services.codec import CODEC
from services.folded import Table
from services.proof import proof_lines
from services.store import Entry

records: Final = Room("records", __name__, url_prefix="/v1/games", description="What a game leaves behind")

NDJSON: Final = "application/x-ndjson"


@records.view(
    "GET",
    "/<game>/proof",
    {"type": "string", "description": "one JSON object a line"},
    headers=ReadHeaders,
    content_type=NDJSON,
    sends=ETAG_DOC,
)
def get_proof(game: str) -> Response:
    """Get the proof file of the public events so far.

    Anybody can check it offline, with `hearts verify` or a program of their own: docs/spec/audit.md. Its last line is a
    receipt of the last event.
    """
    here = house()
    check_game_id(game)
    table = here.tables.load(game)
    if _is_known(table):
        return _unchanged(table)
    lines = proof_lines(_entries(here, table), here.services.key)
    return _file(table, b"".join(lines), NDJSON, "ndjson")


@records.view("GET", "/<game>/record", RecordAnswer, headers=ReadHeaders, sends=ETAG_DOC)
def get_record(game: str) -> Response:
    """Get the record of a finished game.

    What was dealt, passed and played, for people and other programs: docs/spec/record.md.
    """
    here = house()
    check_game_id(game)
    table = here.tables.load(game)
    if table.state.phase != "over":
        raise Problem(
            "game/not_over",
            "the record is given out when the game is over",
            hint="the public events so far are in the proof file",
            headers={"ETag": table.etag},
            seq=table.seq,
        )
    if _is_known(table):
        return _unchanged(table)
    events = cast("list[AnyEvent]", CODEC.decode_all(_entries(here, table)))
    record = record_of(events, _seat_names(here, table.state))
    return _file(table, encode(record) + b"\n", "application/json", "json")


def _entries(here: House, table: Table) -> list[Entry]:
    """The stored events up to the version of ``table``, so that the answer is what its ETag says."""
    return here.tables.entries(table.state.game)[: table.seq]


def _seat_names(here: House, state: State) -> list[str]:
    """The names at the table, clockwise; of a player whose name was erased, its id."""
    names = here.players.names(players_of(state))
    return [
        one.bot.name if one.bot is not None else names.get(one.player) or one.player for one in state.seats
    ]


def _file(table: Table, data: bytes, content_type: str, ending: str) -> Response:
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
