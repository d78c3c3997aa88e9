"""Nothing of a bot is left when the process that runs it ends, however it ends.

Beside the first bot a process starts a guard, which knows the process groups of its bots, and ends them as soon as the
pipe from that process is closed: by an end in order, by a signal, even by SIGKILL.
"""

from __future__ import annotations

import multiprocessing.util
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

HELD: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What would end us between the start of a process and the note of it."""
_GUARD: Final = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


@contextmanager
def held_signals() -> Iterator[None]:
    """Let this thread be told of `HELD` signals later; a process that it starts inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Guard:
    """The guard of this process, which is started when it is first needed; in a copy of the process, anew.

    At the end of the process ``leave`` is called, where that is an end in order.
    """

    def __init__(self, leave: Callable[[], object]) -> None:
        self._leave = leave
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def watch(self, group: int) -> None:
        """End a process group with this process. To be called with `held_signals`."""
        with self._lock:
            if self._process is None or self._owner != os.getpid():
                self._start()
            self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """A group has ended; to be said before its leader is waited for, as long as its number is nobody else's."""
        with self._lock:
            if self._owner == os.getpid():
                self._tell(f"-{group}\n")

    def close(self) -> None:
        """Let the guard end all groups that it still knows, and itself."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None and self._owner == os.getpid():
                assert process.stdin is not None
                process.stdin.close()
                process.wait()

    def _start(self) -> None:
        # in a session of its own, and with signals held, so that nothing but our end ends it
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
        self._owner = os.getpid()
        # unlike `atexit`, at the end of a process of `multiprocessing`, too
        multiprocessing.util.Finalize(None, self._leave, exitpriority=0)

    def _tell(self, line: str) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            with suppress(OSError):  # somebody has ended it
                os.write(self._process.stdin.fileno(), line.encode())
