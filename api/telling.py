"""Answers about a table: what a caller sees of it, under which headers, and what a command is answered with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from api.auth import sees
from api.house import House
from api.invitations import invitations
from api.present import encode, players_of, receipt_body, table_body
from api.sent import JSON, Answer, Fields
from domain.cards import Seat
from services.folded import Table
from services.players import Player
from services.tables import Outcome


def command_answer(here: House, outcome: Outcome, me: Player, status: int = 200) -> Response:
    """The table after a command, and its receipt; with its address where it is a new one (201)."""
    table = outcome.table
    body = seen_by(here, table, seat_of(table, me))
    body["receipt"] = receipt_body(outcome.receipt)
    headers = table_headers(table.etag)
    if status == 201:
        headers.append(("Location", f"/v1/games/{table.state.game}"))
    if outcome.replayed:
        headers.append(("Idempotency-Replayed", "true"))
    return Answer(encode(body), headers, status)


def seat_of(table: Table, me: Player | None) -> Seat | None:
    """The seat that a caller may see by, none of a spectator; a token without the scope `watch` sees as one."""
    return table.state.seat_of(me.id) if me is not None and sees(me) else None


def seen_by(here: House, table: Table, seat: Seat | None) -> dict[str, Any]:
    """The body that shows ``table`` as ``seat`` may see it, or a spectator (none)."""
    body = table_body(table, seat, here.players.names(players_of(table.state)))
    if seat is not None and table.state.phase == "seats" and (waiting := invitations(here, table.state)):
        body["invitations"] = waiting
    return body


def table_headers(etag: str) -> Fields:
    """The headers of an answer that depends on the caller and on the moment; its type comes first."""
    return [
        ("Content-Type", JSON),
        ("ETag", etag),
        ("Cache-Control", "private, no-store"),
        ("Vary", "Authorization"),
    ]


def is_known(environ: Mapping[str, Any], etag: str) -> bool:
    """Whether the caller has the version of ``etag`` already, by its If-None-Match."""
    known = environ.get("HTTP_IF_NONE_MATCH")
    return known is not None and (etag in known or known.strip() == "*")


def unchanged(headers: Fields) -> Response:
    """The answer to a caller who has it already: ``headers`` but the type, and no body."""
    return Answer(b"", headers[1:], 304)
