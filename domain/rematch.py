"""The rematch of a finished game: the same table once more."""

from __future__ import annotations

from domain.bots import BOTS, STAND_IN
from domain.commands import ABANDONED_AFTER, OpenTable, SeatPlan, SitDown
from domain.state import INVITED, SeatState, State


def open_again(old: State, game: str, at: int, secret: bytes, server_key: str) -> OpenTable:
    """The command that opens the rematch of ``old`` under the id ``game``: the same rules, settings and seats.

    Bots of the same names sit where they sat, and each person's seat is kept for that person. ``at`` is in ms since
    1970 UTC, ``secret`` 32 random bytes: the shuffles have nothing in common with those of ``old``.
    """
    seated = {one.player for one in old.seats}
    return OpenTable(
        at=at,
        game=game,
        rules=old.terms.rules,
        secret=secret,
        seats=tuple(_plan(one, seated) for one in old.seats),
        server_key=server_key,
        stand_in=BOTS[STAND_IN].id,
        chain=old.chain,
        ready_seconds=old.ready_seconds,
        rated=old.rated,
        hints=old.hints,
        clock=old.clock,
        abandon_seconds=old.abandon_seconds or ABANDONED_AFTER,
    )


def sits_so(seat: SeatState, sit: SitDown) -> bool:
    """Whether who has this seat sat down as it asks to now: with the same commitment and key, where it names one."""
    return sit.entropy_commit in (None, seat.entropy_commit) and sit.public_key in (None, seat.public_key)


def _plan(seat: SeatState, seated: set[str]) -> SeatPlan:
    if seat.bot is not None:
        return SeatPlan(kind="bot", bot=BOTS[seat.bot.name].id)
    # at a table that was abandoned before it was full a seat may have been open, or kept for who never took it
    if seat.reserved == INVITED and not seat.player:
        return SeatPlan(kind="invited")
    whose = seat.player or ("" if seat.reserved in seated else seat.reserved)
    return SeatPlan(kind="reserved", player=whose) if whose else SeatPlan(kind="open")
