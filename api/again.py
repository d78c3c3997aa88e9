"""Once more: the rematch of a finished game."""

from __future__ import annotations

from typing import Final

from flask import Response

from api.answers import ETAG_DOC, REPLAYED_DOC, CommandAnswer, KeyHeader
from api.auth import require_now
from api.errors import RefusedAt
from api.house import house
from api.inputs import check_game_id, read_body, read_key, wsgi
from api.opening import check_tables, note_table
from api.room import Room
from api.schemas import Rematch
from api.telling import check_over, command_answer
from domain.commands import SitDown
from domain.refusals import Refused

again: Final = Room("again", __name__, url_prefix="/v1/games", description="Once more")

REMATCH: Final = Rematch()


@again.view(
    "POST",
    "/<game>/rematch",
    CommandAnswer,
    status=201,
    who="player",
    takes=Rematch,
    headers=KeyHeader,
    sends=ETAG_DOC | REPLAYED_DOC | {"Location": {"schema": {"type": "string"}}},
    refuses=(404, 409, 503),
    codes=("game/not_over", "game/over", "seat/not_yours", "seat/taken", "entropy/repeated", "server/busy"),
)
def rematch(game: str) -> Response:
    """Play it again.

    For who had a seat in a game that is over: a table with the same rules, settings and bots, and you in the seat you
    had. The seats of the other persons are kept for them. A game has one rematch: whoever asks second sits down at the
    table that the first has opened, and who asks again finds it as it is.
    """
    here, environ = house(), wsgi()
    me = require_now(here.players, environ)
    check_game_id(game)
    body = read_body(environ, REMATCH)
    key = read_key(environ, me.id, body.sent)
    old = here.tables.load(game)
    check_over(old, "a rematch is played when the game is over")
    if old.state.branch is not None:
        refused = Refused(
            "request/invalid",
            "a practice table has no rematch",
            hint=f"branch from /v1/games/{old.state.branch.game} again, by POST to its /branch",
        )
        raise RefusedAt(refused, old)
    if old.state.seat_of(me.id) is None:
        refused = Refused("seat/not_yours", "you had no seat in this game", hint="open a table of your own")
        raise RefusedAt(refused, old)
    opens = not here.tables.has_rematch(game)
    if opens:
        check_tables(here, me.id)
    outcome = here.tables.rematch(old.state, SitDown(player=me.id, **body.fields), key)
    if opens:
        note_table(here, me.id, outcome)
    return command_answer(here, outcome, me, status=201)
