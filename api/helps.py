"""Help at the table: what a house bot would do in the caller's place."""

from __future__ import annotations

from typing import Any, Final

from flask import Response

from api.answers import ETAG_DOC, HintAnswer
from api.auth import require
from api.errors import RefusedAt
from api.house import house
from api.inputs import check_game_id, wsgi
from api.present import encode
from api.room import Room
from api.sent import Answer
from api.telling import table_headers
from domain.bots import ADVISER, BOTS, Action, advise
from domain.cards import NAMES, Seat
from domain.game import to_act
from domain.refusals import Refused
from domain.state import State
from domain.view import view

helps: Final = Room("helps", __name__, url_prefix="/v1/games", description="Help at the table")


@helps.view(
    "GET",
    "/<game>/hint",
    HintAnswer,
    who="player",
    sends=ETAG_DOC,
    refuses=(404, 409, 503),
    codes=(
        "game/not_started",
        "game/over",
        "hint/not_allowed",
        "pass/not_now",
        "play/not_your_turn",
        "seat/not_yours",
    ),
)
def get_hint(game: str) -> Response:
    """Ask for a hint.

    What a house bot would pass, play or choose, from your view alone; you may as well send it as your move. The same
    view gets the same hint. Refused at a table without hints, and where it is not for you to act.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ, "watch")
    check_game_id(game)
    table = here.tables.load(game)
    try:
        seat = _asker(table.state, me.id)
    except Refused as refused:
        raise RefusedAt(refused, table) from refused
    body = hint_of(advise(view(table.state, seat)))
    return Answer(encode(body), table_headers(table.etag))


def _asker(state: State, player: str) -> Seat:
    """The seat of a player who may ask for a hint now. Raises `Refused`, by what everybody at the table may know."""
    seat = state.seat_of(player)
    if seat is None:
        raise Refused("seat/not_yours", "you have no seat at this table")
    if not state.hints:
        raise Refused("hint/not_allowed", "this table was opened without hints")
    if state.phase == "over":
        raise Refused("game/over", "the game is over")
    if state.phase == "seats":
        raise Refused("game/not_started", "the game has not started", hint="wait until all are ready")
    if state.seats[seat].away:
        raise Refused("seat/not_yours", "the stand-in bot plays your seat", hint="take the seat back first")
    if seat not in to_act(state):
        if state.phase == "pass":
            raise Refused("pass/not_now", "you have passed already, and wait for the others")
        raise Refused("play/not_your_turn", f"it is the turn of seat {to_act(state)[0]}")
    return seat


def hint_of(action: Action) -> dict[str, Any]:
    """An action of the adviser as the move that it would be, and by whom."""
    return {**_move(action), "bot": {"name": ADVISER, "version": BOTS[ADVISER].version}}


def _move(action: Action) -> dict[str, Any]:
    if isinstance(action, tuple):
        return {"pass": [NAMES[card] for card in sorted(action)]}
    if isinstance(action, str):
        return {"moon": action}
    return {"play": NAMES[action]}
