"""Invitations: codes by which somebody whose id nobody knows yet finds a seat kept.

A code follows from the table, the seat and the server's secret, so nothing is stored of it and it needs no end: it is
good for that seat, for as long as the seat is free. Whoever has a seat at the table is told the codes, to hand one on
with the address of the table.
"""

from __future__ import annotations

import hmac
from typing import Any

from api.errors import Problem
from api.house import House
from domain.cards import Seat
from domain.knobs import MOST_SEATS
from domain.state import INVITED, State


def invitation(here: House, game: str, seat: Seat) -> str:
    """The code that invites to a seat, 24 digits in hex."""
    return here.services.key.derive("invitation", game, str(seat))[:12].hex()


def invited_to(here: House, game: str, code: str) -> Seat:
    """The seat that a code invites to. Raises the problem ``invitation/wrong``."""
    seats = [seat for seat in range(MOST_SEATS) if hmac.compare_digest(code, invitation(here, game, seat))]
    if not seats:
        raise Problem(
            "invitation/wrong",
            "this is no invitation to a seat at this table",
            hint="ask who invited you for the table and the code once more",
        )
    return seats[0]


def invitations(here: House, state: State) -> list[dict[str, Any]]:
    """The seats that wait for who is invited, each with its code, and a link from the server's address on."""
    waiting = [seat for seat, one in enumerate(state.seats) if one.kind == "open" and one.reserved == INVITED]
    codes = {seat: invitation(here, state.game, seat) for seat in waiting}
    # behind the sign # a browser keeps the code to itself, so that it stands in no log
    return [
        {"seat": seat, "code": code, "link": f"/v1/games/{state.game}#{code}"} for seat, code in codes.items()
    ]
