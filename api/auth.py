"""Who calls: the bearer token of a request, and what it is good for."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final, NamedTuple

from api.errors import BEARER, TOKEN_HINT, Problem, not_valid
from services.players import Player, Players
from services.wire import StoreUnavailable

_FOUND: Final = "hearts.caller"


class Found(NamedTuple):
    """What the header of a request says: a player, nobody, or a token that is not valid."""

    player: Player | None
    is_bad: bool = False


_NOBODY: Final = Found(None)


def read_caller(players: Players, environ: MutableMapping[str, Any]) -> Found:
    """Who sent the request of a WSGI environment; looked up once for each request.

    A token in the address is not looked at: addresses end up in logs.
    """
    found: Found | None = environ.get(_FOUND)
    if found is None:
        header = environ.get("HTTP_AUTHORIZATION")
        if header is None:
            return _NOBODY
        scheme, _, token = header.partition(" ")
        player = players.by_token(token.strip()) if scheme.lower() == "bearer" else None
        found = environ[_FOUND] = Found(player, is_bad=player is None)
    return found


def caller(players: Players, environ: MutableMapping[str, Any]) -> Player | None:
    """The player whose token the request carries, none where it carries none.

    Raises the problem ``auth/required`` for a token that is not valid. What a token may see is for `sees` to say.
    """
    player, is_bad = read_caller(players, environ)
    if is_bad:
        raise not_valid()
    return player


def require(players: Players, environ: MutableMapping[str, Any], scope: str | None = "play") -> Player:
    """The player whose token the request carries, and must; its token has ``scope``, where one is named.

    Raises ``auth/required`` or ``auth/forbidden``.
    """
    player = caller(players, environ)
    if player is None:
        raise Problem(
            "auth/required", "this needs a token", hint=TOKEN_HINT, headers={"WWW-Authenticate": BEARER}
        )
    if scope is not None and scope not in player.scopes:
        raise Problem(
            "auth/forbidden",
            f"the token lacks the scope {scope}",
            hint="send a token that has it; GET /v1/me tells what this one has",
            headers={"WWW-Authenticate": f'{BEARER}, error="insufficient_scope", scope="{scope}"'},
        )
    return player


def require_now(players: Players, environ: MutableMapping[str, Any], scope: str | None = "play") -> Player:
    """As `require`, and the store is asked whether the token is valid still: for what outlasts the belief in it.

    Raises ``auth/required`` or ``auth/forbidden``.
    """
    player = require(players, environ, scope)
    if not players.is_alive(player):
        raise not_valid()
    return player


def sees(player: Player | None) -> bool:
    """Whether a caller reads as its player does: with the scope ``watch``. Others read as spectators."""
    return player is not None and "watch" in player.scopes


def goes_on(players: Players, environ: MutableMapping[str, Any]) -> bool:
    """Whether the token by which a long answer was begun is still valid, for who asks while it lasts.

    It costs a request to the store every few seconds at most. Without a token, and while the store is away: yes.
    """
    if read_caller(players, environ).player is None:
        return True
    token = environ["HTTP_AUTHORIZATION"].partition(" ")[2].strip()
    try:
        return players.by_token(token) is not None
    except StoreUnavailable:
        return True


def check_goes_on(players: Players, environ: MutableMapping[str, Any]) -> None:
    """Raise ``auth/required`` where the token by which a long answer was begun is valid no longer: see `goes_on`."""
    if not goes_on(players, environ):
        raise not_valid()
