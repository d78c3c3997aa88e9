"""Whether a store of one's own keeps what it acknowledges: its settings, looked at and told in words."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import redis

from services.cluster import Client, wire_of
from services.keys import Keys
from services.watchdog import mark_of
from services.wire import StoreUnavailable

CHECK_SECONDS: Final = 60.0
"""How long an answer of the server about its settings is good for."""
LOOK_SECONDS: Final = 1.0
"""How often a store is asked whether it takes writes."""
LEAST_FREE: Final = 1 << 20
"""Bytes that must be free on the disk of an embedded store: with fsync always its server ends when a write fails."""
MOST_LAG_SECONDS: Final = 2
"""A replica confirms every second how far it is; one that was silent for longer does not keep up."""
NOTHING_KEPT: Final = "the store can keep nothing now"


class Durability:
    """The settings of a store that decide whether an acknowledged event outlives a crash. For any thread.

    A ``trusted`` store is the embedded one, which is started with the right settings; ``folder`` is where it keeps its files.
    ``replicas`` is how many of each primary must have what is acknowledged.
    """

    def __init__(
        self,
        client: Client,
        *,
        trusted: bool = False,
        replicas: int = 0,
        folder: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._mark = folder, mark_of(folder) if folder else None
        self._wire = wire_of(client)
        self._replicas = replicas
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

    def hindrance(self) -> str | None:
        """Why the store, which answers, takes no writes now, in a few words; none where it takes them.

        Asked of the server each time, by a write that changes nothing: it costs as much as a read. Raises StoreUnavailable
        where it does not answer.
        """
        if self._folder is not None and mark_of(self._folder) != self._mark:
            return f"the folder of its files, {self._folder}, was taken away"
        if self._folder is not None and (free := shutil.disk_usage(self._folder).free) < LEAST_FREE:
            return f"the disk of its files, {self._folder}, is full ({free} bytes are left)"
        try:
            # it is judged as any write is: by role, memory, disk and replicas
            self._wire.call("SETRANGE", Keys.partitions_key, 0, b"")
            return self._lacking()
        except StoreUnavailable as error:
            if isinstance(error.__cause__, redis.ResponseError):
                return f"it refuses to write ({type(error.__cause__).__name__}: {error})"
            raise
        except redis.ResponseError:
            return None  # such as of a user who may not use this command: it is not known then

    def _lacking(self) -> str | None:
        """Where a primary has fewer replicas that keep up than are needed, in a few words; every primary is asked."""
        told = self._wire.everywhere("INFO", "replication")
        fewest = min(replicas_of(one.decode()) for one in told)
        if fewest >= self._replicas:
            return None
        return f"{fewest} replicas keep up, and {self._replicas} must have what is acknowledged (HEARTS_REPLICAS)"

    def _ask(self) -> list[str]:
        try:
            # with one pattern each: servers before Redis 7 take no more
            told = [
                self._wire.everywhere("CONFIG", "GET", name) for name in ("*append*", "maxmemory*", "min-*")
            ]
        except redis.ResponseError as error:
            return [f"whether the store keeps what it acknowledges could not be checked: {error}"]
        found: dict[str, None] = {}
        for node in zip(*told, strict=True):
            pairs = [word.decode() for reply in node for word in reply]
            found |= dict.fromkeys(
                weaknesses(dict(zip(pairs[::2], pairs[1::2], strict=True)), self._replicas)
            )
        return list(found)


class WriteWatch:
    """Tells, once each time, that a store has stopped taking writes, and that it takes them again."""

    def __init__(
        self,
        durability: Durability,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._durability, self._tell, self._clock = durability, tell, clock
        self._due = 0.0
        self._told = False

    def look(self) -> None:
        """Ask the store, where it was not asked in the last `LOOK_SECONDS`; that it does not answer is for others to tell."""
        if self._clock() < self._due:
            return
        try:
            why = self._durability.hindrance()
        except StoreUnavailable:
            return
        finally:
            self._due = self._clock() + LOOK_SECONDS
        if why and not self._told:
            self._tell(f"warning: {NOTHING_KEPT}: {why}")
        elif self._told and not why:
            self._tell("the store keeps games again")
        self._told = why is not None


def replicas_of(told: str) -> int:
    """How many replicas of a server keep up with it, by what INFO tells of its replication."""
    found = 0
    for line in told.splitlines():
        name, _, value = line.partition(":")
        if re.fullmatch(r"slave\d+", name):
            fields = dict(pair.split("=", 1) for pair in value.split(",") if "=" in pair)
            found += fields.get("state") == "online" and 0 <= int(fields.get("lag", -1)) <= MOST_LAG_SECONDS
    return found


def weaknesses(settings: Mapping[str, str], replicas: int = 0) -> list[str]:
    """What a server's settings (as of CONFIG GET) may lose, a sentence each, where ``replicas`` are to have everything."""
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
    least = settings.get("min-replicas-to-write", settings.get("min-slaves-to-write", "0"))
    if int(least) < replicas:
        found.append(
            f"the store writes with fewer than {replicas} replicas (min-replicas-to-write {least}): "
            "a primary that was cut off may take moves which it cannot keep"
        )
    policy = settings.get("maxmemory-policy", "noeviction")
    if policy != "noeviction":
        found.append(f"the store may drop games when its memory is full (maxmemory-policy {policy})")
    return found
