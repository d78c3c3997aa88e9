"""Commands that somebody wants to end: by Ctrl-C, by SIGTERM, by closing the terminal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class Interrupted(KeyboardInterrupt):
    """Somebody wants the command to end; by which signal."""

    def __init__(self, signum: int) -> None:
        self.signum = signum
        super().__init__()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let a signal to stop raise `Interrupted`, so that what was queued is taken back; a second one ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    every = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    stops = [signum for signum in every if signal.getsignal(signum) is not signal.SIG_IGN]  # as under nohup

    def stop(signum: int, _: object) -> NoReturn:
        for one in stops:
            signal.signal(one, signal.SIG_DFL)
        raise Interrupted(signum)

    before = {signum: signal.signal(signum, stop) for signum in stops}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
