"""What this process has done in the last minutes, second by second: requests, refusals, and how long they took.

For the operator's page, which needs no Prometheus. A request costs two looks at the clock and three additions.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from api.gate import Wsgi

SPAN: Final = 300
"""Seconds that are kept."""
BOUNDS: Final = (0.001, 0.002, 0.003, 0.005, 0.008, 0.013, 0.02, 0.035, 0.06, 0.1, 0.2, 0.5, 1.0, 3.0)
"""Upper ends of the classes in which seconds are counted; the last class has none."""
_COMMANDS: Final = frozenset(("POST", "DELETE", "PATCH", "PUT"))


class Second(NamedTuple):
    """What was done in some seconds."""

    requests: int
    commands: int
    refused: int
    """Of both, with a status from 400 on."""
    p50: float | None
    """Seconds within which half of the commands were answered, by the class that they are in; none where there were none."""
    p99: float | None


class Meter:
    """Counts requests by the second. Safe for threads."""

    def __init__(self, clock: Any = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._counts = [[0] * (3 + len(BOUNDS) + 1) for _ in range(SPAN)]
        self._at = [-1] * SPAN

    def watch(self, inner: Wsgi) -> Wsgi:
        """``inner``, with every request counted when its answer begins."""

        def outer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            began = time.perf_counter()
            is_command = environ["REQUEST_METHOD"] in _COMMANDS

            def begin(status: str, *more: Any) -> Any:
                self.note(time.perf_counter() - began, command=is_command, refused=status[0] in "45")
                return start_response(status, *more)

            return inner(environ, begin)

        return outer

    def note(self, seconds: float, *, command: bool, refused: bool) -> None:
        """Count one that has just been answered."""
        now = int(self._clock())
        at = now % SPAN
        with self._lock:
            counts = self._counts[at]
            if self._at[at] != now:
                self._at[at] = now
                counts[:] = [0] * len(counts)
            counts[0] += 1
            counts[2] += refused
            if command:
                counts[1] += 1
                counts[3 + bisect_left(BOUNDS, seconds)] += 1

    def recent(self, width: int) -> list[Second]:
        """The last `SPAN` seconds in pieces of so many, the oldest first; the present second is left out."""
        now = int(self._clock())
        with self._lock:
            kept = {at: list(counts) for at, counts in zip(self._at, self._counts, strict=True)}
        blank = [0] * (3 + len(BOUNDS) + 1)
        return [
            _sum_up([kept.get(second, blank) for second in range(begin, begin + width)])
            for begin in range(now - SPAN // width * width, now, width)
        ]


def _sum_up(seconds: Sequence[Sequence[int]]) -> Second:
    requests, commands, refused, *classes = (sum(column) for column in zip(*seconds, strict=True))
    return Second(requests, commands, refused, _quantile(classes, 0.5), _quantile(classes, 0.99))


def _quantile(classes: Sequence[int], part: float) -> float | None:
    wanted, seen = part * sum(classes), 0
    for count, bound in zip(classes, (*BOUNDS, 2 * BOUNDS[-1]), strict=True):
        seen += count
        if count and seen >= wanted:
            return bound
    return None
