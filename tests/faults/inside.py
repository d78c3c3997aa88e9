"""A house without processes of its own but the store: what is to be broken on purpose is broken by a patch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, Final

import httpx

from api.app import create_app
from services.embedded import EmbeddedStore
from services.settings import Settings
from services.store import StoreError
from services.supervise import Stop
from services.wiring import Services, build, now_ms
from tests.faults.checker import Violation, check
from tests.faults.clients import Connect, Load
from tests.faults.final import is_at_rest, read_final
from tests.faults.history import History
from tests.support.house import until
from tests.support.unlimited import UNLIMITED
from workers.projector import Projector
from workers.seats import Driver

LOST: Final = 0.1
"""How often an answer is lost."""
GLANCE_MS: Final = 20
"""For how long the bots wait for news before they look what is due."""


class Lossy(httpx.BaseTransport):
    """The way to the API in this process, on which some answers are lost after the command was carried out."""

    def __init__(self, app: Any, rng: Random) -> None:
        self._way, self._rng = httpx.WSGITransport(app), rng

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        answer = self._way.handle_request(request)
        if (
            request.method == "POST"
            and not request.url.path.endswith("/players")
            and self._rng.random() < LOST
        ):
            raise httpx.ReadTimeout("the answer was lost", request=request)
        return answer


class Inside:
    """Store, API, projector and bots; the last three in threads of this process."""

    def __init__(self, data: Path, fsync: str = "always", clock: Callable[[], int] = now_ms) -> None:
        self.store = EmbeddedStore(data, fsync=fsync)
        self.store.start()
        settings = Settings(data=data, partitions=4, fsync=fsync, **UNLIMITED)
        self.services: Services = build(settings, clock=clock)
        self.projector = Projector(
            self.services.store,
            self.services.feed,
            self.services.projections,
            clock,
            block_ms=20,
            stale_ms=200,
        )
        self.resting = Event()
        """Set, the bots do nothing."""
        self._stop = Stop()
        self._app = create_app(self.services, stopping=self._stop.is_set)
        self._threads = [
            Thread(target=work, name=work.__name__, daemon=True) for work in (self._project, self._play)
        ]

    def connect(self) -> httpx.Client:
        """A connection to the API."""
        return httpx.Client(transport=Lossy(self._app, Random(7)), base_url="http://house")

    def _project(self) -> None:
        self.projector.run(self._stop)

    def _play(self) -> None:
        driver, cursors = Driver(self.services), {}
        while not self._stop.is_set():
            try:
                cursors = cursors or self.services.feed.heads()
                for partition, due in self.services.store.dues().items():
                    if due <= self.services.clock() and not self.resting.is_set():
                        driver.drive(partition)
                self.services.feed.follow(cursors, GLANCE_MS)
            except StoreError:  # it is away for a moment
                self._stop.wait(GLANCE_MS / 1000)

    def start(self) -> None:
        """Let projector and bots work."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End everything."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self.services.client.close()
        self.store.stop()


@contextmanager
def inside(data: Path, **options: object) -> Iterator[Inside]:
    """A house that plays."""
    house = Inside(data, **options)  # type: ignore[arg-type]
    try:
        house.start()
        yield house
    finally:
        house.close()


def at_rest(house: Inside, load: Load, *, patience: float = 30.0) -> None:
    """Let the load come to its end, and the projector."""
    load.finish(patience)
    until(lambda: is_at_rest(house.services))


def judged(house: Inside, load: Load, *, patience: float = 30.0) -> dict[str, list[Violation]]:
    """What the checker finds, by its kinds, when load and projector have come to their end."""
    at_rest(house, load, patience=patience)
    found: dict[str, list[Violation]] = {}
    for one in check(load.history, read_final(house.services, load.history)):
        found.setdefault(one.kind, []).append(one)
    return found


def loaded(connect: Connect, seed: int = 1, pairs: int = 2, commands: int = 40) -> Load:
    """A load that plays, and has done so many commands."""
    load = Load(connect, seed, pairs, History())
    load.start()
    until(lambda: load.history.acknowledged() >= commands)
    return load
