"""A whole house as a user runs it: `hearts up` in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 40


def house_environ() -> dict[str, str]:
    """The environment of a house: ours, less any settings of the person who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEARTS_")}
    return kept | {"PYTHONPATH": str(ROOT)}


@contextmanager
def running_house(folder: Path, *, port: int = 0, **settings: str) -> Iterator[str]:
    """The address of a house that keeps its games under ``folder``; stopped, and seen to have stopped, at the end.

    ``port`` is a free one unless it is given; ``settings`` are variables of its environment.
    """
    command = [sys.executable, "-m", "services.cli", "up", "--port", str(port), "--data", str(folder)]
    with subprocess.Popen(
        command, cwd=folder.parent, env=house_environ() | settings, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            if "served at" not in first:
                raise AssertionError(f"the house did not start: {first}{process.stdout.read()}")
            yield first.split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(STOP_SECONDS) == 0


def operator_token(url: str, folder: Path) -> str:
    """A token of the scope `admin` at the house that keeps its games under ``folder``."""
    player = httpx.post(f"{url}/v1/players", json={"name": "Olga"}).json()["id"]
    command = [sys.executable, "-m", "services.cli", "players", "token", player, "--scope", "admin"]
    environ = house_environ() | {"HEARTS_DATA": str(folder)}
    told = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
    return told.stdout.split()[-1]
