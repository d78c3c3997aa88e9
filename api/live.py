"""Live: the events of a game and of all games of a player, and whose turn it is, without asking again and again."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

from flask import Response

from api.answers import ETAG_DOC, EventsAnswer, ReadHeaders
from api.answers_live import DeskEventsAnswer, TurnsAnswer
from api.auth import caller, check_goes_on, require, sees
from api.errors import HeaderProblem, Problem
from api.gate import gate_of
from api.header_docs import BODY_ETAG_DOC
from api.house import House, house
from api.inputs import check_game_id, read_query, wsgi
from api.present import encode, item_body
from api.queries import DeskQuery, EventsQuery, TurnsQuery
from api.room import Room
from api.schemas import MOST_EVENTS
from api.sent import JSON, Answer
from api.serving import drop_the_deaf
from api.streams import (
    NDJSON,
    SSE,
    Format,
    Reader,
    flow,
    page,
    stream_headers,
    wait_for_pieces,
    wanted_format,
)
from api.telling import is_known, seat_of, seen_by, table_headers, unchanged
from domain.game import deadline
from services.desks import read_cursor, waits_for
from services.folded import Table
from services.hub import Bell
from services.players import Player
from services.readers import DeskReader, GameReader, Piece
from services.tables import UnknownGame

live: Final = Room("live", __name__, url_prefix="/v1", description="What happens, as it happens")

EVENTS: Final = EventsQuery()
DESK: Final = DeskQuery()
TURNS: Final = TurnsQuery()
R_co = TypeVar("R_co", bound=Reader, covariant=True)
_SEQ: Final = re.compile(r"[0-9]{1,15}")
_PRIVATE: Final = [
    ("Content-Type", JSON),
    ("Cache-Control", "private, no-store"),
    ("Vary", "Authorization"),
]
_STREAMS_DOC: Final = {
    NDJSON: {
        "schema": {
            "type": "string",
            "description": "an item a line; an empty line says that the stream is still there",
        }
    },
    SSE: {
        "schema": {
            "type": "string",
            "description": "an item an event, its cursor the id; a comment says that the stream is still there",
        }
    },
}


class Opening(Protocol[R_co]):
    """What begins to read, and to ring ``bell`` when there may be more."""

    def __call__(self, *, bell: Bell) -> R_co:
        """The reader."""


@live.view(
    "GET",
    "/games/<game>/events",
    EventsAnswer,
    query=EventsQuery,
    sends=ETAG_DOC,
    refuses=(401, 404, 406, 409, 429, 503),
    codes=("log/cut", "server/stopping"),
    also={
        200: {"content": _STREAMS_DOC},
        204: {"description": "The game is over, and its events have been read: a browser stays away"},
    },
)
def read_events(game: str) -> Response:
    """Read a table's events.

    Those after `after`, at most `limit` of them, with what they tell your seat alone; `next` is the `after` of the next
    call. With `wait` the call lasts until there is one. Accept `text/event-stream` or `application/x-ndjson`, and they
    come as a stream that goes on until the game is over; `Last-Event-ID` stands for `after`. A browser that comes back
    after the last event is answered 204.
    """
    here, environ = house(), wsgi()
    me = caller(here.players, environ)
    check_game_id(game)
    form = wanted_format()
    asked = read_query(EVENTS)
    after = _last_seq(environ, asked["after"])
    table = here.tables.load(game)
    if after > table.seq:
        raise Problem("request/invalid", f"after: the game has {table.seq} events", seq=table.seq)
    if form is not None:
        done = table.state.phase == "over" and not table.state.sealed and after == table.seq
        if done and form.media_type == SSE:
            return Response(status=204, headers=table_headers(table.etag)[1:])
        opening = partial(GameReader, here.hub, game, me.id if me is not None and sees(me) else None, after)
        return _stream(here, me, opening, form, table.etag)
    if after < table.seq or not asked["wait"]:
        seat = seat_of(table, me)
        items = here.pages.read(game, after, asked["limit"], seat) if after < table.seq else []
        pieces = [Piece(item.seq, item.head, str(item.seq), item_body(item)) for item in items]
    else:
        opening = partial(GameReader, here.hub, game, me.id if me is not None and sees(me) else None, after)
        pieces, _ = _wait(here, me, opening, asked["wait"], asked["limit"])
    etag = pieces[-1].etag if pieces else table.etag
    cursor = pieces[-1].seq if pieces else after
    return Answer(page(pieces, encode(cursor)), table_headers(etag))


@live.view(
    "GET",
    "/me/events",
    DeskEventsAnswer,
    who="player",
    query=DeskQuery,
    refuses=(406, 429, 503),
    codes=("server/stopping",),
    also={200: {"content": _STREAMS_DOC}},
)
def read_my_events() -> Response:
    """Read the events of all your games.

    One call, or one stream, for every game that you play, or in which a seat is kept for you. Without a cursor it begins
    with your tables as they are, items with `table`; then come the events, items with `event`, each with its `game`, and
    those of a new game from its first event on. `next`, in a stream the id of an event, is a cursor: with it as `after`,
    or as `Last-Event-ID`, you go on where you stopped, without a gap and without a repeat. One that lies too far back
    begins with your tables again. Formats and `wait` are those of a game's events.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ, "watch")
    form = wanted_format()
    asked = read_query(DESK)
    after = environ.get("HTTP_LAST_EVENT_ID") or asked["after"]
    cursor = None if after is None else read_cursor(after)
    opening = partial(DeskReader, here.hub, me.id, cursor, show=partial(_show_table, here))
    if form is not None:
        return _stream(here, me, opening, form)
    pieces, reader = _wait(here, me, opening, asked["wait"], MOST_EVENTS)
    after = pieces[-1].cursor if pieces else str(reader.cursor)
    return Answer(page(pieces, encode(after)), _PRIVATE)


@live.view(
    "GET",
    "/me/turns",
    TurnsAnswer,
    who="player",
    query=TurnsQuery,
    headers=ReadHeaders,
    sends=BODY_ETAG_DOC,
    refuses=(429, 503),
    codes=("server/stopping",),
    unchanged=True,
)
def show_my_turns() -> Response:
    """See all games that wait for you.

    With `wait` the call lasts until there is one; with If-None-Match, too, until the list is another than the one of
    that ETag.
    """
    here, environ = house(), wsgi()
    me = require(here.players, environ, "watch")
    seconds = read_query(TURNS)["wait"]
    known = environ.get("HTTP_IF_NONE_MATCH") is not None
    bell, end = Bell(), time.monotonic() + seconds
    with ExitStack() as stack:
        if seconds:
            stack.callback(here.places.take(me))
            stack.enter_context(here.hub.player(me.id, bell))
        while True:
            turns = _turns(here, me)
            etag = f'"{sha256(encode(turns)).hexdigest()[:16]}"'
            same = is_known(environ, etag)
            left = end - time.monotonic()
            if (not same if known else turns) or left <= 0 or here.stopping():
                break
            gate_of(environ).outside(bell.wait, left)
    headers = [*_PRIVATE, ("ETag", etag)]
    return unchanged(headers) if same else Answer(encode({"turns": turns}), headers)


def _turns(here: House, me: Player) -> list[dict[str, Any]]:
    """The games that wait for a player: those that its desk names, as far as the log agrees."""
    found = []
    for game in sorted(game for game, place in here.services.desks.read(me.id)[1].items() if place.turn):
        try:
            table = here.tables.load(game)
        except UnknownGame:
            continue
        state = table.state
        if me.id in waits_for(state):
            found.append(
                {
                    "game": game,
                    "seq": table.seq,
                    "seat": state.seat_of(me.id),
                    "phase": state.phase,
                    "variant": state.terms.rules.variant,
                    "deadline": deadline(state),
                }
            )
    return found


def _show_table(here: House, table: Table, seat: int | None) -> bytes:
    body = seen_by(here, table, seat)
    head = {"game": table.state.game, "seq": table.seq, "head": table.head.hex()}
    return encode({**head, "table": body})


def _last_seq(environ: dict[str, Any], after: int) -> int:
    """The cursor of a game's events: that of ``Last-Event-ID``, or else of the query."""
    text = environ.get("HTTP_LAST_EVENT_ID")
    if not text:
        return after
    if _SEQ.fullmatch(text) is None:
        raise HeaderProblem("Last-Event-ID", f"Last-Event-ID: {text!r:.40} is no seq of an event")
    return int(text)


def _wait(
    here: House, me: Player | None, opening: Opening[R_co], seconds: int, most: int
) -> tuple[list[Piece], R_co]:
    """The pieces of a page, waited for, and the reader that they come from."""
    bell = Bell()
    with ExitStack() as stack:
        stack.callback(here.places.take(me))
        reader = opening(bell=bell)
        stack.callback(reader.close)
        pieces = wait_for_pieces(reader, bell, gate_of(wsgi()), seconds, most, here.stopping)
    if seconds:
        check_goes_on(here.players, wsgi())
    return pieces, reader


def _stream(
    here: House, me: Player | None, opening: Opening[Reader], form: Format, etag: str | None = None
) -> Response:
    environ, bell = wsgi(), Bell()
    headers = [("Content-Type", form.media_type), *stream_headers(etag)]
    if environ["REQUEST_METHOD"] == "HEAD":
        return Response(headers=headers)
    drop_the_deaf(int(environ["SERVER_PORT"]))
    with ExitStack() as stack:
        stack.callback(here.places.take(me))
        reader = opening(bell=bell)
        stack.callback(reader.close)
        pieces = flow(reader, bell, form, partial(check_goes_on, here.players, environ))
        response = Response(pieces, headers=headers)
        response.call_on_close(stack.pop_all().close)
    return response
