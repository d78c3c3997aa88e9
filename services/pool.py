"""Work done in several processes of this machine, of which nothing is left where it is broken off."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from typing import TypeVar

from services.bot_guard import held_signals
from services.supervise import after_parent_process

W = TypeVar("W")
D = TypeVar("D")


def in_processes(work: Iterable[W], do: Callable[[W], D], jobs: int) -> Generator[D]:
    """What ``do`` makes of pieces of work, in their order, in so many processes. To be closed.

    Only a few pieces a process are in hand at a time. Where it is broken off, by closing or by an interrupt, the processes
    are ended with all that they run. Raises `BrokenProcessPool` where one of them was ended by somebody else.
    """
    # new processes, for a copy of this one would hold what others of its threads have locked
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, context, end_with_parent) as pool:

        def submit(piece: W) -> Future[D]:
            # the processes, which the first of these starts, leave it to this one what comes of an interrupt
            with held_signals():
                return pool.submit(do, piece)

        try:
            yield from _in_order(work, submit, 3 * jobs)
        except BaseException:
            # What is left is not waited for. The pool finds them dead, and must not have been told to stop them itself:
            # it would write to a pipe that it closes.
            for process in set(multiprocessing.active_children()) - before:
                process.kill()
            # where one of them was just telling something, the pool would wait for the rest of it
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
            raise


def _in_order(work: Iterable[W], submit: Callable[[W], Future[D]], ahead: int) -> Iterator[D]:
    """What has become of pieces of work in their order, of which at most so many are in hand."""
    waiting: deque[Future[D]] = deque()
    for piece in work:
        waiting.append(submit(piece))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def end_with_parent() -> None:
    """Let this process end when the one that it works for does, however that ends, and when it is told to by SIGTERM."""
    after_parent_process(partial(os._exit, 1))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
