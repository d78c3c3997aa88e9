"""A bounded memory of what was read a little while ago."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Remembered(Generic[T]):
    """A bounded memory of what was read a little while ago. Safe for threads."""

    def __init__(self, clock: Callable[[], int], keep_ms: int, most: int) -> None:
        self._clock, self._keep_ms, self._most = clock, keep_ms, most
        self._entries: OrderedDict[str, tuple[int, T]] = OrderedDict()
        self._lock = Lock()
        self.state = 0
        """Changes with every `clear` and `drop`: whoever reads, takes it first and hands it to `put`."""

    def get(self, key: str) -> T | None:
        """What was put under ``key`` not too long ago, or none."""
        entry = self._entries.get(key)
        if entry is None or entry[0] < self._clock():
            return None
        return entry[1]

    def put(self, key: str, value: T, state: int | None = None) -> None:
        """Remember ``value``; the oldest entry makes room. Nothing where all was forgotten since ``state``."""
        with self._lock:
            if state is not None and state != self.state:
                return
            self._entries.pop(key, None)
            self._entries[key] = (self._clock() + self._keep_ms, value)
            if len(self._entries) > self._most:
                self._entries.popitem(last=False)

    def drop(self, key: str) -> None:
        """Forget what was put under ``key``."""
        with self._lock:
            self._entries.pop(key, None)
            self.state += 1

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self.state += 1
