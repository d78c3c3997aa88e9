"""What is tried again where a server cannot be reached, and when: where that is safe, nowhere else.

A command that was never sent may be, and one that only reads. Whether one that writes was carried out when its answer was
lost, nobody knows but the log: an append is looked up by its idempotency key, or by the numbers of its events, and never sent
a second time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

BOUND: Final = 0.2
"""For how long in all a command may be tried again, as a part of the time that an answer may take: mostly that is a second,
in which a server that was killed is back."""
_FIRST_SECONDS: Final = 0.02
SPREAD: Final = 0.5
"""By which part of itself a pause may be shorter, so that not all who wait come back at the same moment."""

READS: Final = frozenset(
    [
        "CLIENT",
        "CONFIG",
        "ECHO",
        "EXISTS",
        "GET",
        "GETRANGE",
        "HEXISTS",
        "HGET",
        "HGETALL",
        "HKEYS",
        "HLEN",
        "HMGET",
        "HSCAN",
        "INFO",
        "LINDEX",
        "LLEN",
        "LRANGE",
        "PING",
        "ROLE",
        "SCAN",
        "SCARD",
        "SCRIPT",
        "SISMEMBER",
        "SMEMBERS",
        "STRLEN",
        "TYPE",
        "XINFO",
        "XLEN",
        "XPENDING",
        "XRANGE",
        "XREAD",
        "XREVRANGE",
        "ZCARD",
        "ZCOUNT",
        "ZRANGE",
        "ZRANGEBYSCORE",
        "ZREVRANGE",
        "ZREVRANK",
        "ZSCAN",
        "ZSCORE",
    ]
)
"""Commands that write nothing, so that no replica need confirm them."""

SAFE: Final = READS - {"CLIENT", "CONFIG", "ECHO", "INFO", "PING", "ROLE", "SCRIPT", "XREAD"}
"""Those that are asked for again, all about what is kept. Not PING: who asks whether a server answers wants to know it now."""


def spread(seconds: float, chance: Callable[[], float] = random.random) -> float:
    """A pause of at most so many seconds, and of half of them at least."""
    return seconds * (1 - SPREAD * chance())


def pauses(timeout: float, chance: Callable[[], float] = random.random) -> Iterator[float]:
    """Seconds between the tries of a command whose answer may take ``timeout`` seconds, each about twice the one before."""
    left, longest = BOUND * timeout, _FIRST_SECONDS
    while left > 0:
        pause = min(left, spread(longest, chance))
        left, longest = left - pause, 2 * longest
        yield pause
