"""Work in several processes that is broken off: it says so, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

from domain.record import print_record
from services.pool import in_processes
from services.settings import Settings
from services.wiring import Services, build
from tests.services.test_imported import record_named
from tests.support.audited import open_game
from tests.support.auditing import process_environ
from tests.support.ending import alive, below, started
from tests.support.house import until
from tests.support.running import house_environ

HEARTS = (sys.executable, "-m", "services.cli")
GAMES = 60
RECORDS = (print_record(record_named("standard-5")).decode() + "\n") * 700
"""More than the batches that are in hand at a time."""
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop(process: subprocess.Popen[str], signum: signal.Signals) -> None:
    """Tell a command to end, and as a terminal does with Ctrl-C, everybody in its group."""
    if signum == signal.SIGINT:
        os.killpg(process.pid, signum)
    else:
        process.send_signal(signum)


@pytest.mark.parametrize("signum", STOPS, ids=lambda signum: signum.name)
def test_a_verification_that_is_broken_off(signum: signal.Signals) -> None:
    """Given records without an end, when it is told to end, then it says so and what it has counted, and no process is left."""
    command = (*HEARTS, "verify", "--json", "-j", "2", "-")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with started(*command, env=house_environ(), **pipes) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(RECORDS)
        process.stdin.flush()
        process.stdout.readline()
        others = below(process)
        stop(process, signum)
        _, told = process.communicate(timeout=30)
    assert 128 + signum == process.returncode
    held, words = told.split(" hold, ", 1)
    assert int(held) > 0
    assert "0 do not, 0 could not be read\ninterrupted; nothing is said of the rest\n" == words
    assert len(others) > 2
    assert [] == alive(others)


@pytest.fixture
def house(valkey: redis.Redis, valkey_url: str, tmp_path: Path) -> Services:
    """Services on a store whose reports are more than a pipe holds."""
    services = build(Settings(data=tmp_path, partitions=4, store_url=valkey_url))
    for _ in range(GAMES):
        open_game(services)
    return services


@pytest.mark.parametrize("signum", STOPS, ids=lambda signum: signum.name)
def test_an_audit_that_is_broken_off(signum: signal.Signals, house: Services) -> None:
    """Given many games, when it is told to end, then it says so and what it has counted, and no process is left."""
    command = (*HEARTS, "audit", "--all", "--json", "-j", "2")
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with started(*command, env=process_environ(house.settings), **pipes) as process:
        assert process.stdout
        first = process.stdout.readline()
        others = below(process)
        stop(process, signum)
        out, told = process.communicate(timeout=30)
    assert 128 + signum == process.returncode
    assert (first + out).count("\n") < GAMES
    held, words = told.split(" ", 1)
    assert int(held) < GAMES
    assert words.endswith("0 do not\ninterrupted; nothing is said of the other games\n")
    assert len(words.splitlines()) == 2
    assert len(others) > 2
    assert [] == alive(others)


def judges(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The two processes that judge for a command, none until they are both there."""
    found = [one for one in below(process) if "spawn_main" in " ".join(one.cmdline())]
    return found if len(found) == 2 else []


def test_a_judge_that_is_killed_is_told() -> None:
    """Nothing is said of the rest: status 2."""
    command = (*HEARTS, "verify", "-q", "-j", "2", "-")
    with started(*command, env=house_environ(), stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(RECORDS)
        process.stdin.flush()
        others = until(lambda: judges(process))
        # so that there is a rest: neither of them does anything more
        for one in others:
            one.suspend()
        others[0].kill()
        _, told = process.communicate(RECORDS, timeout=30)
    assert 2 == process.returncode
    assert told.endswith("Error: a process that judges was ended; nothing is said of the rest\n")
    assert [] == alive(others)


def tell_half(folder: Path, piece: int) -> int:
    """What a process does that stays in the middle of telling what has come of its second piece."""

    def send_half(connection: Any, message: memoryview) -> None:
        connection._send(struct.pack("!i", len(message)) + message[:1].tobytes())
        (folder / "half").touch()
        signal.pause()

    if piece == 1:
        Connection._send_bytes = send_half  # type: ignore[attr-defined]
    return piece


def numbers(folder: Path) -> Iterator[int]:
    """Two pieces of work, and a third when the second is half told."""
    yield from (0, 1)
    until((folder / "half").exists)
    yield 2


def test_a_process_that_is_ended_while_it_tells_something(tmp_path: Path) -> None:
    """Given half an answer, when the work is broken off, then nobody waits for the other half."""
    done = in_processes(numbers(tmp_path), partial(tell_half, tmp_path), 1)
    assert 0 == next(done)
    others = [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]
    done.close()
    assert len(others) == 1
    assert [] == alive(others)
