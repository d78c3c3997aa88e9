"""Practice: the position of a finished game, played on at a table of one's own."""

from __future__ import annotations

from typing import Final

from flask import Response
from marshmallow import validate

from api.answers import ETAG_DOC, REPLAYED_DOC, CommandAnswer, KeyHeader
from api.auth import require_now
from api.errors import RefusedAt
from api.house import house
from api.inputs import check_game_id, read_body, read_key, wsgi
from api.opening import check_tables, note_table
from api.room import Room
from api.schemas import LARGEST_AFTER, Request, Whole
from api.telling import command_answer
from domain.knobs import MOST_SEATS
from domain.refusals import Refused

branches: Final = Room(
    "branches", __name__, url_prefix="/v1/games", description="Practice from a finished game"
)


class Branch(Request):
    """A position of a finished game, and the seat to take in it."""

    at = Whole(
        required=True,
        validate=validate.Range(1, LARGEST_AFTER),
        metadata={
            "description": "the event after which play goes on: from a `hand_dealt` up to the last card of that hand",
            "example": 57,
        },
    )
    seat = Whole(
        required=True,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "where you sit; house bots have the other seats", "example": 0},
    )


BRANCH: Final = Branch()


@branches.view(
    "POST",
    "/<game>/branch",
    CommandAnswer,
    status=201,
    who="player",
    takes=Branch,
    headers=KeyHeader,
    sends=ETAG_DOC | REPLAYED_DOC | {"Location": {"schema": {"type": "string"}}},
    refuses=(404, 409, 503),
    codes=("game/not_over", "server/busy"),
)
def branch(game: str) -> Response:
    """Play on from a finished game.

    A practice table of your own: the hand as it stood after event `at`, you in `seat` and house bots in the others. The
    hand is played to its end, and with it the table; totals begin at 0, and it is never rated. Anybody may practise on
    any game that is over, as often as they like.
    """
    here, environ = house(), wsgi()
    me = require_now(here.players, environ)
    check_game_id(game)
    body = read_body(environ, BRANCH)
    key = read_key(environ, me.id, body.sent)
    fields = body.fields
    check_tables(here, me.id, lambda: key is not None and here.tables.has_opened(key))
    try:
        outcome = here.services.branches.open(game, fields["at"], fields["seat"], me.id, key)
    except Refused as refused:
        raise RefusedAt(refused, here.tables.load(game)) from refused
    note_table(here, me.id, outcome)
    return command_answer(here, outcome, me, status=201)
