"""Keeping processes running: stopping in order, waiting longer each time, starting again what has died."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, Final

from services.retries import spread

STOP_SECONDS: Final = 15.0
"""How long a process may take to stop before it is killed."""
STEADY_SECONDS: Final = 10.0
"""A process that has lived so long is started again at once when it dies."""
ROW_SECONDS: Final = 60.0
"""What has lived so long has got over the deaths before, and is told of anew when it dies."""
SETTLED_SECONDS: Final = 2.0
"""What has died as it started counts as started once it has lived so long."""
LOUD: Final = 3
"""After so many deaths in a row the end of the log is told, too."""
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
    """Seconds to wait after each failure in a row: twice as long each time, up to a limit.

    ``apart`` has each wait shorter by chance, for many who wait for the same.
    """

    def __init__(self, first: float, most: float, *, apart: bool = False) -> None:
        self._first, self._most, self._apart = first, most, apart
        self.failures = 0
        """How many there have been since the last success."""

    def fail(self) -> float:
        """Another failure. Returns how long to wait."""
        self.failures += 1
        seconds: float = min(self._most, self._first * 2 ** min(self.failures - 1, 32))
        return spread(seconds) if self._apart else seconds

    def succeed(self) -> bool:
        """A success. Returns whether there was a failure before it."""
        failed, self.failures = self.failures > 0, 0
        return failed


class Losses:
    """How often something has ended in a row, and which of the times are worth a sentence: fewer and fewer."""

    def __init__(self) -> None:
        self.times = 0
        """How often, each within `ROW_SECONDS` of its start."""

    def add(self, lived: float) -> bool:
        """It has ended after so many seconds. Returns whether that should be told."""
        self.times = self.times + 1 if lived < ROW_SECONDS else 1
        return self.times in (1, LOUD) or (self.times >= 10 and str(self.times).rstrip("0") == "1")

    def recover(self, lived: float) -> bool:
        """It has lived for so many seconds. Returns whether that ends a row that was told with its log."""
        over, loud = lived >= ROW_SECONDS, self.times >= LOUD
        self.times = 0 if over else self.times
        return over and loud


@dataclass(frozen=True)
class Program:
    """A command to be kept running, its name for people, and the file that its output goes to."""

    name: str
    command: Sequence[str]
    log: Path | None
    """None: where the supervisor's own goes."""
    tells: bool = False
    """Whether it calls `tell_ready`."""


@dataclass
class _Child:
    program: Program
    process: subprocess.Popen[bytes] | None = None
    link: socket.socket | None = None
    """Our end of its standard input."""
    ready: bool = False
    losses: Losses = field(default_factory=Losses)
    backoff: Backoff = field(default_factory=lambda: Backoff(0.1, 5.0))
    began: float = 0.0
    """When it was started last, on the monotonic clock."""
    due: float = 0.0
    """When it is to be started again, on the same clock."""
    log_start: int = 0


class Supervisor:
    """Runs programs, each in a process group of its own, and starts again those that end.

    Each gets a socket on its standard input that nothing is written to: it reads the end of it when this process dies,
    however it dies, and should stop then; by a byte on it the program tells that it is ready. `tell` is given a sentence
    for people about a program that ended, and fewer and fewer about one that keeps ending.
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
            else:
                _hear(child)
                if child.losses.recover(time.monotonic() - child.began):
                    self._tell(f"{child.program.name} runs again")

    def unsettled(self) -> list[str]:
        """The programs that do not run, have yet to say that they are ready, or have only just been started again."""
        now = time.monotonic()
        return [
            child.program.name
            for child in self._children
            if child.process is None
            or (child.program.tells and not child.ready)
            or (child.backoff.failures and now - child.began < SETTLED_SECONDS)
        ]

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
        for child, process in running:
            process.terminate()
            _close(child)
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
            if child.losses.add(0.0):
                self._tell(f"{child.program.name} cannot be started: {error}")

    def _bury(self, child: _Child, process: subprocess.Popen[bytes]) -> None:
        _kill_group(process.pid)
        _close(child)
        child.process = None
        lived = time.monotonic() - child.began
        if lived > STEADY_SECONDS:
            child.backoff.succeed()
        child.due = time.monotonic() + child.backoff.fail()
        if child.losses.add(lived):
            self._tell(self._obituary(child, process.returncode))

    def _obituary(self, child: _Child, how: int) -> str:
        name, log, times = child.program.name, child.program.log, child.losses.times
        if times < LOUD:
            why = f"was ended by {signal.Signals(-how).name}" if how < 0 else f"ended with exit code {how}"
            return f"{name} {why} and is started again{'' if log is None else f'; see {log}'}"
        why = f"by {signal.Signals(-how).name}" if how < 0 else f"exit code {how}"
        told = f"{name} has ended {times} times in a row ({why}) and is tried again every few seconds"
        return told if log is None else f"{told}; its log, {log}, ends:\n{self.output(name)}"


def _start(child: _Child) -> None:
    ours, theirs = socket.socketpair()
    with ExitStack() as stack, theirs:
        undo = stack.enter_context(ExitStack())
        undo.callback(ours.close)
        output = None
        if child.program.log is not None:
            output = stack.enter_context(_open_log(child.program.log))
            child.log_start = output.tell()
        child.process = subprocess.Popen(
            child.program.command,
            stdin=theirs.fileno(),
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C in the terminal is for the supervisor, which stops all in order
        )
        undo.pop_all()
    ours.setblocking(False)
    child.link, child.ready, child.began = ours, False, time.monotonic()


def _open_log(log: Path) -> BinaryIO:
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))
    return log.open("ab")


def _kill_group(leader: int) -> None:
    """Kill what a process has left in its group, and itself where it still lives."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _close(child: _Child) -> None:
    if child.link is not None:
        child.link.close()
        child.link = None


def _hear(child: _Child) -> None:
    with suppress(OSError):  # there is nothing to hear
        if not child.ready and child.link is not None and child.link.recv(1):
            child.ready = True


def tell_ready() -> None:
    """Let the `Supervisor` that has started this process know that it is ready for its work."""
    with suppress(OSError):
        if stat.S_ISSOCK(os.fstat(0).st_mode):
            os.write(0, b".")


def exit_with_parent(seconds: float = STOP_SECONDS) -> None:
    """Have this process stop, as by SIGTERM, when its standard input ends; for the child of a `Supervisor`.

    One that does not within so many seconds is ended.
    """
    threading.Thread(target=_watch_input, args=(seconds,), name="exit-with-parent", daemon=True).start()


def _watch_input(seconds: float) -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    stop_or_end(seconds)


def after_parent_process(leave: Callable[[], object]) -> None:
    """Call ``leave`` when the process that has made this one, by `multiprocessing`, is no more, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(
            target=_outlive, args=(parent.sentinel, leave), name="after-parent", daemon=True
        ).start()


def _outlive(parent: int, leave: Callable[[], object]) -> None:
    wait([parent])
    leave()


def stop_or_end(seconds: float) -> None:
    """Have this process stop, as by SIGTERM; where it does not within so many seconds, end it."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(seconds)
    os._exit(1)
