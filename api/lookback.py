"""A table as it was: what somebody could see at an event, and every hand once it is over.

What a caller could see then, it may see again at any time. The eyes of another seat, or of all, are lent only for a hand
that is over at the present, whatever the moment that is looked at: `domain.view.is_open`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Response

from api.errors import FieldProblem, Problem
from api.house import House
from api.present import encode, open_hands
from api.sent import JSON, Answer, Fields
from api.telling import is_known, seen_by, table_headers, told_to, unchanged
from domain.view import is_open
from services.folded import Table
from services.players import Player

HOUR: Final = 60 * 60
"""Seconds for which what was may be kept; the cards never change, but a player may change or erase its name."""


def look_back(
    here: House, environ: Mapping[str, Any], now: Table, me: Player | None, asked: Mapping[str, Any]
) -> Response:
    """The answer for ``asked``, fields of `TableQuery`; ``now`` is the table at present.

    Raises ``request/invalid`` for an event or a seat that there is not, ``hand/not_over``.
    """
    at, seat, all_hands = asked["at"], asked["as"], asked["open"] == 1
    _check(now, at, seat, all_hands)
    then = now if at is None or at == now.seq else here.pages.table(now.state.game, at)
    lent = seat is not None or all_hands
    if lent and not is_open(then.state, now.state):
        raise Problem(
            "hand/not_over",
            "the cards of other seats are shown when their hand is over",
            hint="leave out as and open, or look at a hand that is over",
            headers={"ETag": now.etag},
            seq=now.seq,
        )
    headers = _headers(then, lasting=at is not None, for_all=lent)
    # what may be kept has names in it, which can be erased: after its hour it is told anew
    if at is None and is_known(environ, then.etag):
        return unchanged(headers)
    body = seen_by(here, then, seat) if lent else told_to(here, then, me)
    if all_hands:
        body["open"] = open_hands(then.state)
    return Answer(encode(body), headers)


def _check(now: Table, at: int | None, seat: int | None, all_hands: bool) -> None:
    errors = []
    if at is not None and at > now.seq:
        errors.append({"field": "at", "detail": f"at: the game has {now.seq} events"})
    if seat is not None and seat >= len(now.state.seats):
        last = len(now.state.seats) - 1
        errors.append({"field": "as", "detail": f"as: there is no seat {seat}; seats are 0 to {last}"})
    if seat is not None and all_hands:
        errors.append(
            {"field": "open", "detail": "open: it shows all seats, and as shows one; send one of them"}
        )
    if errors:
        raise FieldProblem(errors)


def _headers(then: Table, *, lasting: bool, for_all: bool) -> Fields:
    """The headers of what stays as it was (``lasting``), for everybody (``for_all``), both or neither."""
    if not lasting:
        return table_headers(then.etag)
    if for_all:
        return [
            ("Content-Type", JSON),
            ("ETag", then.etag),
            ("Cache-Control", f"public, max-age={HOUR}"),
        ]
    return [
        ("Content-Type", JSON),
        ("ETag", then.etag),
        ("Cache-Control", f"private, max-age={HOUR}"),
        ("Vary", "Authorization"),
    ]
