"""What the commands behind a house have in common: how they log, how they wait for their store and go without it."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

import click
import redis

from domain.refusals import HeartsError
from services.cluster import connect_store, wire_of
from services.embedded import EmbeddedStoreError
from services.settings import Settings
from services.store import PartitionMismatch, StoreUnavailable
from services.supervise import Backoff

PING_SECONDS: Final = 1.0
"""How long a store may take to show that it answers, when a process is about to stop."""
_STOP_SIGNALS: Final = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

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
    patience = Backoff(0.1, 2.0, apart=True)
    while True:
        try:
            return make()
        except StoreUnavailable as error:
            seconds = patience.fail()
            if patience.failures == 1:
                log.warning("the store does not answer and is waited for: %s", error)
            if pause(seconds):
                return None
        except redis.RedisError as error:
            raise click.ClickException(f"the store cannot be worked with: {error}") from error
        except (PartitionMismatch, EmbeddedStoreError, HeartsError) as error:
            raise click.ClickException(str(error)) from error


def answers(url: str) -> bool:
    """Whether the store at an address answers within `PING_SECONDS`, whatever it says."""
    try:
        with connect_store(url, timeout=PING_SECONDS) as client:
            wire_of(client).call("PING")
    except StoreUnavailable:
        return False
    except redis.ResponseError:
        return True
    return True


def leave_without_store(url: str, log: logging.Logger) -> None:
    """From now on a request to stop ends this process at once where the store does not answer.

    What it does there is as safe as under SIGKILL; to wait for the store would only keep people waiting. For the main
    thread. Whoever handles the signals handles them as before.
    """
    ear, bell = socket.socketpair()
    bell.setblocking(False)
    # told of each signal by the interpreter, so that RQ, which has handlers of its own, need not be asked
    signal.set_wakeup_fd(bell.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_mind_store, args=(ear, url, log), name="mind-store", daemon=True).start()


def _mind_store(ear: socket.socket, url: str, log: logging.Logger) -> None:
    while not _STOP_SIGNALS & set(ear.recv(64)):
        pass
    while answers(url):
        time.sleep(0.5)
    log.warning("the store does not answer, and this process stops without it")
    os._exit(0)
