"""The watchdog of an embedded store, and how a process is told from a later one of the same id.

A server whose owner was killed goes on serving its folder, for whoever comes next. When that folder is deleted or moved
away nobody will ever come, so the watchdog ends such a server. It runs as a script of its own beside the server, and
uses nothing but the standard library, so that it is small.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

Mark = tuple[int, int]
"""Device and inode of a folder."""
RECORD: Final = "owner.json"
"""The file of the folder that names its server and the server's owner."""
LOOK_SECONDS: Final = 2.0
"""How often the watchdog looks."""
TERM_SECONDS: Final = 10.0
"""How long the server may take to stop before it is killed."""


def process_began(pid: int) -> str | None:
    """When a process began, as a text that no later process of the same id has; None: no such process.

    A process that has ended and is only waited for by its parent counts as ended.
    """
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            # the command's name, in brackets, may hold spaces; state is the first word behind it
            words = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return None if words[0] in "ZX" else f"{boot} {words[19]}"
    listed = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, began = listed.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else began.strip()


def lives(record: dict[str, Any], who: str) -> bool:
    """Whether the process that a record names as its `who` (owner or server) is still there."""
    pid, began = record.get(who), record.get(f"{who}_began")
    return isinstance(pid, int) and began is not None and process_began(pid) == began


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a store's folder, empty where it has none that can be read, and where that is of another folder.

    A copy of a folder that is being served has a record that names the server of the other one, which lives.
    """
    try:
        record = json.loads((folder / RECORD).read_text())
    except (OSError, ValueError):
        return {}
    mark = mark_of(folder)
    if not isinstance(record, dict) or mark is None or record.get("folder") != list(mark):
        return {}
    return record


def watch(
    folder: Path, mark: Mark, record: dict[str, Any], pause: Callable[[float], object] = time.sleep
) -> None:
    """Look after the server that ``record`` names until it has ended, whoever ends it.

    ``mark`` is that of the folder as it was when the server was started: it may be gone before anybody can look.
    """
    while lives(record, "server"):
        if mark_of(folder) == mark:
            now = read_record(folder)
            if all(now.get(key) == record[key] for key in ("server", "server_began")):
                record = now  # it may have another owner by now
        elif not lives(record, "owner"):
            _end(record, pause)
            return
        pause(LOOK_SECONDS)


def mark_of(folder: Path) -> Mark | None:
    """What tells a folder from another that comes to its place; none where there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _end(record: dict[str, Any], pause: Callable[[float], object]) -> None:
    for signum in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(record["server"], signum)
        deadline = time.monotonic() + TERM_SECONDS
        while lives(record, "server") and time.monotonic() < deadline:
            pause(0.05)
        if not lives(record, "server"):
            return


if __name__ == "__main__":
    device, inode = json.loads(sys.argv[2])
    watch(Path(sys.argv[1]), (device, inode), json.loads(sys.argv[3]))
