"""The history of a trial: every call that a client made, what it was answered, and when."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

from services.audit import Receipt

OPEN, SIT, READY, PASS, PLAY, MOON, READ = "open", "sit", "ready", "pass", "play", "moon", "read"
"""What a call asks for; all but the last are commands."""


class Call(NamedTuple):
    """One try of a call. Times are seconds of the monotonic clock; a repeat under the same key is a call of its own."""

    client: str
    player: str
    kind: str
    game: str
    """Empty where the game's id is not known yet."""
    what: str
    """The cards, or the choice."""
    key: str
    """The idempotency key; empty for a read."""
    began: float
    ended: float
    status: int
    """Of the answer; 0 where none came."""
    code: str = ""
    """Of a refusal."""
    seq: int = 0
    """The event that the answer is of."""
    head: str = ""
    """Its head, hex, whole or shortened."""
    replayed: bool = False
    receipt: Receipt | None = None

    @property
    def done(self) -> bool:
        """Whether it was acknowledged."""
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether it was refused for good: nothing was changed."""
        return 400 <= self.status < 500

    @property
    def unknown(self) -> bool:
        """Whether nobody was told what became of it."""
        return not self.done and not self.refused


class History:
    """The calls of all clients, in the order in which they ended. Safe for threads."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._lock = Lock()

    def add(self, call: Call) -> None:
        """Note a call that has ended."""
        with self._lock:
            self._calls.append(call)

    def __iter__(self) -> Iterator[Call]:
        with self._lock:
            return iter(list(self._calls))

    def __len__(self) -> int:
        return len(self._calls)

    def acknowledged(self) -> int:
        """How many commands have been acknowledged so far, repeats not counted."""
        return sum(call.done and not call.replayed and call.kind != READ for call in self)
