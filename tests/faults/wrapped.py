"""The command `hearts` as a trial runs it: by a clock that the trial moves, and with a projector that dies when it is told to.

Two files are named by the environment: FAULTS_CLOCK has the milliseconds that the clock of every process is ahead; where there
is a FAULTS_DEATH, the next projector that has something to write removes it, does the half that it names, and dies. FAULTS_NARROW takes from the API what protects it from a storm.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import services.wiring
from api import serving
from services.cli import main
from services.cli_up import House
from services.projections import Projections, Update
from services.supervise import Program

AFTER_FOLD, BEFORE_FOLD = "after the fold, unacknowledged", "acknowledged, before the fold"
"""What FAULTS_DEATH may hold."""
MODULE: Final = "tests.faults.wrapped"


def shift_clock(file: Path) -> None:
    """Have the services of this process take the time from a clock that is ahead by what the file says."""
    real = services.wiring.now_ms

    def shifted() -> int:
        return real() + int(file.read_text() or 0)

    services.wiring.now_ms = shifted


def die_when_told(file: Path) -> None:
    """Have the projector of this process die in the middle of a write, when there is the file."""
    real = Projections.write

    def write(
        self: Projections,
        updates: Mapping[int, Sequence[Update]],
        acks: Mapping[int, Sequence[bytes]] | None = None,
    ) -> int:
        if not acks or not any(updates.values()) or not file.exists():
            return real(self, updates, acks)
        how = file.read_text()
        file.unlink()
        if how == AFTER_FOLD:
            real(self, updates, {})
        else:
            real(self, {}, acks)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable")

    Projections.write = write  # type: ignore[method-assign]


def wrap_processes() -> None:
    """Have `hearts up` start its processes by this module, too."""
    real = House._program

    def program(self: House, name: str, *command: str, **options: Any) -> Program:
        made = real(self, name, *command, **options)
        words = [MODULE if word == "services.cli" else word for word in made.command]
        return Program(made.name, words, made.log, made.tells)

    House._program = program  # type: ignore[method-assign]


def keep_few_connections() -> None:
    """Have the API keep few connections, and each as long as its caller likes."""
    serving.COMMANDERS, serving.HEADER_SECONDS = 32, 600  # type: ignore[misc]


def wrap() -> None:
    """Do what the environment asks for."""
    wrap_processes()
    if clock := os.environ.get("FAULTS_CLOCK"):
        shift_clock(Path(clock))
    if death := os.environ.get("FAULTS_DEATH"):
        die_when_told(Path(death))
    if os.environ.get("FAULTS_NARROW"):
        keep_few_connections()


if __name__ in ("__main__", "__mp_main__"):
    wrap()
if __name__ == "__main__":
    sys.argv[0] = "hearts"
    main()
