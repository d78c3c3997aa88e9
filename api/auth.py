"""Who calls: the bearer token of a request, and what it is good for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.errors import Problem
from services.players import Player, Players

_CHALLENGE: Final = 'Bearer realm="hearts"'
_HINT: Final = "POST /v1/players gives you a token; send it as Authorization: Bearer TOKEN"


def caller(players: Players, environ: Mapping[str, Any]) -> Player | None:
    """The player whose token the request of a WSGI environment carries, none where it carries none.

    Raises the problem ``auth/required`` for a token that is not valid. One in the address is not looked at: addresses
    end up in logs.
    """
    header = environ.get("HTTP_AUTHORIZATION")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    player = players.by_token(token.strip()) if scheme.lower() == "bearer" else None
    if player is None:
        raise Problem(
            "auth/required",
            "the token of this request is not valid",
            hint=_HINT,
            headers={"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'},
        )
    return player


def require(players: Players, environ: Mapping[str, Any], scope: str = "play") -> Player:
    """The player whose token the request carries, and must. Raises ``auth/required`` or ``auth/forbidden``."""
    player = caller(players, environ)
    if player is None:
        raise Problem(
            "auth/required", "this needs a token", hint=_HINT, headers={"WWW-Authenticate": _CHALLENGE}
        )
    if scope not in player.scopes:
        raise Problem("auth/forbidden", f"the token lacks the scope {scope}")
    return player
