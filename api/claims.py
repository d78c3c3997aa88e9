"""Claims: the rest of the tricks at once."""

from __future__ import annotations

from typing import Final

from flask import Response

from api.answers import ETAG_DOC, REPLAYED_DOC, CommandAnswer, CommandHeaders
from api.auth import require
from api.house import house
from api.inputs import check_game_id, read_body, read_if_match, read_key, wsgi
from api.room import Room
from api.schemas import Nothing
from api.telling import command_answer, refused_at
from domain.commands import ClaimRest
from domain.refusals import Refused

claims: Final = Room("claims", __name__, url_prefix="/v1/games", description="The rest of the tricks")

NOTHING: Final = Nothing()


@claims.view(
    "POST",
    "/<game>/claim",
    CommandAnswer,
    who="player",
    headers=CommandHeaders,
    sends=ETAG_DOC | REPLAYED_DOC,
    # a body is read, though it must be empty
    refuses=(400, 404, 409, 412, 413, 415, 422, 503),
)
def claim_rest(game: str) -> Response:
    """Claim every trick that is left.

    For the seat that is to play. Judged by what it sees alone, and refused (`claim/not_certain`) where that does not
    show that it takes them all, however the other cards are spread and played. An accepted claim plays the hand out at
    once: your cards in the order that proves it, of the others each the first that it may play.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ)
    check_game_id(game)
    body = read_body(environ, NOTHING)
    key, version = read_key(environ, me.id, body.sent), read_if_match(environ)
    try:
        outcome = here.tables.handle(game, ClaimRest(who=me.id), key=key, if_match=version)
    except Refused as refused:
        raise refused_at(refused, here.tables.load(game), me) from refused
    return command_answer(here, outcome, me)
