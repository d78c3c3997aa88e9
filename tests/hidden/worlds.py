"""Worlds: a store with all that works on it. The twin of one has the same past and other hidden cards."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any, Final

import redis
from flask import Flask

from api.app import create_app
from api.metrics import Metrics
from services.settings import Settings
from services.store import connect
from services.wiring import Services, build
from tests.api.guests import hub_of
from tests.support.clock import Clock
from tests.support.unlimited import UNLIMITED
from workers.projector import Projector
from workers.seats import Driver
from workers.sweep import Sweep

PARTITIONS: Final = 2
_SERVER_TIME: Final = re.compile(rb"\b\d{13}-\d+\b")
"""The id of an inbox's entry, which is when the server stored it, at a moment of its own clock."""
_MOMENT: Final = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?|\b\d{10}\.\d+\b")
_VARYING: Final = re.compile(r"_(bucket|sum|bytes|created)$|^process_|^hearts_store_memory|listeners$")
"""Metrics that tell how long something took, or how much memory."""
_SUMS: Final = re.compile(r"_(total|count)$")

Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]
"""Metrics by name and labels."""


class Lines:
    """What a program says: log records of every level, and whatever it prints."""

    def __init__(self) -> None:
        self.said: list[bytes] = []


class _Ear(logging.Handler):
    def __init__(self, lines: Lines) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Note a record."""
        self._lines.said.append(timeless(self.format(record).encode()))


def timeless(text: bytes) -> bytes:
    """``text`` without moments of clocks that no test can set: those of the store and of the queue."""
    return _MOMENT.sub(b"<moment>", _SERVER_TIME.sub(b"<entry>", text))


class World:
    """A store, a server of its own on it, and the workers."""

    def __init__(self, url: str, number: int, folder: Path, clock: Clock) -> None:
        self.url, self.number, self.folder, self.clock = f"{url}?db={number}", number, folder, clock
        self.client = connect(self.url)
        self._halt = [False]
        self._running = False

    def start(self) -> None:
        """A new server, which remembers nothing."""
        self.stop()
        self.client = connect(self.url)
        halted = self._halt = [False]
        settings = Settings(
            data=self.folder, partitions=PARTITIONS, api_threads=8, queue_url=self.url, **UNLIMITED
        )
        self.services: Services = build(
            settings, store=self.client, clock=self.clock, entropy=Random(7 + self.clock.now).randbytes
        )
        self.metrics = Metrics(self.services)
        self.app: Flask = create_app(self.services, stopping=lambda: halted[0], metrics=self.metrics)
        self._running = True

    def stop(self) -> None:
        """Let what the server has begun come to its end, and let go of the store until it is needed again."""
        self._halt[0] = True
        if self._running:
            listening = hub_of(self.app)._thread
            if listening is not None:
                listening.join()
            self.services.queue._client.connection_pool.disconnect()
            self._running = False
        self.client.connection_pool.disconnect()

    def copy(self, other: World) -> None:
        """Make this store the same as another one."""
        self.client.flushdb()
        for key in other.client.scan_iter(count=1000):
            other.client.execute_command("COPY", key, key, "DB", self.number)

    def work(self, *, drive: bool) -> None:
        """What the workers do after an append: ask for a drive by a job, drive, and project."""
        services = self.services
        for key in self.client.scan_iter("rq:*"):
            self.client.delete(key)
        sweep = Sweep(services)
        sweep.look()
        sweep.ask()
        if drive:
            for partition in range(PARTITIONS):
                Driver(services).drive(partition)
        self.project()

    def project(self) -> None:
        """Bring the read models up to date."""
        services = self.services
        projector = Projector(services.store, services.feed, services.projections, services.clock, block_ms=1)
        projector.begin()
        while services.projections.lag():
            projector.round()

    @contextmanager
    def heard(self) -> Iterator[Lines]:
        """All that is said meanwhile."""
        lines, root, printed = Lines(), logging.getLogger(), io.StringIO()
        ear, level = _Ear(lines), root.level
        root.addHandler(ear)
        root.setLevel(logging.DEBUG)
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                yield lines
        finally:
            root.removeHandler(ear)
            root.setLevel(level)
            lines.said += printed.getvalue().encode().splitlines()

    def figures(self) -> Figures:
        """The metrics that do not tell how long something took."""
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in self.metrics.registry.collect()
            for sample in family.samples
            if not _VARYING.search(sample.name)
        }

    def beside_the_log(self, game: str) -> dict[bytes, Any]:
        """All that the store holds but the events and the snapshot of the game, which nobody reads but the house.

        Of streams the fields alone; jobs without the moments at which they were asked for.
        """
        keys = self.services.keys
        mine = {keys.stream(game).encode(), keys.snapshot(game).encode()}
        return {
            key: _value(self.client, key)
            for key in sorted(self.client.scan_iter(count=1000))
            if key not in mine
        }


def since(before: Figures, after: Figures) -> Figures:
    """How sums have grown, and what else there is now."""
    return {
        sample: value - before.get(sample, 0.0) if _SUMS.search(sample[0]) else value
        for sample, value in after.items()
        if not _SUMS.search(sample[0]) or value != before.get(sample, 0.0)
    }


def _value(client: redis.Redis, key: bytes) -> Any:
    match client.type(key):
        case b"string":
            return timeless(client.get(key) or b"")
        case b"hash":
            return {name: _plain(value) for name, value in client.hgetall(key).items()}
        case b"zset":
            # those of the queue are sorted by moments
            scored = client.zrange(key, 0, -1, withscores=True)
            return [name for name, _ in scored] if key.startswith(b"rq:") else scored
        case b"set":
            return client.smembers(key)
        case b"list":
            return [timeless(one) for one in client.lrange(key, 0, -1)]
        case b"stream":
            return [fields for _, fields in client.xrange(key)]
    raise AssertionError(f"{key!r} is of a type that is not looked at")


def _plain(value: bytes) -> bytes:
    return timeless(value)
