"""Whether the house has room for new tables: they are refused before moves in running games would suffer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import redis

from services.feed import Feed
from services.projections import GROUP
from services.wire import StoreUnavailable, Wire

LOOK_SECONDS: Final = 1.0
"""How long an answer of the store about its room is good for."""
EASED: Final = 0.9
"""Of a bound: below so much of it there is room again, so that the house does not open and close with every table."""


class Pressure:
    """Looks at the lag of the read models and at the memory of the store, once a second at most. For any thread.

    ``most_lag`` is in appends, ``most_memory`` in hundredths of what the store may use; 0 is no bound.
    """

    def __init__(
        self,
        feed: Feed,
        wire: Wire,
        *,
        most_lag: int,
        most_memory: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feed, self._wire, self._clock = feed, wire, clock
        self._most_lag, self._most_memory = most_lag, most_memory
        self._lock = threading.Lock()
        self._known: tuple[float, str | None] = float("-inf"), None

    def why(self) -> str | None:
        """Why no new table is to be opened now, in a few words; none where there is room. Raises `StoreUnavailable`."""
        with self._lock:
            now, (looked, known) = self._clock(), self._known
            if now - looked >= LOOK_SECONDS:
                known = self._look(EASED if known else 1.0)
                self._known = now, known
            return known

    def _look(self, part: float) -> str | None:
        """What has reached ``part`` of its bound."""
        if self._most_lag and (lag := self._feed.lag(GROUP)) >= part * self._most_lag:
            return f"the projectors are {lag:,} appends behind, and {self._most_lag:,} are the most"
        if self._most_memory and (used := memory_share(self._wire)) is not None:
            share = round(100 * used)
            if share >= part * self._most_memory:
                return f"{share} % of the store's memory is used, and {self._most_memory} % are the most"
        return None


def memory_of(wire: Wire) -> list[dict[str, int]]:
    """What each of the store's primaries tells of its memory, in bytes; nothing where its user may not ask.

    Raises `StoreUnavailable`.
    """
    try:
        every: list[bytes] = wire.everywhere("INFO", "memory")
    except StoreUnavailable:
        raise
    except redis.ResponseError:
        return []
    return [
        {
            name: int(value)
            for name, _, value in (line.partition(":") for line in told.decode().splitlines())
            if value.isdecimal()
        }
        for told in every
    ]


def memory_share(wire: Wire) -> float | None:
    """How much of its ``maxmemory`` the fullest primary uses, or of its machine's where it has none; none where none says."""
    shares = []
    for told in memory_of(wire):
        most = told.get("maxmemory") or told.get("total_system_memory")
        if most and "used_memory" in told:
            shares.append(told["used_memory"] / most)
    return max(shares, default=None)
