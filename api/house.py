"""What the views of one application share: the services, and the places of those who wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Semaphore
from typing import Final

from flask import Flask, current_app

from api.errors import Problem
from api.gate import Gate
from api.meter import Meter
from api.present import item_body
from services.hub import Hub
from services.players import Player
from services.wiring import Services

_EXTENSION: Final = "hearts"
MOST_OF_ONE: Final = 64
"""Requests of one player that may wait for events at a time."""


class Places:
    """The places for those who wait for events: so many in all, and of one caller a part of them.

    All callers without a token count as one, who has half of the places.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, me: Player | None) -> Callable[[], None]:
        """Take a place; what is returned gives it back. Raises the problem ``rate/limited`` where there is none."""
        who = "" if me is None else me.id
        most = MOST_OF_ONE if me is not None else max(1, self.places // 2)
        with self._lock:
            if self._taken.total() >= self.places or self._taken[who] >= most:
                mine = f"{most} of one player" if me is not None else f"{most} without a token"
                raise Problem(
                    "rate/limited",
                    f"this process lets {self.places} requests wait for events at a time, {mine}",
                    hint="ask without wait, or wait for all your games in one call: /v1/me/events",
                )
            self._taken[who] += 1
        return partial(self._leave, who)

    def _leave(self, who: str) -> None:
        with self._lock:
            self._taken[who] -= 1
            if not self._taken[who]:
                del self._taken[who]


class House:
    """The services of an application. ``stopping`` tells whether the server is about to stop."""

    def __init__(self, services: Services, stopping: Callable[[], bool], gate: Gate) -> None:
        self.services = services
        self.tables = services.tables
        self.players = services.players
        self.pages = services.tables.pages
        self.stopping = stopping
        self.meter = Meter()
        self.reports = Semaphore(max(1, services.settings.api_threads // 4))
        self.places = Places(services.settings.listeners)
        self.hub = Hub(
            services.store,
            services.tables,
            services.desks,
            self.pages,
            services.clock,
            item_body,
            stopping,
            gate.make,
        )

    @contextmanager
    def report(self) -> Iterator[None]:
        """A place to work a report out in, which takes its time. Raises the problem ``rate/limited`` where all are taken."""
        if not self.reports.acquire(blocking=False):
            raise Problem("rate/limited", "this process works out as many reports as it takes at a time")
        try:
            yield
        finally:
            self.reports.release()

    def install(self, app: Flask) -> None:
        """Make this the house of ``app``."""
        app.extensions[_EXTENSION] = self


def house() -> House:
    """The house of the application that handles the current request."""
    found: House = current_app.extensions[_EXTENSION]
    return found
