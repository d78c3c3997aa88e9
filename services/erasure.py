"""Forgetting a player: seats given up, then name and tokens erased."""

from __future__ import annotations

from contextlib import suppress

from domain.commands import StandUp
from domain.refusals import HeartsError
from services.wiring import Services

_PAGE = 100


def erase_player(services: Services, player: str) -> int:
    """Forget who ``player`` is; how many seats in games not over were given up. Raises `StoreUnavailable`.

    A seat is free again before the deal, and the stand-in bot's after it. It stays as it is in games that the read
    models do not have yet, and at a table between the first who is ready and the deal. The games stay, with the id.
    """
    left = _give_up_seats(services, player)
    services.players.erase(player)
    services.opened.forget(player)
    return left


def _give_up_seats(services: Services, player: str) -> int:
    left, after = 0, None
    while True:
        found, after = services.projections.list_games(player=player, after=after, limit=_PAGE)
        for game in found:
            seat = next((one["seat"] for one in game["seats"] if one["player"] == player), None)
            if game["status"] == "over" or seat is None:
                continue
            with suppress(HeartsError):  # it may be over by now, or let nobody go at the moment
                services.tables.handle(game["id"], StandUp(player=player, seat=seat))
                left += 1
        if after is None:
            return left
