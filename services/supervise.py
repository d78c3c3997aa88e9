"""Keeping processes running: stopping in order, waiting longer each time, starting again what has died."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, Final

STOP_SECONDS: Final = 15.0
"""How long a process may take to stop before it is killed."""
STEADY_SECONDS: Final = 10.0
"""A process that has lived so long is started again at once when it dies."""
LOG_BYTES: Final = 1_000_000
"""A log longer than this is put aside, as NAME.log.1, before the next start."""


class Stop:
    """Whether this process has been asked to stop. Like an `Event`, but safe to set in a signal handler.

    `Event.set` there waits for ever when the signal comes while the same thread is inside `Event.wait`.
    """

    def __init__(self) -> None:
        self.times = 0
        """How often it has been asked."""
        self._bell: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        """Ask to stop."""
        self.times += 1
        self._bell.put(None)

    def is_set(self) -> bool:
        """Whether it has been asked."""
        return self.times > 0

    def wait(self, seconds: float) -> bool:
        """Wait to be asked, at most so long. Returns whether it has been."""
        if not self.is_set():
            with suppress(Empty):
                self._bell.get(timeout=max(0.0, seconds))
                self._bell.put(None)  # for other threads that wait
        return self.is_set()

    def on_signals(self) -> None:
        """Be asked by Ctrl-C, SIGTERM and a terminal that closes. For the main thread."""
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, lambda *_: self.set())


class Backoff:
    """Seconds to wait after each failure in a row: twice as long each time, up to a limit."""

    def __init__(self, first: float, most: float) -> None:
        self._first, self._most = first, most
        self.failures = 0
        """How many there have been since the last success."""

    def fail(self) -> float:
        """Another failure. Returns how long to wait."""
        self.failures += 1
        seconds: float = min(self._most, self._first * 2 ** min(self.failures - 1, 32))
        return seconds

    def succeed(self) -> bool:
        """A success. Returns whether there was a failure before it."""
        failed, self.failures = self.failures > 0, 0
        return failed


@dataclass(frozen=True)
class Program:
    """A command to be kept running, its name for people, and the file that its output goes to."""

    name: str
    command: Sequence[str]
    log: Path | None
    """None: where the supervisor's own goes."""


@dataclass
class _Child:
    program: Program
    process: subprocess.Popen[bytes] | None = None
    backoff: Backoff = field(default_factory=lambda: Backoff(0.1, 5.0))
    began: float = 0.0
    """When it was started last, on the monotonic clock."""
    due: float = 0.0
    """When it is to be started again, on the same clock."""
    log_start: int = 0


class Supervisor:
    """Runs programs, each in a process group of its own, and starts again those that end.

    Each gets a pipe on its standard input that nothing is written to: it reads the end of it when this process dies,
    however it dies, and should stop then. `tell` is given a sentence for people about each program that ended.
    """

    def __init__(self, programs: Sequence[Program], tell: Callable[[str], None]) -> None:
        self._children = [_Child(program) for program in programs]
        self._tell = tell

    def start(self) -> None:
        """Start every program that is not running. Raises OSError when one cannot be."""
        for child in self._children:
            if child.process is None:
                _start(child)

    def check(self) -> None:
        """Look after the programs: clear away what ended, start what is due. To be called again and again."""
        for child in self._children:
            if child.process is None:
                if time.monotonic() >= child.due:
                    self._start_again(child)
            elif child.process.poll() is not None:
                self._bury(child, child.process)

    def deaths(self, name: str) -> int:
        """How often a program has ended in a row, without having run for a while."""
        return next(child.backoff.failures for child in self._children if child.program.name == name)

    def output(self, name: str, lines: int = 15) -> str:
        """The last lines that a program has written since it was started."""
        child = next(child for child in self._children if child.program.name == name)
        if child.program.log is None:
            return ""
        with child.program.log.open("rb") as log:
            log.seek(child.log_start)
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def pids(self) -> dict[str, int]:
        """The process id of each program that is running."""
        return {
            child.program.name: child.process.pid for child in self._children if child.process is not None
        }

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        """Ask all programs to stop, and kill what has not after a while, or as soon as `hurry` says so."""
        running = [(child, child.process) for child in self._children if child.process is not None]
        for _, process in running:
            process.terminate()
            _close(process)
        deadline = time.monotonic() + STOP_SECONDS
        while any(process.poll() is None for _, process in running):
            if time.monotonic() > deadline or hurry():
                break
            time.sleep(0.02)
        for child, process in running:
            _kill_group(process.pid)
            process.wait()
            child.process = None

    def _start_again(self, child: _Child) -> None:
        try:
            _start(child)
        except OSError as error:  # a full disk, say: it may pass
            child.due = time.monotonic() + child.backoff.fail()
            self._tell(f"{child.program.name} cannot be started: {error}")

    def _bury(self, child: _Child, process: subprocess.Popen[bytes]) -> None:
        _kill_group(process.pid)
        _close(process)
        child.process = None
        if time.monotonic() - child.began > STEADY_SECONDS:
            child.backoff.succeed()
        child.due = time.monotonic() + child.backoff.fail()
        how = process.returncode
        why = f"was ended by {signal.Signals(-how).name}" if how < 0 else f"ended with exit code {how}"
        where = "" if child.program.log is None else f"; see {child.program.log}"
        self._tell(f"{child.program.name} {why} and is started again{where}")


def _start(child: _Child) -> None:
    with ExitStack() as stack:
        output = None
        if child.program.log is not None:
            output = stack.enter_context(_open_log(child.program.log))
            child.log_start = output.tell()
        child.process = subprocess.Popen(
            child.program.command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C in the terminal is for the supervisor, which stops all in order
        )
    child.began = time.monotonic()


def _open_log(log: Path) -> BinaryIO:
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))
    return log.open("ab")


def _kill_group(leader: int) -> None:
    """Kill what a process has left in its group, and itself where it still lives."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def exit_with_parent(seconds: float = STOP_SECONDS) -> None:
    """Have this process stop, as by SIGTERM, when its standard input ends; for the child of a `Supervisor`.

    One that does not within so many seconds is ended.
    """
    threading.Thread(target=_watch_input, args=(seconds,), name="exit-with-parent", daemon=True).start()


def _watch_input(seconds: float) -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(seconds)
    os._exit(1)
