"""Many records judged: in batches of lines, on as many cores as are asked for, and in memory that does not grow."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

import msgspec

from services.pool import in_processes
from services.record_files import FAULTY, HOLDS, UNREADABLE, Unreadable, judge, verdict_line

BATCH_BYTES: Final = 256 * 1024
"""About as many bytes of records are judged at a time."""

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


def judge_all(texts: Iterable[tuple[int, bytes]], how: How, jobs: int) -> Generator[Judged]:
    """Judge records in their order, in so many processes; only a few batches a process are in memory at a time.

    To be closed. Raises `BrokenProcessPool` where one of several processes was ended.
    """
    if jobs == 1:
        for batch in batches(texts):
            yield judge_batch(batch, how)
        return
    yield from in_processes(batches(texts), partial(judge_batch, how=how), jobs)
