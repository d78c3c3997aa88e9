"""How many tables a player has opened that are not over, and at which somebody sits or may be the first to.

The read models lag a little behind the log, so the tables that were opened are noted here as they are opened, and looked
up there only when a player has as many as it may have. Calls at the same moment may exceed the number by as many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.cluster import Client, wire_of
from services.keys import Keys
from services.projections import Projections


class Opened:
    """The tables that players of a store have opened. Every method raises `StoreUnavailable`."""

    def __init__(self, client: Client, projections: Projections) -> None:
        self._wire = wire_of(client)
        self._projections = projections

    def note(self, player: str, game: str) -> None:
        """Count a table as one that the player has opened; again changes nothing."""
        self._wire.call("SADD", Keys.opened(player), game)

    def count(self, player: str, most: int) -> int:
        """Tables of a player that are not over, nor left by all; exact where there might be ``most``, else not too few."""
        place = Keys.opened(player)
        known = int(self._wire.call("SCARD", place))
        if known < most:
            return known
        games = [game.decode() for game in self._wire.call("SMEMBERS", place)]
        gone = [one["id"] for one in self._projections.tables(games) if not _counts(one)]
        if gone:
            self._wire.call("SREM", place, *gone)
        return len(games) - len(gone)

    def forget(self, player: str) -> None:
        """Keep nothing of a player."""
        self._wire.call("DEL", Keys.opened(player))


def _counts(table: Mapping[str, Any]) -> bool:
    """Whether a table, as it is projected, is one of those that its opener has open.

    One at which nobody sits any more is nobody's, and ends by itself; one at which nobody has sat yet waits for somebody.
    """
    if table["status"] != "open":
        return bool(table["status"] != "over")
    seats = table["seats"]
    if any(seat["player"] for seat in seats):
        return True
    # its opening is one event, and so is each bot that takes a seat with it: whatever else there is, was somebody's
    return bool(table["seq"] <= 1 + sum(seat["bot"] is not None for seat in seats))
