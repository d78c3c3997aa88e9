"""The work of a rebuild spread over the cores of this machine, what it tells meanwhile, and what it tells of itself in the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from functools import cache, partial
from typing import Final, TypeVar

import msgspec

from services.pool import in_processes
from services.rebuild_kinds import Difference, Folded
from services.settings import Settings
from services.wiring import Services, build

FOLDED_AT_ONCE: Final = 50
"""Games of a piece of work."""
FEW: Final = 400
"""So many games, or players, are left to this process itself: others would take longer to start."""

W = TypeVar("W")
D = TypeVar("D")


class Report(msgspec.Struct, kw_only=True):
    """What a rebuild has done."""

    projection: str
    version: int
    """The new one."""
    switched: bool = False
    games: int = 0
    events: int = 0
    seconds: float = 0.0
    """For reading and folding the log and writing the new version."""
    differing: int = 0
    """Items that were not as the log says."""
    stay: int = 0
    """Those of them that this cannot mend: entries of the finished games, whose order is a fact of its own."""
    differences: list[Difference] = msgspec.field(default_factory=list)
    """Their fields, some of them."""
    failed: dict[str, str] = msgspec.field(default_factory=dict)
    """Games that cannot be folded, each with the reason; of those the new version has what the old one had."""

    def take(self, done: Folded) -> None:
        """Count what came of some games."""
        self.games += done.games
        self.events += done.events
        self.failed |= done.failed


class Progress:
    """Somebody who may want to know how a rebuild comes along."""

    def begin(self, what: str, of: int) -> None:
        """Something is begun, of which there are so many."""

    def step(self, done: int, events: int) -> None:
        """So many more are done, and so many more events are folded."""


def jobs_of(items: int) -> int:
    """How many processes do the work for so many items: one for each core, where it is worth it."""
    return 1 if items <= FEW else len(os.sched_getaffinity(0))


def each(house: Services, pieces: Sequence[W], do: Callable[[Services, W], D], jobs: int) -> Generator[D]:
    """What ``do`` makes of pieces of work, in their order, in this process or in several, each with the store of the settings.

    To be closed. Raises `BrokenProcessPool` where one of several processes was ended.
    """
    if jobs == 1:
        yield from (do(house, piece) for piece in pieces)
    else:
        yield from in_processes(pieces, partial(_elsewhere, do), jobs)


@cache
def _services() -> Services:
    return build(Settings.from_environ())


def _elsewhere(do: Callable[[Services, W], D], piece: W) -> D:
    return do(_services(), piece)
