"""A player's own affairs: its tokens, its name, and being forgotten."""

from __future__ import annotations

from typing import Any, Final

from flask import Response
from marshmallow import Schema, ValidationError, fields, validate

from api.answers import REPLAYED_DOC, KeyHeader, MeAnswer
from api.auth import require, require_now
from api.errors import Problem
from api.house import House, house
from api.inputs import read_body, read_key, wsgi
from api.numbers import number
from api.present import encode
from api.room import Room
from api.schemas import LARGEST_AFTER, Judged, NameField, Nothing, Request, Whole
from api.sent import Answer, Fields
from services.erasure import erase_player
from services.once import Key
from services.players import LONGEST_NAME, Player, clean_label
from services.token_forms import LONGEST_LABEL, LONGEST_LIFE, SCOPES, Bearer, Issued, told

tokens: Final = Room("tokens", __name__, url_prefix="/v1", description="Your tokens and your name")

LONGEST_GRACE: Final = 24 * 60 * 60
"""Seconds that an old token may go on beside the one that took its place."""
USUAL_GRACE: Final = 60
EMPTY_BODY: Final = (400, 413, 415, 422)
"""Refusals of calls whose body is read though it must be empty."""
_PRIVATE: Final[Fields] = [
    ("Content-Type", "application/json"),
    ("Cache-Control", "private, no-store"),
    ("Vary", "Authorization"),
]


class LabelField(NameField):
    """What a token is for, in its owner's words."""

    what = "label"
    clean = staticmethod(clean_label)


class ScopeField(Judged, fields.String):
    """One of the scopes."""

    def judge(self, value: Any) -> Any:
        """See `Judged`."""
        if value not in SCOPES:
            raise ValidationError(f"a scope is one of {', '.join(SCOPES)}")
        return value


class NewToken(Request):
    """A further token."""

    label = LabelField(
        metadata={
            "description": "what it is for, in your words",
            "example": "my bot",
            "minLength": 1,
            "maxLength": LONGEST_LABEL,
        },
    )
    scopes = fields.List(
        ScopeField(metadata={"enum": list(SCOPES)}),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, len(SCOPES)),
        metadata={"description": "of those that the asking token has; all of them unless you say so"},
    )
    expires_in = Whole(
        load_default=None,
        allow_none=True,
        validate=validate.Range(1, LONGEST_LIFE),
        metadata={"description": "seconds; it never outlasts the token that asks for it"},
    )


class Rotation(Request):
    """How long the old token goes on."""

    grace = Whole(
        load_default=USUAL_GRACE,
        validate=validate.Range(0, LONGEST_GRACE),
        metadata={
            "description": "seconds; 0 ends it at once, and then an answer that is lost cannot be had again"
        },
    )


class Rename(Request):
    """Another name."""

    name = NameField(
        required=True,
        metadata={"description": "as when you became a player", "minLength": 1, "maxLength": LONGEST_NAME},
    )


class TokenInfoAnswer(Schema):
    """A token, without itself."""

    id = fields.String(required=True, metadata={"description": "what it is spoken of by"})
    label = fields.String(required=True, metadata={"description": "what it is for"})
    scopes = fields.List(fields.String(validate=validate.OneOf(SCOPES)), required=True)
    created_at = number("ms since 1970 UTC", 0, LARGEST_AFTER)
    expires_at = number(
        "ms since 1970 UTC; null: it does not end by itself", 0, LARGEST_AFTER, allow_none=True
    )
    last_used = fields.String(
        required=True, allow_none=True, metadata={"description": "the day, UTC", "example": "2026-01-31"}
    )


class TokensAnswer(Schema):
    """Your tokens, the oldest first."""

    tokens = fields.List(fields.Nested(TokenInfoAnswer), required=True)


class NewTokenAnswer(TokenInfoAnswer):
    """A token just made."""

    token = fields.String(
        required=True, metadata={"description": "shown this once: send it as Authorization: Bearer TOKEN"}
    )


class ErasedAnswer(Schema):
    """Who was forgotten."""

    id = fields.String(required=True, metadata={"description": "stays in the games, and means nobody now"})
    seats_left = number("seats in games not over that were given up", 0, LARGEST_AFTER)


@tokens.view("GET", "/me/tokens", TokensAnswer, who="player", refuses=(503,))
def list_tokens() -> Response:
    """See your tokens.

    What they are for and when they were used last, never the tokens themselves.
    """
    here = house()
    me = require(here.players, wsgi(), "watch")
    return _tokens_of(here, me.id)


@tokens.view(
    "POST",
    "/me/tokens",
    NewTokenAnswer,
    status=201,
    who="player",
    takes=NewToken,
    headers=KeyHeader,
    sends=REPLAYED_DOC,
    refuses=(409, 503),
)
def make_token() -> Response:
    """Make a further token.

    For a bot, a page or a friend who watches: with no scope that yours has not, and no longer life. Under the same
    Idempotency-Key the same token is told again.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ)
    body = read_body(environ, NewToken())
    asked = body.fields["scopes"]
    scopes = me.scopes if asked is None else frozenset(asked)
    more = [scope for scope in SCOPES if scope in scopes - me.scopes]
    if more:
        raise Problem(
            "auth/forbidden",
            f"the token that asks lacks the scope {', '.join(more)}, so it cannot give it on",
            hint="admin and audit are given out by the server's operator",
        )
    once = _once(environ, me, body.sent)
    expires = _ends(here, body.fields["expires_in"], me.expires)
    made = here.players.tokens.issue(
        me.id, scopes, label=body.fields.get("label", ""), expires=expires, once=once, asker=me.token
    )
    return _shown(made)


@tokens.view(
    "POST",
    "/me/token",
    NewTokenAnswer,
    status=201,
    who="bearer",
    takes=Rotation,
    headers=KeyHeader,
    sends=REPLAYED_DOC,
    refuses=(409, 503),
)
def rotate_token() -> Response:
    """Have your token replaced.

    By a new one with the same scopes, label and end. The old one ends after `grace` seconds, and until then this call
    can be repeated under its Idempotency-Key; otherwise a token is replaced once, and whoever comes second is 401.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ, None)
    body = read_body(environ, Rotation())
    once = _once(environ, me, body.sent)
    owner = Bearer(me.id, me.token, me.scopes, me.expires)
    made = here.players.tokens.rotate(owner, body.fields["grace"] * 1000, once)
    return _shown(made)


@tokens.view(
    "DELETE",
    "/me/tokens/<token>",
    TokensAnswer,
    who="player",
    headers=KeyHeader,
    sends=REPLAYED_DOC,
    refuses=(*EMPTY_BODY, 404, 409, 503),
)
def end_token(token: str) -> Response:
    """End one of your tokens.

    At once where it was ended, within seconds in the server's other processes. A token may always end itself.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ, None)
    if token != me.token:
        require(here.players, environ)
    body = read_body(environ, Nothing())
    replayed = here.players.tokens.end(me.id, token, _once(environ, me, body.sent), me.token)
    if replayed is None:
        raise Problem("token/unknown", "you have no token of this id", hint="GET /v1/me/tokens lists them")
    return _tokens_of(here, me.id, replayed=replayed)


@tokens.view("PATCH", "/me", MeAnswer, who="player", takes=Rename, refuses=(503,))
def rename() -> Response:
    """Change your name.

    In games that are over, too: a game knows its players by id alone.
    """
    here, environ = house(), wsgi()
    me = require_now(here.players, environ)
    name = here.players.rename(me.id, read_body(environ, Rename()).fields["name"])
    if name is None:
        raise _gone()
    body = {"id": me.id, "name": name, "scopes": sorted(me.scopes), "token": me.token}
    return Answer(encode(body), _PRIVATE)


@tokens.view("DELETE", "/me", ErasedAnswer, who="player", refuses=(*EMPTY_BODY, 503))
def forget_me() -> Response:
    """Be forgotten.

    Your name and all your tokens are erased, and seats in games that are not over are given up: to nobody before the
    deal, to the stand-in bot after it. The games stay, with your id alone. It cannot be undone.
    """
    here, environ = house(), wsgi()
    me = require_now(here.players, environ)
    read_body(environ, Nothing())
    return _erase(here, me.id)


@tokens.view("DELETE", "/players/<player>", ErasedAnswer, who="player", refuses=(*EMPTY_BODY, 404, 503))
def forget_player(player: str) -> Response:
    """Forget a player, as the operator.

    As if it had asked for it itself. Needs the scope `admin`, which the command line gives out alone.
    """
    here, environ = house(), wsgi()
    require_now(here.players, environ, "admin")
    read_body(environ, Nothing())
    if not here.players.exists(player):
        raise Problem("player/unknown", "there is no player of this id")
    return _erase(here, player)


def _once(environ: dict[str, Any], me: Player, sent: dict[str, Any]) -> Key | None:
    """The idempotency key, of the token that asks: another one of the player's must not be told what this one may."""
    return read_key(environ, f"{me.id}/{me.token}", sent)


def _erase(here: House, player: str) -> Response:
    left = erase_player(here.services, player)
    return Answer(encode({"id": player, "seats_left": left}), _PRIVATE)


def _tokens_of(here: House, player: str, replayed: bool = False) -> Response:
    body = {"tokens": [told(one) for one in here.players.tokens.all_of(player)]}
    return Answer(encode(body), [*_PRIVATE, *_replayed(replayed)])


def _shown(made: Issued) -> Response:
    body = {**told(made.info), "token": made.token}
    return Answer(encode(body), [*_PRIVATE, *_replayed(made.replayed)], 201)


def _replayed(replayed: bool) -> Fields:
    return [("Idempotency-Replayed", "true")] if replayed else []


def _ends(here: House, seconds: int | None, latest: int | None) -> int | None:
    """When a token ends that is to last so long, in ms, and no longer than the one that asks."""
    asked = [] if seconds is None else [here.services.clock() + seconds * 1000]
    return min([*asked, *([] if latest is None else [latest])], default=None)


def _gone() -> Problem:
    return Problem("auth/required", "this player has been forgotten meanwhile")
