"""Counting requests in windows of time, for all processes on a store, at little cost to it.

A count in the store for each request would be a write, and so a wait for the disk, even of a request that only reads.
So a process takes a share of a window at a time, a twentieth of what the limit allows, and counts that down by itself:
never more pass than the limit says; of several processes each may keep a share that it does not use. Whoever is over
the limit is refused without the store being asked.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

import redis

from services.cluster import Client, wire_of
from services.keys import Keys
from services.wire import Script, StoreUnavailable

SHARES: Final = 20
"""Into so many parts a process takes what a limit allows."""
AWAY_SECONDS: Final = 2.0
"""How long a store that did not answer is not asked again."""
ALONE_SECONDS: Final = 60
"""The longest window of a process that counts alone."""
ANSWER_SECONDS: Final = 1.0
"""How long a store may take to count."""
_TAKERS: Final = 64
_MOST_WINDOWS: Final = 16_384
"""Windows that a process keeps."""

TAKE: Final = Script("""
-- KEYS[1] a count   ARGV[1] how much is taken   ARGV[2] ms that a new window lasts
-- Returns the count after that, and the ms that are left of the window.
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
""")


class Count(NamedTuple):
    """Where a caller stands in the present window."""

    number: int
    """How many requests there were, this one among them."""
    left: float
    """Seconds until the window ends."""


class _Window:
    """What this process has of a window: the numbers above ``number`` up to ``top`` are its to give out."""

    __slots__ = ("end", "number", "top")

    def __init__(self, number: int, top: int, end: float) -> None:
        self.number, self.top, self.end = number, top, end


class Rates:
    """The counts of a store. Where it does not answer, this process counts alone."""

    def __init__(self, client: Client, timer: Callable[[], float] = time.monotonic) -> None:
        self._wire = wire_of(client)
        self._timer = timer
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        self._lock = Lock()
        # many requests of one caller must not take a share each, nor callers wait for one another
        self._takers = [Lock() for _ in range(_TAKERS)]
        self._away_until = float("-inf")

    def hit(self, limit: str, amount: int, seconds: int) -> Count:
        """Count a request. ``limit`` names the limit and the caller; it allows ``amount`` in ``seconds``."""
        counted = self._count(limit, amount)
        if counted is not None:
            return counted
        with self._takers[hash(limit) % _TAKERS]:
            counted = self._count(limit, amount)
            if counted is not None:
                return counted
            window = self._take(limit, amount, seconds)
            with self._lock:
                self._windows[limit] = window
                self._windows.move_to_end(limit)
                if len(self._windows) > _MOST_WINDOWS:
                    self._windows.popitem(last=False)
            return Count(window.number, window.end - self._timer())

    def look(self, limit: str) -> Count:
        """Where a caller stands, as this process knows; 0 where it has not counted any."""
        window = self._windows.get(limit)
        left = 0.0 if window is None else window.end - self._timer()
        return Count(0, 0.0) if window is None or left <= 0 else Count(window.number, left)

    def forget(self, limit: str) -> None:
        """Begin again with a caller."""
        with self._lock:
            self._windows.pop(limit, None)
        self._wire.call("DEL", Keys.rate(limit))

    def _count(self, limit: str, amount: int) -> Count | None:
        """The request by a number that is this process's to give out, none where it has none left."""
        with self._lock:
            window = self._windows.get(limit)
            left = 0.0 if window is None else window.end - self._timer()
            if window is None or left <= 0:
                return None
            # who is over the limit stays so to the end of the window, whatever other processes count
            if window.number >= window.top and window.number < amount:
                return None
            window.number += 1
            return Count(window.number, left)

    def _take(self, limit: str, amount: int, seconds: int) -> _Window:
        now = self._timer()
        share = max(1, amount // SHARES)
        if now >= self._away_until:
            try:
                count, left = self._wire.run(TAKE, [Keys.rate(limit)], [share, seconds * 1000])
                return _Window(int(count) - share + 1, int(count), self._timer() + int(left) / 1000)
            except (StoreUnavailable, redis.RedisError):
                # a limit is no reason to refuse anybody, and the request itself will tell that the store is away
                self._away_until = self._timer() + AWAY_SECONDS
        return _Window(1, amount, now + min(seconds, ALONE_SECONDS))
