"""Games that have been over for long enough go into the archive: who asks for it, and how much one job does."""

from __future__ import annotations

import time
from typing import Final

from services.wiring import Services

LOOK_SECONDS: Final = 10.0
"""How often it is looked whether games are to be archived."""
WORK_SECONDS: Final = 0.2
"""For how long one job archives; who wants a bot to play waits for so long at most."""


class Aging:
    """Asks for jobs that archive, for the sweep."""

    def __init__(self, services: Services) -> None:
        self._archiver, self._queue = services.archiver, services.queue
        self._look_at = 0.0

    def ask(self) -> None:
        """Ask for a job in each partition that has games to be archived, once in `LOOK_SECONDS`."""
        if self._archiver is None or time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + LOOK_SECONDS
        for partition in self._archiver.ripe():
            self._queue.enqueue("archive", partition, unique=str(partition))


def archive(services: Services, partition: int) -> int:
    """Move games of a partition into the archive, as long as nobody waits. Returns how many."""
    if services.archiver is None:
        return 0
    return services.archiver.work(partition, WORK_SECONDS, services.queue.urgent_waits)
