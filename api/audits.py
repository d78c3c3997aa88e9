"""The server's own report on a finished game."""

from __future__ import annotations

from typing import Final

from flask import Response
from marshmallow import Schema, fields, validate

from api.answers import ETAG_DOC
from api.house import house
from api.inputs import check_game_id
from api.numbers import count
from api.present import encode
from api.room import Room
from api.telling import check_over
from services.auditor import KEPT_SECONDS
from services.store import CorruptStream
from services.tables import UnknownGame
from services.wire import WrongKeyType

audits: Final = Room("audit", __name__, url_prefix="/v1/games", description="The server's own report")

KEPT: Final = f"public, max-age={KEPT_SECONDS}"
"""How long a report on a game that is over is kept by who asked for it: somebody may change the store at any time."""
_STATUSES: Final = ("holds", "fails", "not shown")


class ClaimAnswer(Schema):
    """One claim of docs/spec/audit.md, as `hearts verify` tells it."""

    name = fields.String(required=True, validate=validate.OneOf(["F", "I", "R", "B"]))
    title = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(_STATUSES))
    detail = fields.String(required=True, metadata={"description": "how far it holds, or why not, in words"})
    event = count("seq of the first event at fault", required=False)
    level = count("how far it is shown, of `top`", required=False)
    top = count("the highest level of this claim", required=False)
    reached = fields.String(metadata={"description": "what the level means"})
    next = fields.String(metadata={"description": "what would show more"})
    cause = fields.String(metadata={"description": "what the program said that could not read the event"})


class FaultAnswer(Schema):
    """One thing that is wrong."""

    check = fields.String(
        required=True, metadata={"description": "what found it: a claim, or a copy of the game"}
    )
    event = count("seq of the first event at fault, where it is known", allow_none=True)
    detail = fields.String(required=True)


class AuditAnswer(Schema):
    """The report on a game."""

    game = fields.String(required=True)
    ok = fields.Boolean(required=True, metadata={"description": "whether nothing is wrong"})
    status = fields.String(required=True, validate=validate.OneOf(["open", "playing", "over", "unknown"]))
    seq = count("events that were looked at")
    head = fields.String(required=True, metadata={"description": "head of their chain, 32 bytes in hex"})
    claims = fields.List(fields.Nested(ClaimAnswer), required=True)
    problems = fields.List(
        fields.Nested(FaultAnswer),
        required=True,
        metadata={"description": "all that is wrong, claims that fail included"},
    )
    settled = fields.Boolean(
        required=True,
        metadata={"description": "whether the read models and the log have all of the game by now"},
    )


@audits.view(
    "GET",
    "/<game>/audit",
    AuditAnswer,
    sends=ETAG_DOC,
    refuses=(404, 409, 429, 503),
    codes=("game/not_over",),
)
def get_audit(game: str) -> Response:
    """Get the server's own report on a finished game.

    It verifies the proof file, lets the house's bots decide again, and compares the events with what else the server keeps of the game: its snapshot, its
    secrets, the read models, the transparency log. To trust nobody, verify the proof file yourself.
    """
    here = house()
    check_game_id(game)
    auditor = here.services.auditor
    try:
        table = here.tables.load(game)
        cut = table.state.phase != "over" and auditor.is_cut(game)
    except UnknownGame:
        if not auditor.is_cut(game):
            raise
        cut = True
    except (CorruptStream, WrongKeyType):
        cut = True
    if cut:  # which is what a report is for, though nobody can say whether the game is over
        with here.report():
            report = auditor.audit(game)
        return _sent(f'"{report.seq}-{report.head[:16]}"', encode(report), "no-cache")
    check_over(
        table,
        "the report is given out when the game is over",
        hint="the public events so far are in the proof file, which `hearts verify` checks",
    )
    body = auditor.kept_json(game, table)
    if body is not None:
        return _sent(table.etag, body, KEPT)
    with here.report():  # it takes its time, and must not take every thread
        body, stays = auditor.audit_json(game, table)
    return _sent(table.etag, body, KEPT if stays else "no-cache")


def _sent(etag: str, body: bytes, kept: str) -> Response:
    return Response(body, headers={"Content-Type": "application/json", "Cache-Control": kept, "ETag": etag})
