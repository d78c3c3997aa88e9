"""Where the `hearts` command begins: with as little as can be, so that it may be broken off while the rest is loaded."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


def main() -> None:
    """Load the command and run it."""
    with ended_at_once():
        from services.cli import main as command
    command()


@contextmanager
def ended_at_once() -> Iterator[None]:
    """While modules are loaded, let Ctrl-C end this process without a word.

    The error that Python raises would be told with a traceback, or an import would lose it or take it for one of its own.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # it is ignored, as behind `nohup`, or somebody sees to it
        yield
        return
    try:
        signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
    except ValueError:  # this is not the main thread, which alone is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
