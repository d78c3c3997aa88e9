"""Commands that are broken off while a bot hangs: nothing of it is left, however they end."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.ending import started
from tests.support.house import until
from tests.support.running import house_environ

HANGS = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    word = line.split()[0]
    if word.endswith("?"):
        forked = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        note = f"{FOLDER}/{os.getpid()}"
        with open(note + ".new", "w") as file:
            file.write(str(forked.pid))
        os.rename(note + ".new", note + ".pids")
        while True:
            signal.pause()
    print("ok hangs 1" if word == "hearts-bot" else "ok", flush=True)
"""
COMMANDS = {
    "arena": ("arena", "rules", "BOT"),
    "arena on two cores": ("arena", "BOT", "rules", "-j", "2"),
    "try": ("bot", "try", "BOT"),
}
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def hanging(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A command, which waits for bots in so many processes as it has, and what these bots have come to run."""
    program = folder / "hangs.py"
    program.write_text(HANGS.replace("{FOLDER}", str(folder)))
    bot = f"stdio:{shlex.join([sys.executable, str(program)])}"
    command = [sys.executable, "-m", "services.cli", *(bot if word == "BOT" else word for word in words)]
    with started(*command, env=house_environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        count = 2 if "-j" in words else 1
        notes = until(lambda: len(found := [*folder.glob("*.pids")]) == count and found)
        bots = [psutil.Process(int(pid)) for note in notes for pid in (note.stem, note.read_text())]
        try:
            yield process, bots
        finally:
            process.kill()
            for one in bots:
                if one.is_running():
                    one.kill()


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.name)
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_an_interrupt_leaves_nothing_of_a_bot(
    words: tuple[str, ...], stop: signal.Signals, tmp_path: Path
) -> None:
    """Given a bot that hangs and has forked, when the command is told to end, then it says so, and both are gone."""
    with hanging(tmp_path, *words) as (process, bots):
        process.send_signal(stop)
        told, _ = process.communicate(timeout=30)
        assert (128 + stop, "\ninterrupted\n") == (process.returncode, told)
        assert [] == psutil.wait_procs(bots, timeout=30)[1]


def test_ctrl_c_of_a_terminal_is_told_to_all(tmp_path: Path) -> None:
    """Given -j 2, when its whole group is interrupted, then nobody but the command says so."""
    with hanging(tmp_path, *COMMANDS["arena on two cores"]) as (process, bots):
        os.killpg(process.pid, signal.SIGINT)
        told, _ = process.communicate(timeout=30)
        assert (130, "\ninterrupted\n") == (process.returncode, told)
        assert [] == psutil.wait_procs(bots, timeout=30)[1]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_is_killed_leaves_nothing_of_a_bot(words: tuple[str, ...], tmp_path: Path) -> None:
    """Given no chance to tidy up, then the guard does it."""
    with hanging(tmp_path, *words) as (process, bots):
        process.kill()
        assert [] == psutil.wait_procs(bots, timeout=30)[1]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL], ids=lambda stop: stop.name)
def test_a_process_of_the_arena_that_is_ended_leaves_nothing_of_a_bot(
    stop: signal.Signals, tmp_path: Path
) -> None:
    """Given -j 2, when one of its processes is ended, then the command tells so and ends the other one."""
    with hanging(tmp_path, *COMMANDS["arena on two cores"]) as (process, bots):
        psutil.Process(bots[0].ppid()).send_signal(stop)
        told, _ = process.communicate(timeout=30)
        assert (1, "Error: a process that plays was ended\n") == (process.returncode, told)
        assert [] == psutil.wait_procs(bots, timeout=30)[1]
