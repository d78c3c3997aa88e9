"""Batches of work done for a command that waits elsewhere: what every such job has in common."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from services.fan_channel import Channel
from services.wire import Wire

MOST_SECONDS: Final = 10.0
"""After so long a worker tells what has come of a batch, and leaves the rest to be asked for again."""

log = logging.getLogger(__name__)


def do_batch(
    wire: Wire,
    asked: tuple[str, str, int, int],
    version: str,
    work: Callable[[float, Callable[[], bool]], Sequence[Any]],
) -> None:
    """Do a batch, and tell the command that waits; one of another version is told so, and nothing else.

    ``asked`` are the version that is wanted, the run, the batch and the attempt; ``version`` is this program's.
    ``work`` is given the seconds that it may take and what says whether anybody still waits. Raises `StoreUnavailable`.
    """
    wanted, run, batch, attempt = asked
    channel = Channel(wire, run)
    if wanted != version:
        log.warning("work of version %s is left to others: this is %s", wanted, version)
        channel.give(batch, attempt, version, 0.0, [])
        return
    began = time.monotonic()
    found = work(MOST_SECONDS, channel.is_waited_for)
    channel.give(batch, attempt, version, time.monotonic() - began, found)
