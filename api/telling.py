"""Answers about a table: what a caller sees of it, under which headers, and what a command is answered with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from api.auth import sees
from api.errors import CODES, RefusedAt
from api.house import House
from api.invitations import invitations
from api.present import encode, players_of, receipt_body, table_body
from api.sent import JSON, Answer, Fields
from domain.cards import Seat
from domain.refusals import Refused
from services.folded import Table
from services.players import Player
from services.tables import Outcome


def command_answer(here: House, outcome: Outcome, me: Player, status: int = 200) -> Response:
    """The table after a command, and its receipt; with its address where it is a new one (201)."""
    table = outcome.table
    body = told_to(here, table, me, opened=status == 201 and sees(me))
    body["receipt"] = receipt_body(outcome.receipt)
    headers = table_headers(table.etag)
    if status == 201:
        headers.append(("Location", f"/v1/games/{table.state.game}"))
    if outcome.replayed:
        headers.append(("Idempotency-Replayed", "true"))
    return Answer(encode(body), headers, status)


def refused_at(refused: Refused, table: Table, me: Player) -> RefusedAt:
    """A command refused at ``table``, in words that tell of the caller's cards only where its token lets it see them."""
    if not sees(me) and CODES[refused.code][0] == 422:
        refused = Refused(refused.code, CODES[refused.code][1], hint="send a token that has the scope watch")
    return RefusedAt(refused, table)


def check_over(table: Table, detail: str, hint: str = "") -> None:
    """Refuse, in the words of ``detail``, what there is of a finished game alone. Raises ``game/not_over``."""
    if table.state.phase != "over":
        raise RefusedAt(Refused("game/not_over", detail, hint=hint), table)


def check_shown(table: Table) -> None:
    """Refuse what shows every card of a duplicate table before all tables of its group have finished. Raises ``game/not_over``."""
    if table.state.sealed:
        detail = (
            f"its cards are sealed until every table of group {table.state.deal_group} has finished its hands"
        )
        raise RefusedAt(Refused("game/not_over", detail), table)


def seat_of(table: Table, me: Player | None) -> Seat | None:
    """The seat that a caller may see by, none of a spectator; a token without the scope `watch` sees as one."""
    return table.state.seat_of(me.id) if me is not None and sees(me) else None


def seen_by(here: House, table: Table, seat: Seat | None) -> dict[str, Any]:
    """The body that shows ``table`` as ``seat`` may see it, or a spectator (none), whoever asks."""
    return table_body(table, seat, here.players.names(players_of(table.state)))


def told_to(here: House, table: Table, me: Player | None, *, opened: bool = False) -> dict[str, Any]:
    """The body that shows ``table`` to a caller: with the invitations, where it sits there or has just ``opened`` it."""
    seat = seat_of(table, me)
    body = seen_by(here, table, seat)
    if (seat is not None or opened) and table.state.phase == "seats":
        waiting = invitations(here, table.state)
        if waiting:
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
