"""Games audited for a command that waits elsewhere: one batch a job."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Final

from services.audit_batch import VERSION, audit_batch
from services.audit_channel import Channel
from services.wiring import Services

MOST_SECONDS: Final = 10.0
"""After so long a worker tells what it has found, and leaves the rest of the batch to be asked for again."""

log = logging.getLogger(__name__)


def audit_for(
    services: Services, version: str, run: str, batch: int, attempt: int, games: Sequence[str], brief: bool
) -> None:
    """Audit games, and tell the command that waits; one of another version is told so, and nothing else.

    Raises `StoreUnavailable`.
    """
    channel = Channel(services.audits.wire, run)
    if version != VERSION:
        log.warning("an audit of version %s is left to others: this is %s", version, VERSION)
        channel.give(batch, attempt, VERSION, 0.0, [])
        return
    began = time.monotonic()
    found = audit_batch(
        services.auditor, games, brief=brief, seconds=MOST_SECONDS, wanted=channel.is_waited_for
    )
    channel.give(batch, attempt, VERSION, time.monotonic() - began, found)
