"""Commands as processes that are told to end."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil


@contextmanager
def started(*command: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A command in a process group of its own, which Ctrl-C reaches; killed, if it has not ended by then, at the end."""
    # whoever starts the tests in the background has them ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, text=True, start_new_session=True, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            process.kill()


def below(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that a command has started, and they again."""
    return psutil.Process(process.pid).children(recursive=True)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Which of them do not end by themselves."""
    return psutil.wait_procs(processes, timeout=30)[1]
