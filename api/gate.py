"""The gate: how many requests work at a time.

The server has a thread for every connection (`api.serving`), and most of them only wait: for the rest of a body, for a
reader who is slow to take an answer. Whoever waits for such a client stands outside and keeps nobody from working.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from queue import SimpleQueue
from threading import Semaphore
from typing import Any, Final, TypeVar

_ALWAYS: Final = "/livez"
"""The address that is answered however much there is to do."""
_GATE: Final = "hearts.gate"
LONG_ANSWERS: Final = 2
"""Long answers that are worked at beside the requests: they want the next piece at once, and would crowd those out."""

T = TypeVar("T")
Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Gate:
    """Lets ``places`` requests work at a time; further ones wait in line."""

    def __init__(self, places: int) -> None:
        # a semaphore, but one in C: that of the standard library costs a request four times as much
        self._places: SimpleQueue[None] = SimpleQueue()
        for _ in range(places):
            self._places.put(None)
        self._makers = Semaphore(LONG_ANSWERS)

    def guard(self, inner: Wsgi) -> Wsgi:
        """``inner`` behind this gate."""

        def outer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            if environ["PATH_INFO"] == _ALWAYS:
                return inner(environ, start_response)
            environ[_GATE] = self
            self._places.get()
            try:
                return inner(environ, start_response)
            finally:
                self._places.put(None)

        return outer

    def outside(self, wait: Callable[..., T], *args: Any) -> T:
        """What ``wait`` returns, which gives up the caller's place meanwhile."""
        self._places.put(None)
        try:
            return wait(*args)
        finally:
            self._places.get()

    def pieces(self, answer: Iterator[bytes]) -> Iterator[bytes]:
        """``answer``, of which a piece is made at a time; while its reader takes one, nobody's turn is held."""
        while (piece := self.make(next, answer, None)) is not None:
            yield piece

    def make(self, work: Callable[..., T], *args: Any) -> T:
        """What ``work`` returns: a piece of a long answer, made outside the gate but with few others."""
        with self._makers:
            return work(*args)


def gate_of(environ: Mapping[str, Any]) -> Gate:
    """The gate that a request has come through."""
    gate: Gate = environ[_GATE]
    return gate
