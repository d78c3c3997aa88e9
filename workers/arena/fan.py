"""The deals of an arena by the workers of its queue, on as many machines as there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Final

import msgspec

from services.fan_out import FanOut
from services.queue import Argument, Queue
from services.wire import Wire
from workers.arena.kept import VERSION, Kept, arena_id, read_plan, write_plan
from workers.arena.match import Dealt, Plan, play_deal
from workers.batches import do_batch

READ_DEALS: Final = 200
"""So many deals that are kept are read at a time."""


def play_some(
    plan: Plan, kept: Kept, deals: Sequence[int], seconds: float, wanted: Callable[[], bool] = lambda: True
) -> list[Dealt]:
    """What came of the first of ``deals``, each kept as soon as it is played: of one at least, and of no more when the time is over.

    Of none more, either, when ``wanted``, which is asked before each, says no. Raises `StoreUnavailable`.
    """
    until = time.monotonic() + seconds
    there = kept.find(deals)
    found: list[Dealt] = []
    for deal in deals:
        if not wanted():
            break
        if deal in there:
            found.append(there[deal])
            continue
        found.append(play_deal(plan, deal))
        kept.keep(found[-1:])
        if time.monotonic() >= until:
            break
    return found


class ArenaFan(FanOut[Dealt]):
    """The deals of one arena, of which an item is the number."""

    JOB = "arena"
    WORKER = "an arena worker"
    FIRST = 2
    MOST = 100
    SECONDS = 300

    def __init__(
        self, plan: Plan, queue: Queue, *, tell: Callable[[str], object], version: str = VERSION
    ) -> None:
        super().__init__(queue, tell=tell, version=version)
        self._plan = plan
        self.kept = Kept(queue.wire, arena_id(plan))

    @property
    def more(self) -> tuple[Argument, ...]:
        """The plan."""
        return (write_plan(self._plan),)

    def do(self, items: Sequence[str], seconds: float) -> list[Dealt]:
        """Play deals in this process."""
        return play_some(self._plan, self.kept, [int(one) for one in items], seconds)

    def decode(self, outcomes: msgspec.Raw) -> list[Dealt]:
        """What a worker has played."""
        return msgspec.json.decode(outcomes, type=list[Dealt])

    def item_of(self, outcome: Dealt) -> str:
        """Its deal."""
        return str(outcome.deal)

    def played(self, deals: int) -> Generator[Dealt]:
        """What comes of deals 1 to ``deals``, in their order: those that are kept, and the others played. To be closed.

        Raises `StoreUnavailable`: without the queue's server nothing could be taken up again.
        """
        self.kept.begin(self._plan, deals)
        there = self.kept.deals()
        missing = (str(deal) for deal in range(1, deals + 1) if deal not in there)
        with closing(self.outcomes(missing)) as fresh:
            for first in range(1, deals + 1, READ_DEALS):
                block = range(first, min(first + READ_DEALS, deals + 1))
                old = self.kept.find([deal for deal in block if deal in there])
                for deal in block:
                    if deal not in there:
                        yield next(fresh)
                    else:  # one that cannot be read, or whose time is over, is played here
                        yield old[deal] if deal in old else self.do([str(deal)], 0.0)[0]


def play_for(
    wire: Wire, version: str, run: str, batch: int, attempt: int, deals: Sequence[str], written: str
) -> None:
    """A worker's side: play deals, and tell the command that waits. Raises `StoreUnavailable`, `UnknownBot`."""

    def work(seconds: float, wanted: Callable[[], bool]) -> list[Dealt]:
        plan = read_plan(written)
        kept = Kept(wire, arena_id(plan))
        return play_some(plan, kept, [int(deal) for deal in deals], seconds, wanted)

    do_batch(wire, (version, run, batch, attempt), VERSION, work)
