"""The deals of an arena by processes of this machine."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from services.pool import in_processes
from workers.arena.match import Dealt, Plan, play_deal


def play_deals(plan: Plan, deals: int, jobs: int) -> Generator[Dealt]:
    """What comes of deals 1 to ``deals``, in their order, played by so many processes. To be closed.

    Raises `BrokenProcessPool` where one of them was ended by somebody else.
    """
    numbers = range(1, deals + 1)
    if jobs == 1:
        for deal in numbers:
            yield play_deal(plan, deal)
        return
    yield from in_processes(numbers, partial(play_deal, plan), jobs)
