"""What the commands behind a house have in common: how they log, and how they wait for their store."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

import click

from domain.refusals import HeartsError
from services.embedded import EmbeddedStoreError
from services.settings import Settings
from services.store import PartitionMismatch, StoreUnavailable
from services.supervise import Backoff

T = TypeVar("T")


def set_up_logging(settings: Settings) -> None:
    """Log to standard error, at the level that the settings name."""
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=settings.log_level.upper()
    )


def once_store_answers(
    make: Callable[[], T], pause: Callable[[float], object], log: logging.Logger
) -> T | None:
    """What ``make`` gives once the store answers it; ``pause`` is given the seconds between two tries.

    None where ``pause`` says, by a true value, that it is no longer wanted. Raises `click.ClickException` where the
    store answers and cannot be worked with.
    """
    patience = Backoff(0.1, 2.0)
    while True:
        try:
            return make()
        except StoreUnavailable as error:
            seconds = patience.fail()
            if patience.failures == 1:
                log.warning("the store does not answer and is waited for: %s", error)
            if pause(seconds):
                return None
        except (PartitionMismatch, EmbeddedStoreError, HeartsError) as error:
            raise click.ClickException(str(error)) from error
