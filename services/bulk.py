"""Many records judged: in batches of lines, on as many cores as are asked for, and in memory that does not grow."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple, TypeVar

import msgspec

from services.record_files import FAULTY, HOLDS, UNREADABLE, Unreadable, judge, verdict_line
from services.supervise import after_parent_process

BATCH_BYTES: Final = 256 * 1024
"""About as many bytes of records are judged at a time."""

W = TypeVar("W")
D = TypeVar("D")

Batch = list[tuple[int, bytes]]
"""Records as texts, each with the line it begins at."""


class How(NamedTuple):
    """How verdicts are told: under a file's name, as JSON or for people, all or the faults only."""

    name: str
    as_json: bool
    quiet: bool


class Judged(NamedTuple):
    """What is told of a batch: ``out`` of records that were read, ``err`` of lines that are none."""

    out: str
    err: str
    counts: tuple[int, int, int]
    """Records that hold, that do not, and lines that are none."""
    size: int
    """Bytes that were judged."""


def batches(texts: Iterable[tuple[int, bytes]]) -> Iterator[Batch]:
    """Group texts into batches."""
    batch: Batch = []
    size = 0
    for number, text in texts:
        batch.append((number, text))
        size += len(text)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def judge_batch(batch: Batch, how: How) -> Judged:
    """Judge every record of a batch."""
    out: list[str] = []
    err: list[str] = []
    counts = [0, 0, 0]
    for number, text in batch:
        try:
            verdict, seats = judge(number, text, named=not (how.as_json or how.quiet))
        except Unreadable as error:
            counts[UNREADABLE] += 1
            err.append(f"{how.name}: {error}\n")
            continue
        counts[HOLDS if verdict.ok else FAULTY] += 1
        if how.quiet and verdict.ok:
            continue
        if how.as_json:
            out.append(msgspec.json.encode(verdict).decode() + "\n")
        else:
            out.append(f"{how.name}:{number}: {verdict_line(verdict, seats)}\n")
    size = sum([len(text) for _, text in batch])
    return Judged("".join(out), "".join(err), (counts[0], counts[1], counts[2]), size)


def judge_all(texts: Iterable[tuple[int, bytes]], how: How, jobs: int) -> Iterator[Judged]:
    """Judge records in their order, in so many processes; only a few batches a process are in memory at a time."""
    if jobs == 1:
        for batch in batches(texts):
            yield judge_batch(batch, how)
        return
    # new processes, for a copy of this one would hold what others of its threads have locked
    context = multiprocessing.get_context("spawn")
    with ended_by_interrupts(), ProcessPoolExecutor(jobs, context, end_with_parent) as pool:
        yield from in_order(batches(texts), lambda batch: pool.submit(judge_batch, batch, how), 3 * jobs)


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """Let Ctrl-C end this process at once, and the others with it.

    Python would raise an error in its main thread, which may be waiting for input or for a batch and not be woken.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def end_with_parent() -> None:
    """Let this process end when the one that it works for does, however that ends, and at Ctrl-C without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    after_parent_process(partial(os._exit, 1))


def in_order(work: Iterable[W], submit: Callable[[W], Future[D]], ahead: int) -> Iterator[D]:
    """What has become of pieces of work in their order, of which at most so many are in hand."""
    waiting: deque[Future[D]] = deque()
    for batch in work:
        waiting.append(submit(batch))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
