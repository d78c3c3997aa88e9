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

from services.wire import Call, Script, StoreUnavailable, Wire

MOST: Final = 256
"""Calls that go together, so that others wait for the server for some milliseconds at most."""
SHARE: Final = 0.25
"""Of the time that the last ones took: for so long those are waited for that are likely to come again."""


class _One:
    """A call of a thread, which waits for its outcome, or for its turn to lead."""

    __slots__ = ("call", "leads", "outcome", "packed", "woken")

    def __init__(self, call: Call, packed: bytes) -> None:
        self.call, self.packed = call, packed
        self.outcome: Any = StoreUnavailable("the exchange with the store was broken off")
        self.leads = False
        self.woken = Lock()
        self.woken.acquire()


class Committer:
    """Runs a script for many threads; each gets its own reply, or its own exception, as if it had been alone.

    One of those who wait leads: it sends the calls of all of them and reads the replies. Calls are sent in the order in which
    they came. Whether a call whose reply was lost was carried out is not known, as it is not of one alone.
    """

    def __init__(self, wire: Wire, script: Script) -> None:
        self._wire, self._script = wire, script
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = Lock()
        self._waiting: list[_One] = []
        self._led = False
        self._likely, self._took = 1, 0.0
        """How many are likely to come, and for how many seconds the last ones were on their way."""
        self._gate: Lock | None = None
        """Where the leader waits until so many are there."""

    def run(self, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """The script's reply. Raises `StoreUnavailable`, or redis.ResponseError for what the server refuses."""
        if self._pid != os.getpid():  # of those who were on their way in the parent of a fork none is here
            self._begin()
        me = _One((keys, args), self._wire.packed(self._script, keys, args))
        with self._lock:
            self._waiting.append(me)
            if self._led:
                self._open_gate()
            else:
                self._led = me.leads = True
        try:
            if not me.leads:
                me.woken.acquire()
        except BaseException:
            self._give_up(me)
            raise
        if me.leads:
            self._lead(me)
        if isinstance(me.outcome, Exception):
            raise me.outcome
        return me.outcome

    def _lead(self, me: _One) -> None:
        """Send what waits, tell each its outcome, and let one of those who came meanwhile lead next."""
        group: list[_One] = []
        began = time.perf_counter()
        try:
            group = self._gather()
            began = time.perf_counter()
            for one, outcome in zip(group, self._exchange(group), strict=True):
                one.outcome = outcome
        finally:
            with self._lock:
                if not group:  # interrupted before it had gathered anybody
                    self._waiting.remove(me)
                self._took = time.perf_counter() - began
                self._likely = min(len(group) + len(self._waiting), MOST) or 1
                self._pass_on()
            for one in group:
                one.woken.release()

    def _exchange(self, group: Sequence[_One]) -> list[Any]:
        return self._wire.run_apart(self._script, [(one.packed, one.call) for one in group])

    def _pass_on(self) -> None:
        """Let the first of those who wait lead; the lock is held."""
        self._led = bool(self._waiting)
        if self._led:
            self._waiting[0].leads = True
            self._waiting[0].woken.release()

    def _gather(self) -> list[_One]:
        """Those that go together. Where several went before, as many are waited for, for a moment."""
        gate = None
        with self._lock:
            if len(self._waiting) < self._likely:
                gate = self._gate = Lock()
                gate.acquire()
        if gate is not None:
            gate.acquire(timeout=self._took * SHARE)
        with self._lock:
            self._gate = None
            group = self._waiting[:MOST]
            del self._waiting[:MOST]
        return group

    def _open_gate(self) -> None:
        """Let the leader go when those are there whom it waits for; the lock is held."""
        if self._gate is not None and len(self._waiting) >= self._likely:
            self._gate.release()
            self._gate = None

    def _give_up(self, me: _One) -> None:
        """Take out a call whose thread was interrupted while it waited, unless it is on its way."""
        with self._lock:
            if me in self._waiting:
                self._waiting.remove(me)
                if me.leads:
                    self._pass_on()
