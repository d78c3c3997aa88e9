"""What the views of one application share: the services, and the places for long polls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Final

from flask import Flask, current_app

from api.errors import Problem
from services.paging import EventPages
from services.wiring import Services

_EXTENSION: Final = "hearts"


class House:
    """The services of an application. ``stopping`` tells whether the server is about to stop."""

    def __init__(self, services: Services, stopping: Callable[[], bool]) -> None:
        self.services = services
        self.tables = services.tables
        self.players = services.players
        self.pages = EventPages(services.store)
        self.stopping = stopping
        # A poll holds a thread while it waits, so some threads are always left to those who do not.
        self.most_polls = max(1, services.settings.api_threads * 3 // 4)
        self._polls = BoundedSemaphore(self.most_polls)

    def install(self, app: Flask) -> None:
        """Make this the house of ``app``."""
        app.extensions[_EXTENSION] = self

    @contextmanager
    def poll(self) -> Iterator[None]:
        """A place to wait in. Raises the problem ``rate/limited`` where all are taken."""
        if not self._polls.acquire(blocking=False):
            raise Problem(
                "rate/limited",
                f"this process lets {self.most_polls} requests wait at a time",
                hint="ask again in a second, or without wait",
            )
        try:
            yield
        finally:
            self._polls.release()


def house() -> House:
    """The house of the application that handles the current request."""
    found: House = current_app.extensions[_EXTENSION]
    return found
