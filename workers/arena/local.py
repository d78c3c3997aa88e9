"""The deals of an arena by processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Generator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial

from services.bot_guard import held_signals
from services.bulk import in_order
from services.supervise import after_parent_process
from workers.arena.match import Dealt, Plan, play_deal


def play_deals(plan: Plan, deals: int, jobs: int) -> Generator[Dealt]:
    """What comes of deals 1 to ``deals``, in their order, played by so many processes. To be closed.

    Where it is broken off, by closing or by an interrupt, the processes are ended with all that they run. Raises
    `BrokenProcessPool` where one of them was ended by somebody else.
    """
    numbers = range(1, deals + 1)
    if jobs == 1:
        for deal in numbers:
            yield play_deal(plan, deal)
        return
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, context, _end_with_parent) as pool:

        def submit(deal: int) -> Future[Dealt]:
            # the processes, which the first of these starts, leave it to this one what comes of an interrupt
            with held_signals():
                return pool.submit(play_deal, plan, deal)

        try:
            yield from in_order(numbers, submit, 3 * jobs)
        except BaseException:
            # What is left is not waited for. The pool finds them dead, and must not have been told to stop them itself:
            # it would write to a pipe that it closes.
            for process in set(multiprocessing.active_children()) - before:
                process.kill()
            raise


def _end_with_parent() -> None:
    """Let this process end when the one that it works for does, however that ends, and when it is told to by SIGTERM."""
    after_parent_process(partial(os._exit, 1))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
