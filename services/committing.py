"""Appends of one process that wait at the same time, sent together: one round trip for all of them, and one write to disk.

The server writes its file once for all that it reads at a time, so with ``appendfsync always`` twenty appends that arrive
together take about as long as one. Who comes while nobody is at the server goes at once. While some are on their way others
gather, and go together when the answers are here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import redis

from services.wire import Call, Script, StoreUnavailable, Wire

MOST: Final = 256
"""Calls that go together, so that others wait for the server for some milliseconds at most."""
_SHARE: Final = 0.25
"""Of the time that the last ones took: for so long those are waited for that are likely to come again."""


class _One:
    """A call of a thread, which waits for its reply, or to be told to lead."""

    __slots__ = ("call", "led", "outcome", "woken")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.woken = Lock()
        self.woken.acquire()
        self.outcome: Any = StoreUnavailable("the exchange with the store was broken off")
        self.led = False


class Committer:
    """Runs a script for many threads; each gets its own reply, or its own exception, as if it had been alone.

    One of those who wait leads: it sends the calls of all of them and reads the replies. Calls are sent in the order in which
    they came. Whether calls whose replies were lost were carried out is not known of each, as it is not of one alone.
    """

    def __init__(self, wire: Wire, script: Script) -> None:
        self._wire, self._script = wire, script
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = Lock()
        self._waiting: list[_One] = []
        self._led = False
        self._size, self._took = 1, 0.0
        """How many are likely to come, and for how many seconds the last ones were on their way."""
        self._gate: Lock | None = None
        """What the leader waits at until so many are there."""

    def run(self, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """The script's reply. Raises `StoreUnavailable`, or redis.ResponseError for what the server refuses."""
        if self._pid != os.getpid():  # of those who were on their way in the parent of a fork none is here
            self._begin()
        me = _One((keys, args))
        with self._lock:
            self._waiting.append(me)
            if self._led:
                self._open_gate()
            else:
                self._led = me.led = True
        if not me.led:
            me.woken.acquire()
        if me.led:
            self._lead()
        if isinstance(me.outcome, Exception):
            raise me.outcome
        return me.outcome

    def _lead(self) -> None:
        """Send what waits, tell each its outcome, and let one of those who came meanwhile lead next."""
        group = self._gather()
        began = time.perf_counter()
        try:
            self._exchange(group)
        finally:
            with self._lock:
                self._took = time.perf_counter() - began
                self._size = min(len(group) + len(self._waiting), MOST)
                self._led = bool(self._waiting)
                heir = self._waiting[0] if self._led else None
                if heir is not None:
                    heir.led = True
            for one in group:
                one.woken.release()
            if heir is not None:
                heir.woken.release()

    def _gather(self) -> list[_One]:
        """Those that go together. Where several went before, for a moment as many are waited for."""
        with self._lock:
            gate = None
            if len(self._waiting) < self._size:
                gate = self._gate = Lock()
                gate.acquire()
        if gate is not None:
            gate.acquire(timeout=self._took * _SHARE)
        with self._lock:
            self._gate = None
            group = self._waiting[:MOST]
            del self._waiting[:MOST]
        return group

    def _open_gate(self) -> None:
        """Let the leader go when those are there whom it waits for; the lock is held."""
        if self._gate is not None and len(self._waiting) >= self._size:
            self._gate.release()
            self._gate = None

    def _exchange(self, group: Sequence[_One]) -> None:
        if len(group) > 1:
            outcomes = self._wire.run_apart(self._script, [one.call for one in group])
            for one, outcome in zip(group, outcomes, strict=True):
                one.outcome = outcome
            return
        try:
            group[0].outcome = self._wire.run(self._script, *group[0].call)
        except (StoreUnavailable, redis.ResponseError) as error:
            group[0].outcome = error
