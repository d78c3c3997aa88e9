"""Whether a store of one's own keeps what it acknowledges: its settings, looked at and told in words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

import redis

from services.wire import Wire

CHECK_SECONDS: Final = 60.0
"""How long an answer of the server about its settings is good for."""


class Durability:
    """The settings of a store that decide whether an acknowledged event outlives a crash. For any thread.

    A ``trusted`` store is the embedded one, which is started with the right settings.
    """

    def __init__(
        self, client: redis.Redis, *, trusted: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wire = Wire(client)
        self._trusted = trusted
        self._clock = clock
        self._lock = threading.Lock()
        self._known: tuple[float, list[str]] | None = None

    def warnings(self) -> list[str]:
        """What may lose acknowledged events, a sentence each; asked of the server once a minute at most.

        Raises StoreUnavailable.
        """
        if self._trusted:
            return []
        with self._lock:
            now = self._clock()
            if self._known is None or now - self._known[0] >= CHECK_SECONDS:
                self._known = now, self._ask()
            return list(self._known[1])

    def _ask(self) -> list[str]:
        try:
            # with one pattern each: servers before Redis 7 take no more
            told = self._wire.pipeline([("CONFIG", "GET", "*append*"), ("CONFIG", "GET", "maxmemory*")])
        except redis.ResponseError as error:
            return [f"whether the store keeps what it acknowledges could not be checked: {error}"]
        pairs = [word.decode() for reply in told for word in reply]
        return weaknesses(dict(zip(pairs[::2], pairs[1::2], strict=True)))


def weaknesses(settings: Mapping[str, str]) -> list[str]:
    """What a server's settings (as of CONFIG GET) may lose, a sentence each."""
    found = []
    if settings.get("appendonly") != "yes":
        found.append("the store keeps no append-only file (appendonly no): a restart may lose games")
    elif (fsync := settings.get("appendfsync")) == "everysec":
        found.append(
            "the store syncs once a second (appendfsync everysec): a power cut may lose the last moves"
        )
    elif fsync != "always":
        found.append(
            f"the store leaves syncing to the system (appendfsync {fsync}): a power cut may lose moves"
        )
    elif settings.get("no-appendfsync-on-rewrite") == "yes":
        found.append(
            "the store does not sync while it rewrites its file (no-appendfsync-on-rewrite yes): "
            "a power cut then may lose moves"
        )
    policy = settings.get("maxmemory-policy", "noeviction")
    if policy != "noeviction":
        found.append(f"the store may drop games when its memory is full (maxmemory-policy {policy})")
    return found
