"""Players: how to become one, and who one is."""

from __future__ import annotations

from typing import Final

from flask import Response

from api.answers import MeAnswer, PlayerAnswer
from api.auth import require
from api.house import house
from api.inputs import read_body, wsgi
from api.present import encode
from api.room import Room
from api.schemas import NewPlayer

players: Final = Room("players", __name__, url_prefix="/v1", description="Who plays")

NEW_PLAYER: Final = NewPlayer()
_PRIVATE: Final = [
    ("Content-Type", "application/json"),
    ("Cache-Control", "private, no-store"),
    ("Vary", "Authorization"),
]


@players.view("POST", "/players", PlayerAnswer, status=201, takes=NewPlayer, refuses=(503,))
def create_player() -> Response:
    """Become a player.

    A person or a bot of your own. The token is shown this once; it is kept here as a hash only.
    """
    player, token = house().players.create(read_body(wsgi(), NEW_PLAYER).fields["name"])
    return Response(encode({"id": player.id, "token": token, "name": player.name}), 201, headers=_PRIVATE)


@players.view("GET", "/me", MeAnswer, who="bearer", refuses=(503,))
def show_me() -> Response:
    """See who you are.

    And what the token that asks is good for, whatever that is.
    """
    me = require(house().players, wsgi(), None)
    return Response(
        encode({"id": me.id, "name": me.name, "scopes": sorted(me.scopes), "token": me.token}),
        headers=_PRIVATE,
    )
