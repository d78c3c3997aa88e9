"""How many tables a player has opened that are not over.

The read models lag a little behind the log, so the tables that were opened are noted here as they are opened, and looked
up there only when a player has as many as it may have. Calls at the same moment may exceed the number by as many.
"""

from __future__ import annotations

import redis

from services.keys import Keys
from services.projections import Projections
from services.wire import Wire


class Opened:
    """The tables that players of a store have opened. Every method raises `StoreUnavailable`."""

    def __init__(self, client: redis.Redis, projections: Projections) -> None:
        self._wire = Wire(client)
        self._projections = projections

    def note(self, player: str, game: str) -> None:
        """Count a table as one that the player has opened; again changes nothing."""
        self._wire.call("SADD", Keys.opened(player), game)

    def count(self, player: str, most: int) -> int:
        """Tables of a player that are not over; exact where there might be ``most``, else no fewer than there are."""
        place = Keys.opened(player)
        known = int(self._wire.call("SCARD", place))
        if known < most:
            return known
        games = [game.decode() for game in self._wire.call("SMEMBERS", place)]
        over = [one["id"] for one in self._projections.tables(games) if one["status"] == "over"]
        if over:
            self._wire.call("SREM", place, *over)
        return len(games) - len(over)

    def forget(self, player: str) -> None:
        """Keep nothing of a player."""
        self._wire.call("DEL", Keys.opened(player))
