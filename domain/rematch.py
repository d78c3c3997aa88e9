"""The rematch of a finished game: the same table once more."""

from __future__ import annotations

from domain.bots import BOTS, STAND_IN
from domain.commands import OpenTable, SeatPlan
from domain.state import SeatState, State


def open_again(old: State, game: str, at: int, secret: bytes, server_key: str) -> OpenTable:
    """The command that opens the rematch of ``old`` under the id ``game``: the same rules, settings and seats.

    Bots of the same names sit where they sat, and each person's seat is kept for that person. ``at`` is in ms since
    1970 UTC, ``secret`` 32 random bytes: the shuffles have nothing in common with those of ``old``.
    """
    return OpenTable(
        at=at,
        game=game,
        rules=old.terms.rules,
        secret=secret,
        seats=tuple(_plan(one) for one in old.seats),
        server_key=server_key,
        stand_in=BOTS[STAND_IN].id,
        chain=old.chain,
        ready_seconds=old.ready_seconds,
        rated=old.rated,
        hints=old.hints,
        clock=old.clock,
    )


def _plan(seat: SeatState) -> SeatPlan:
    if seat.bot is not None:
        return SeatPlan(kind="bot", bot=BOTS[seat.bot.name].id)
    return SeatPlan(kind="reserved", player=seat.player)
