"""A `hearts up` as a process, for tests that start, kill and stop it."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from tests.support.unlimited import UNLIMITED_ENVIRON

HEARTS = Path(sys.executable).with_name("hearts")
PATIENCE = 60
"""Seconds after which a test that waits has failed."""


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something that has no event of its own, and return it. Fails after a while."""
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        pause.wait(0.02)
    return found


class Up:
    """A `hearts up` that is running."""

    command: Sequence[str | Path] = (HEARTS,)
    """What runs as `hearts`."""

    def __init__(self, data: Path, port: int = 0, **more: str) -> None:
        self.data = data
        self.errors = data.with_name(f"{data.name}.{uuid.uuid4().hex[:6]}.err")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HEARTS_")}
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [*self.command, "up", "--data", data, "--port", str(port)],
                env=environment | {"HEARTS_PARTITIONS": "8"} | UNLIMITED_ENVIRON | more,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout
        first = self.process.stdout.readline()
        assert first.startswith("Hearts is served at http://127.0.0.1:"), self.told()
        self.url = first.split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def told(self) -> str:
        """What it has said on standard error."""
        return self.errors.read_text()

    def family(self) -> list[psutil.Process]:
        """It and all processes below it."""
        me = psutil.Process(self.process.pid)
        return [me, *me.children(recursive=True)]

    def find(self, *words: str) -> list[psutil.Process]:
        """The processes below it whose command has all the words, parents before children."""
        found = []
        for process in self.family()[1:]:
            with suppress(psutil.NoSuchProcess):
                if all(word in " ".join(process.cmdline()) for word in words):
                    found.append(process)
        return found

    def stop(self) -> int:
        """Ask it to stop. Returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def up(data: Path, port: int = 0, kind: type[Up] = Up, **more: str) -> Iterator[Up]:
    """A `hearts up` that is ready, with more settings; whatever it has left when the test is over is ended."""
    one = kind(data, port, **more)
    family = one.family()
    try:
        yield one
    finally:
        with suppress(psutil.NoSuchProcess):
            family = list({*family, *one.family()})
        if one.process.poll() is None:
            one.stop()
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if one.process.stdout:
            one.process.stdout.close()


def refused(*options: object) -> str:
    """What a `hearts up` says that ends with exit code 1, leaving no process."""
    done = subprocess.Popen(
        [HEARTS, "up", *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"HEARTS_PARTITIONS": "8"},
    )
    out, told = done.communicate(timeout=PATIENCE)
    assert (1, "") == (done.returncode, out)
    assert "Traceback" not in told
    data = str(options[1])
    assert [] == [
        process
        for process in psutil.process_iter(["cmdline"])
        if data in " ".join(process.info["cmdline"] or [])
    ]
    return told
