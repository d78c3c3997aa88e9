"""A program in a child process that is asked line by line, within bounds of time and memory.

It has a process group of its own, none of our environment, and its descriptors alone. That keeps accidents apart, and
addresses and passwords of the store out of its sight; it is no sandbox: the program runs as the same user, and reads what
that user may read.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from domain.bots.lines import LONGEST_LINE
from domain.refusals import HeartsError
from services.bot_guard import Guard, held_signals
from services.printable import printable

MEMORY: Final = 2 << 30
"""Bytes of address space of a program, unless somebody says otherwise; each process of it has as many."""
_STDERR_KEPT: Final = 2_000
"""Bytes of what it last said on standard error."""
_QUIT_SECONDS: Final = 1.0
"""For which a program may go on after ``quit``."""
_LAST_WORDS_SECONDS: Final = 0.5
"""For which a program that has closed its output is listened to."""
_LOOK_SECONDS: Final = 0.1
"""After which it is looked whether a silent program is still there."""
_CHUNK: Final = 1 << 16
# RLIMIT_AS is set by a process that is alone with itself; `preexec_fn` would run in a copy of all our threads' locks.
_LAUNCH: Final = """
import errno, os, resource, signal, sys
signal.pthread_sigmask(signal.SIG_SETMASK, ())
for what, most in ((resource.RLIMIT_AS, int(sys.argv[1])), (resource.RLIMIT_CORE, 0)):
    try:
        resource.setrlimit(what, (most, most))
    except (OSError, ValueError):
        pass
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    why = error.strerror
    if error.errno == errno.ENOENT and os.path.exists(sys.argv[2]):
        why = "the interpreter that it names in its first line, or its loader, is not there"
    elif error.errno == errno.ENOEXEC:
        why += "; it is no program of this machine, nor a script, which begins with #! and its interpreter"
    print(f"{sys.argv[2]} cannot be executed: {why}", file=sys.stderr)
    sys.exit(126)
"""

Failure = Literal["illegal", "unreadable", "late", "died", "refused"]
"""``illegal`` card, ``unreadable`` or too much, nothing in time, ``died``, or an ``error`` that the program told."""


class BotFailed(HeartsError):
    """A bot has not decided. ``kind`` says in what way, the text what happened, with its last words."""

    def __init__(self, kind: Failure, why: str) -> None:
        super().__init__(why)
        self.kind: Failure = kind


def bare_environ(*, ours: bool = False) -> dict[str, str]:
    """The environment of a child: where programs are, and UTF-8. With ``ours`` Python finds what this process finds."""
    own = str(Path(sys.executable).parent)
    environ = {"PATH": f"{own}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    if ours:
        environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return environ


class Child:
    """A running program. Close it, or use it as a context; one thread at a time may ask it."""

    def __init__(
        self, command: Sequence[str], *, environ: Mapping[str, str] | None = None, memory: int = MEMORY
    ) -> None:
        self._to_say = self._heard = self._words = b""
        self._closed = False
        with held_signals():
            self._process = process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _LAUNCH, str(memory), *command],
                env=dict(bare_environ() if environ is None else environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
            _GUARD.watch(process.pid)
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
            for stream in (self._in, self._out, self._err):
                os.set_blocking(stream.fileno(), False)
            self._selector = selectors.DefaultSelector()
            self._selector.register(self._out, selectors.EVENT_READ)
            self._selector.register(self._err, selectors.EVENT_READ)
            _RUNNING.append(self)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process, which is also its group."""
        return self._process.pid

    # --- asking

    def ask(self, lines: Sequence[str], seconds: float) -> list[str]:
        """The answers to ``lines``, one each, within so many seconds.

        Raises `BotFailed`, after which the program is out of step and must be closed.
        """
        deadline = time.monotonic() + seconds
        self._turn(0.0, 0)
        self._to_say = "".join(f"{line}\n" for line in lines).encode()
        self._selector.register(self._in, selectors.EVENT_WRITE)
        while self._heard.count(b"\n") < len(lines):
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._failed("late", f"no answer within {seconds:g} s")
            if not self._turn(min(left, _LOOK_SECONDS), len(lines)) and self._has_ended():
                raise self._failed("died", "it ended")
        if self._to_say:
            raise self._failed("unreadable", "it answered before it was asked")
        answers, self._heard = self._heard[:-1].split(b"\n"), b""
        return [answer.decode(errors="replace").rstrip("\r") for answer in answers]

    def _turn(self, seconds: float, expected: int) -> int:
        """Wait for what happens next, and let it; how many things there were."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.fileobj is self._in:
                self._say()
            elif key.fileobj is self._err:
                self._hear_words()
            else:
                self._hear(expected)
        return len(ready)

    def _has_ended(self) -> bool:
        """Whether the process is over, though another one of its group may hold its output open."""
        return self._process.poll() is not None

    def _say(self) -> None:
        with suppress(BlockingIOError, BrokenPipeError):
            self._to_say = self._to_say[os.write(self._in.fileno(), self._to_say[:_CHUNK]) :]
            if self._to_say:
                return
        # whoever does not listen may have said why
        self._selector.unregister(self._in)

    def _hear_words(self) -> None:
        try:
            words = os.read(self._err.fileno(), _CHUNK)
        except BlockingIOError:
            return
        self._words = (self._words + words)[-_STDERR_KEPT:]
        if not words:
            self._selector.unregister(self._err)

    def _hear(self, expected: int) -> None:
        heard = os.read(self._out.fileno(), _CHUNK)
        if not heard:
            raise self._failed("died", "it ended")
        self._heard += heard
        lines = self._heard.count(b"\n")
        if lines > expected or (lines == expected and not self._heard.endswith(b"\n")):
            raise self._failed("unreadable", "it said more than it was asked")
        if len(self._heard) - (self._heard.rfind(b"\n") + 1) >= LONGEST_LINE:
            raise self._failed("unreadable", f"a line of more than {LONGEST_LINE} bytes")

    def _failed(self, kind: Failure, why: str) -> BotFailed:
        """The failure, with the program's last words and its end, where it has one."""
        if kind == "died":
            self._hear_last_words()
        self._stop()
        status = self._process.returncode
        if kind == "died" and status is not None:
            why += f" by signal {-status}" if status < 0 else f" with status {status}"
        words = printable(self._words.decode(errors="replace").strip().replace("\n", " / "), _STDERR_KEPT)
        return BotFailed(kind, f"{why}: {words}" if words else why)

    def _hear_last_words(self) -> None:
        """What a program that has closed its output says until it ends, for a moment."""
        self._selector.unregister(self._out)
        deadline = time.monotonic() + _LAST_WORDS_SECONDS
        while self._err in self._selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                self._say() if key.fileobj is self._in else self._hear_words()

    # --- the end

    def close(self) -> None:
        """Say ``quit``, wait a moment, and end whatever is left of its group."""
        if not self._closed:
            self._say_quit()
            self._wait_until(time.monotonic() + _QUIT_SECONDS)
            self._stop()

    def _say_quit(self) -> None:
        with suppress(OSError):
            os.write(self._in.fileno(), b"quit\n")
        self._in.close()

    def _wait_until(self, deadline: float) -> None:
        with selectors.DefaultSelector() as ends:
            ends.register(self._out, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0 and ends.select(left):
                if not os.read(self._out.fileno(), _CHUNK):
                    break

    def kill(self) -> None:
        """End its group at once."""
        # as long as it has not been waited for, or somebody of its group is left, its number is nobody else's
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _stop(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.kill()
        _GUARD.forget(self.pid)
        self._process.wait()
        with suppress(ValueError):
            _RUNNING.remove(self)
        if self._err in self._selector.get_map():
            self._hear_words()
        self._selector.close()
        for stream in (self._in, self._out, self._err):
            stream.close()


_RUNNING: Final[list[Child]] = []
"""Those that have not ended, of this process."""


@contextmanager
def killed_on_interrupt() -> Iterator[None]:
    """Where this is interrupted, end all programs of this process at once, for nobody waits for them any more."""
    try:
        yield
    except KeyboardInterrupt:
        for child in _RUNNING:
            child.kill()
        raise


def end_children() -> None:
    """Close all programs of this process, in the time of one; what they have left behind is ended, too."""
    running = [child for child in _RUNNING if not child._closed]
    for child in running:
        child._say_quit()
    deadline = time.monotonic() + _QUIT_SECONDS
    for child in running:
        child._wait_until(deadline)
        child._stop()
    _GUARD.close()


_GUARD: Final = Guard(end_children)
