"""The deals of an arena by processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor

from services.bulk import end_with_parent, ended_by_interrupts, in_order
from workers.arena.match import Dealt, Plan, play_deal


def play_deals(plan: Plan, deals: int, jobs: int) -> Generator[Dealt]:
    """What comes of deals 1 to ``deals``, in their order, played by so many processes. To be closed.

    Raises `BrokenProcessPool` where one of them was ended.
    """
    numbers = range(1, deals + 1)
    if jobs == 1:
        for deal in numbers:
            yield play_deal(plan, deal)
        return
    context = multiprocessing.get_context("spawn")
    with ended_by_interrupts(), ProcessPoolExecutor(jobs, context, end_with_parent) as pool:
        try:
            yield from in_order(numbers, lambda deal: pool.submit(play_deal, plan, deal), 3 * jobs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what is left is not waited for
            raise
