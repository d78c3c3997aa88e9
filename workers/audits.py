"""Games audited for a command that waits elsewhere: one batch a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from services.audit_batch import VERSION, Outcome, audit_batch
from services.wiring import Services
from workers.batches import do_batch


def audit_for(
    services: Services, version: str, run: str, batch: int, attempt: int, games: Sequence[str], brief: bool
) -> None:
    """Audit games, and tell the command that waits. Raises `StoreUnavailable`."""

    def work(seconds: float, wanted: Callable[[], bool]) -> list[Outcome]:
        return audit_batch(services.auditor, games, brief=brief, seconds=seconds, wanted=wanted)

    do_batch(services.audits.wire, (version, run, batch, attempt), VERSION, work)
