"""A house of real processes under a load, to which a nemesis does what it likes; then all is judged."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event
from typing import Final, Protocol

import httpx
import psutil

from services.cli_up import is_ready
from services.settings import Settings
from services.store import StoreError
from services.wiring import Services, build
from tests.faults import wrapped
from tests.faults.checker import Violation, check
from tests.faults.clients import Load
from tests.faults.final import is_at_rest, read_final
from tests.faults.history import READ, History
from tests.support.house import PATIENCE, Up, until
from tests.support.running import ROOT

PARTITIONS: Final = 8
DISK_MB: Final = 192
"""Of the disk that a trial fills."""
KINDS: Final = {
    "api": ("serve", "--exit-with-parent"),
    "projector": ("worker", "projector"),
    "bots": ("worker", "bots"),
    "store": ("valkey-server", "unixsocket:"),
}
"""The processes of a house, by words of their commands. The sweep is a thread of each bots process; one of them holds it."""
WARM: Final = 8
"""Commands that are done before a nemesis strikes, and again behind it."""


class Wrapped(Up):
    """A `hearts up` whose clock a trial moves."""

    command = (sys.executable, "-P", "-m", wrapped.MODULE)


class World:
    """A house under ``folder``. ``store_url`` is its store where that is not the embedded one."""

    def __init__(self, folder: Path, store_url: str = "", **settings: str) -> None:
        self.folder, self.data = folder, folder / "data"
        self.clock, self.death = folder / "clock", folder / "death"
        self.clock.write_text("0")
        self.history = History()
        self._environ = {
            "PYTHONPATH": str(ROOT),
            "FAULTS_CLOCK": str(self.clock),
            "FAULTS_DEATH": str(self.death),
            **({"HEARTS_STORE_URL": store_url} if store_url else {}),
            **settings,
        }
        self.house = Wrapped(self.data, **self._environ)
        self._port = self.house.port
        self.services: Services = build(
            Settings(data=self.data, store_url=store_url, partitions=PARTITIONS), clock=self.now
        )
        self.loads: list[Load] = []
        self.reads_last = True
        """Whether what was read, too, is there for ever; else what was acknowledged alone."""
        self.patience = float(PATIENCE)
        """Seconds after which a nemesis that waits for something has waited in vain."""

    def now(self) -> int:
        """The time of the house, Unix ms."""
        return wrapped.services.wiring.now_ms() + int(self.clock.read_text() or 0)

    def connect(self) -> httpx.Client:
        """A connection to the API, which is at the same address as long as the world stands."""
        return httpx.Client(base_url=self.house.url, trust_env=False)

    def find(self, kind: str) -> list[psutil.Process]:
        """The processes of a kind that live now."""
        if kind != "store":
            return self.house.find(*KINDS[kind])
        # one that was taken over is no child of the house
        words = (*KINDS[kind], f"{self.data}/")
        return [one for one in psutil.process_iter() if all(word in _command(one) for word in words)]

    # --- what a nemesis waits for

    def progress(self, commands: int = WARM) -> None:
        """Wait until so many more commands are done. Raises AssertionError where nothing goes on."""
        enough = self.history.acknowledged() + commands
        self._await(lambda: self.history.acknowledged() >= enough)

    def losses(self, calls: int = 1) -> None:
        """Wait until so many more calls have gone unanswered."""
        enough = self._unknown() + calls
        self._await(lambda: self._unknown() >= enough)

    def calls(self, count: int = 10) -> None:
        """Wait until so many more calls have ended, in whatever way."""
        enough = len(self.history) + count
        self._await(lambda: len(self.history) >= enough)

    def answered(self) -> None:
        """Wait until somebody who has just come is answered."""
        self._await(lambda: is_ready("127.0.0.1", self._port))

    def _await(self, condition: Callable[[], bool]) -> None:
        pause, deadline = Event(), time.monotonic() + self.patience
        while not condition():
            assert time.monotonic() < deadline
            pause.wait(0.02)

    def _unknown(self) -> int:
        return sum(call.unknown for call in self.history)

    def recovered(self) -> None:
        """Wait until the house is whole again and serves."""
        kinds = [kind for kind in KINDS if kind != "store" or not self.services.settings.store_url]
        self._await(lambda: all(self.find(kind) for kind in kinds) and is_ready("127.0.0.1", self._port))

    # --- what it may do to the whole house

    def begin_again(self, *, kill: bool) -> None:
        """Stop `hearts up`, or kill it, and start it again at the same address."""
        if kill:
            left = self.house.family()[1:]
            self.house.process.kill()
            self.house.process.wait(PATIENCE)
            # the store's server and who watches it go on
            psutil.wait_procs([one for one in left if wrapped.MODULE in _command(one)], timeout=PATIENCE)
        else:
            assert 0 == self.house.stop(), self.house.told()
        if self.house.process.stdout:
            self.house.process.stdout.close()
        self.house = Wrapped(self.data, self._port, **self._environ)

    # --- the end

    def judge(self, load: Load) -> list[Violation]:
        """Let a load play to its end, and what is found then."""
        load.finish()
        until(self._is_at_rest)
        calls = [call for call in self.history if self.reads_last or call.kind != READ]
        return check(calls, read_final(self.services, calls))

    def _is_at_rest(self) -> bool:
        try:
            return is_at_rest(self.services)
        except StoreError:
            return False

    def close(self) -> None:
        """End everything."""
        for load in self.loads:
            load.give_up.set()
        self.services.client.close()
        family = self.house.family() if self.house.process.poll() is None else []
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        if family:
            self.house.stop()
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.house.process.stdout:
            self.house.process.stdout.close()


def _command(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return " ".join(process.cmdline())
    return ""


def is_gone(process: psutil.Process) -> bool:
    """Whether a process has ended, waited for or not."""
    with suppress(psutil.NoSuchProcess):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


class Nemesis(Protocol):
    """A fault: it strikes a world, and returns when the world is whole again."""

    @property
    def name(self) -> str:
        """As the report calls it."""

    def strike(self, world: World, rng: Random) -> None:
        """Do it. Raises AssertionError where the house does not do what it promises meanwhile."""


@dataclass
class Row:
    """A line of the report: what a fault has led to, in all its strikes."""

    fault: str
    strikes: int = 0
    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    reads: int = 0
    games: int = 0
    violations: list[Violation] = field(default_factory=list)


STALLED: Final = "the house does not do what it promises under this fault"


def trial(world: World, nemesis: Nemesis, rng: Random, *, pairs: int = 1) -> Row:
    """A load, a fault in the middle of it, and the verdict on all that the world has been through."""
    row = Row(nemesis.name, strikes=1)
    before = len(world.history)
    load = Load(world.connect, rng.getrandbits(32), pairs, world.history)
    world.loads.append(load)
    load.start()
    try:
        world.progress()
        nemesis.strike(world, rng)
        world.progress()
    except AssertionError as error:
        row.violations.append(Violation(STALLED, "", f"{type(error).__name__} {error}; {_where(error)}"))
    row.violations += world.judge(load)
    for call in list(world.history)[before:]:
        row.reads += call.kind == READ
        if call.kind != READ:
            row.acknowledged += call.done
            row.refused += call.refused
            row.unknown += call.unknown
    row.games = sum(1 for _ in load.games())
    return row


def _where(error: BaseException) -> str:
    """The line of the nemesis at which nothing went on."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        name = Path(trace.tb_frame.f_code.co_filename).name
        if name in ("nemesis.py", "world.py"):
            found = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


@contextmanager
def a_world(folder: Path, store_url: str = "", **settings: str) -> Iterator[World]:
    """A world that stands."""
    folder.mkdir(parents=True, exist_ok=True)
    world = World(folder, store_url, **settings)
    try:
        yield world
    finally:
        world.close()


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A disk of its own under ``folder``, where this user may mount one: whether that is so."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    mounted = os.getuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write to a disk until nothing more goes on it. The file that fills it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        piece = bytes(1 << 20)
        while piece:
            try:
                file.write(piece)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                piece = piece[: len(piece) // 2]
    return filler


def merged(rows: Sequence[Row]) -> list[Row]:
    """One row a fault."""
    found: dict[str, Row] = {}
    for one in rows:
        row = found.setdefault(one.fault, Row(one.fault))
        for name in ("strikes", "acknowledged", "refused", "unknown", "reads", "games"):
            setattr(row, name, getattr(row, name) + getattr(one, name))
        row.violations += one.violations
    return list(found.values())
