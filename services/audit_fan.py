"""An audit of many games, fanned out over the workers of its queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from services.audit_batch import VERSION, Outcome, audit_batch
from services.auditor import Auditor
from services.fan_out import FanOut
from services.queue import Argument, Queue


class AuditFan(FanOut[Outcome]):
    """One audit of many games, of which an item is the id."""

    JOB = "audit"
    WORKER = "an audit worker"
    FIRST = 10
    MOST = 250

    def __init__(
        self,
        auditor: Auditor,
        queue: Queue,
        *,
        brief: bool,
        tell: Callable[[str], object],
        version: str = VERSION,
    ) -> None:
        super().__init__(queue, tell=tell, version=version)
        self._auditor, self._brief = auditor, brief

    @property
    def more(self) -> tuple[Argument, ...]:
        """Whether nobody wants to read of games that hold."""
        return (int(self._brief),)

    def do(self, items: Sequence[str], seconds: float) -> list[Outcome]:
        """Audit games in this process."""
        return audit_batch(self._auditor, items, brief=self._brief, seconds=seconds, wanted=lambda: True)

    def decode(self, outcomes: msgspec.Raw) -> list[Outcome]:
        """What a worker has found."""
        return msgspec.json.decode(outcomes, type=list[Outcome])

    def item_of(self, outcome: Outcome) -> str:
        """Its game."""
        return outcome.game

    def is_settled(self, outcome: Outcome) -> bool:
        """Whether the worker could look at it."""
        return not outcome.why
