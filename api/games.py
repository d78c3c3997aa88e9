"""Tables: opening and finding them, taking seats, playing, watching."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from flask import Response, request

from api.answers import (
    ETAG_DOC,
    REPLAYED_DOC,
    CommandAnswer,
    CommandHeaders,
    GamesAnswer,
    KeyHeader,
    ReadHeaders,
    TableAnswer,
)
from api.auth import caller, require, require_now
from api.errors import FieldProblem
from api.house import House, house
from api.inputs import Body, check_game_id, read_body, read_if_match, read_key, read_query, wsgi
from api.invitations import invited_to
from api.lookback import look_back
from api.opening import check_tables, note_table
from api.present import encode
from api.queries import GamesQuery, TableQuery
from api.refusing import OF_A_SEAT, OF_MOVES, OF_READINESS, OF_SITTING_DOWN
from api.room import Room
from api.schemas import (
    Move,
    NewTable,
    Nothing,
    Ready,
    Request,
    SitDown,
)
from api.sent import JSON, Answer, Fields
from api.telling import command_answer, is_known, refused_at, table_headers, told_to, unchanged
from domain import commands as c
from domain.bots import BOTS
from domain.refusals import InvalidRules, Refused
from domain.ruleset import KEYS
from domain.signing import Signed
from domain.variants import CUSTOM, ruleset_of
from services.players import Player, Players

games: Final = Room("games", __name__, url_prefix="/v1/games", description="Tables and what happens at them")

NEW_TABLE: Final = NewTable()
SIT_DOWN: Final = SitDown()
READY: Final = Ready()
MOVE: Final = Move()
NOTHING: Final = Nothing()
GAMES: Final = GamesQuery()
TABLE: Final = TableQuery()
_NOW: Final = TABLE.load({})
"""What asks for the table as it is."""

_COMMAND: Final[dict[str, Any]] = {
    "who": "player",
    # a body is read of every command, though of some it must be empty
    "refuses": (400, 404, 409, 412, 413, 415, 422, 503),
    "headers": CommandHeaders,
    "sends": ETAG_DOC | REPLAYED_DOC,
}


# --- opening and finding tables


@games.view(
    "POST",
    "",
    CommandAnswer,
    status=201,
    who="player",
    takes=NewTable,
    codes=("rules/invalid", "server/busy"),
    headers=KeyHeader,
    sends=ETAG_DOC | REPLAYED_DOC | {"Location": {"schema": {"type": "string"}}},
    refuses=(409, 503),
)
def open_table() -> Response:
    """Open a table.

    The rules are those of `variant`, with any key of a rule set changed beside it. A seat is `"open"`, `"me"`,
    `{"bot": "rules"}`, `{"player": id}`, which keeps it for that player, or `"invited"`, which keeps it for whoever sits
    down with its `invitation`: those at the table are told the codes, and hand them on. Where `players` is left out, there are as
    many as `seats` has entries. A table of bots alone begins at once.
    """
    here, environ = house(), wsgi()
    me = require_now(here.players, environ)
    body = read_body(environ, NEW_TABLE)
    fields = body.fields
    given = {key: body.sent[key] for key in KEYS if key in body.sent}
    given.setdefault("players", len(fields["seats"]))
    if fields["rated"]:
        _check_rated(given)
    rules = ruleset_of(given)
    rated, hints = fields["rated"], fields["hints"]
    key = read_key(environ, me.id, body.sent)
    check_tables(here, me.id, lambda: key is not None and here.tables.has_opened(key))
    outcome = here.tables.open(
        rules,
        _plans(here, me, fields),
        chain=fields["chain"],
        ready_seconds=fields["ready_seconds"],
        rated=rated,
        hints=not rated if hints is None else hints,
        clock=fields.get("clock"),
        abandon_seconds=fields["abandon_seconds"],
        key=key,
    )
    note_table(here, me.id, outcome)
    return command_answer(here, outcome, me, status=201)


@games.view("GET", "", GamesAnswer, query=GamesQuery, sends={"Link": {}}, refuses=(503,))
def list_games() -> Response:
    """Find tables and finished games.

    Newest first. `next` is null on the last page; `Link` with `rel="next"` has the address of the next one.
    """
    asked = read_query(GAMES)
    here = house()
    found, cursor = here.services.projections.list_games(**asked)
    names = here.players.names({seat["player"] for game in found for seat in game["seats"] if seat["player"]})
    for game in found:
        for seat in game["seats"]:
            seat["name"] = seat["bot"] or names.get(seat["player"], "")
    headers: Fields = [("Content-Type", JSON), ("Cache-Control", "no-store")]
    if cursor is not None:
        query = urlencode(
            {name: value for name, value in (asked | {"after": cursor}).items() if value is not None}
        )
        headers.append(("Link", f'<{request.path}?{query}>; rel="next"'))
    return Answer(encode({"games": found, "next": cursor}), headers)


def _check_rated(given: Mapping[str, Any]) -> None:
    changed = [key for key in given if key not in ("variant", "players")]
    if given.get("variant") == CUSTOM:
        raise InvalidRules([f"a rated table is played by published rules; {CUSTOM} ones are not"])
    if changed:
        raise InvalidRules(
            [f"a rated table is played by the published rules; leave out {key}" for key in changed]
        )


def _plans(here: House, me: Player, fields: Mapping[str, Any]) -> list[c.SeatPlan]:
    commit, public_key = fields["entropy_commit"], fields["public_key"]
    plans: list[c.SeatPlan] = []
    errors: list[dict[str, str]] = []
    taken: set[str] = set()
    for seat, (what, which) in enumerate(fields["seats"]):
        where = f"seats.{seat}"
        who = me.id if what == "me" else which
        if what == "bot":
            plans.append(c.SeatPlan(kind="bot", bot=BOTS[which].id))
        elif what in ("open", "invited"):
            plans.append(c.SeatPlan(kind=what))
        elif who in taken:
            errors.append({"field": where, "detail": f"{where}: a player has one seat at a table"})
        elif what == "me":
            plans.append(c.SeatPlan(kind="player", player=who, entropy_commit=commit, public_key=public_key))
            taken.add(who)
        elif here.players.get(who) is None:
            errors.append({"field": where, "detail": f"{where}: there is no player {who!r}"})
        else:
            plans.append(c.SeatPlan(kind="reserved", player=who))
            taken.add(who)
    for name, value in (("entropy_commit", commit), ("public_key", public_key)):
        if value is not None and all(plan.kind != "player" for plan in plans):
            detail = f'{name}: it is that of the seat "me", and there is none'
            errors.append({"field": name, "detail": detail})
    if errors:
        raise FieldProblem(errors)
    return plans


# --- commands at a table


@games.view("POST", "/<game>/seats", CommandAnswer, takes=SitDown, codes=OF_SITTING_DOWN, **_COMMAND)
def sit_down(game: str) -> Response:
    """Take a seat.

    The one that is named, or the first that is free to you; with an `invitation` the one that it is to.
    """
    asked = _command(game, SIT_DOWN, require_now)
    fields = dict(asked.body.fields)
    code = fields.pop("invitation")
    if code is not None:
        seat = invited_to(asked.here, game, code)
        if fields["seat"] not in (None, seat):
            raise FieldProblem([{"field": "seat", "detail": f"seat: the invitation is to seat {seat}"}])
        fields |= {"seat": seat, "invited": True}
    return _let(asked, c.SitDown(player=asked.me.id, **fields))


@games.view("DELETE", "/<game>/seats/<seat:seat>", CommandAnswer, codes=OF_A_SEAT, **_COMMAND)
def stand_up(game: str, seat: int) -> Response:
    """Leave your seat.

    Before the first player is ready it is free again; after the deal the stand-in bot plays it.
    """
    asked = _command(game, NOTHING)
    return _let(asked, c.StandUp(player=asked.me.id, seat=seat))


@games.view("POST", "/<game>/seats/<seat:seat>/back", CommandAnswer, codes=OF_A_SEAT, **_COMMAND)
def take_back(game: str, seat: int) -> Response:
    """Take your seat back from the stand-in bot.

    At once, or at a table without hints with the next hand.
    """
    asked = _command(game, NOTHING, require_now)
    return _let(asked, c.TakeBack(player=asked.me.id, seat=seat))


@games.view("POST", "/<game>/ready", CommandAnswer, takes=Ready, codes=OF_READINESS, **_COMMAND)
def get_ready(game: str) -> Response:
    """Be ready.

    Opens your commitment, where you made one. When all are ready, or `ready_seconds` after the first, the cards are dealt; who comes later than that is
    refused, and plays by a deal that it had no part in.
    """
    asked = _command(game, READY)
    return _let(asked, c.GetReady(player=asked.me.id, entropy=asked.body.fields["entropy"] or ""))


@games.view("POST", "/<game>/moves", CommandAnswer, takes=Move, codes=OF_MOVES, **_COMMAND)
def make_move(game: str) -> Response:
    """Pass, play a card, or choose what the moon does.

    Without If-Match it is judged by the table as it is. A seat with a `public_key` signs each of its moves: the table's
    `seq` and `head` and the move, as docs/signing.md tells.
    """
    asked = _command(game, MOVE)
    fields = asked.body.fields
    signed = _signed(fields)
    if len(fields) != 1:
        detail = 'a move is one of {"pass": [...]}, {"play": "QS"} and {"moon": "add"}'
        raise FieldProblem([{"field": "", "detail": detail}])
    command: c.AnyCommand
    if "play" in fields:
        command = c.PlayCard(who=asked.me.id, card=fields["play"], signed=signed)
    elif "passed" in fields:
        command = c.PassCards(who=asked.me.id, cards=tuple(fields["passed"]), signed=signed)
    else:
        command = c.ChooseMoon(who=asked.me.id, choice=fields["moon"], signed=signed)
    return _let(asked, command)


def _signed(fields: dict[str, Any]) -> Signed | None:
    """The signature of a move, taken out of its fields."""
    seq, signature = fields.pop("signed_seq", None), fields.pop("signature", None)
    if seq is None and signature is None:
        return None
    if seq is None or signature is None:
        missing = "signed_seq" if seq is None else "signature"
        raise FieldProblem([{"field": missing, "detail": f"{missing}: it is missing of the signature"}])
    return Signed(seq, signature)


class _Asked(NamedTuple):
    """A command at a table, as far as all have it in common."""

    here: House
    environ: dict[str, Any]
    game: str
    me: Player
    body: Body


def _command(
    game: str, schema: Request, who: Callable[[Players, dict[str, Any]], Player] = require
) -> _Asked:
    here, environ = house(), wsgi()
    me = who(here.players, environ)
    check_game_id(game)
    return _Asked(here, environ, game, me, read_body(environ, schema))


def _let(asked: _Asked, command: c.AnyCommand) -> Response:
    here, environ, game, me, body = asked
    key, version = read_key(environ, me.id, body.sent), read_if_match(environ)
    try:
        outcome = here.tables.handle(game, command, key=key, if_match=version)
    except Refused as refused:
        raise refused_at(refused, here.tables.load(game), me) from refused
    return command_answer(here, outcome, me)


# --- watching


@games.view(
    "GET",
    "/<game>",
    TableAnswer,
    query=TableQuery,
    headers=ReadHeaders,
    sends=ETAG_DOC,
    refuses=(401, 404, 409, 503),
    codes=("hand/not_over",),
    unchanged=True,
)
def show_table(game: str) -> Response:
    """See a table.

    As your seat may see it, or as a spectator. With `at` as you could see it then, which stays and may be kept
    for an hour. With `as` as another seat could, with `open=1` with the cards of all: both only of a hand that is over by
    now, and then for everybody.
    """
    here, environ = house(), wsgi()
    me = caller(here.players, environ)
    check_game_id(game)
    # most readers ask for the present, and nothing is read of their query
    asked = read_query(TABLE) if environ.get("QUERY_STRING") else None
    table = here.tables.load(game)
    if asked is not None and asked != _NOW:
        return look_back(here, environ, table, me, asked)
    headers = table_headers(table.etag)
    if is_known(environ, table.etag):
        return unchanged(headers)
    return Answer(encode(told_to(here, table, me)), headers)
