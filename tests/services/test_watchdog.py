"""The watchdog: a server is ended when its folder and its owner are gone, and never before."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services import watchdog
from services.watchdog import RECORD, lives, mark_of, process_began, watch

Record = dict[str, Any]


@pytest.fixture
def processes() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts processes that wait to be ended."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdin:
            process.stdin.close()


def record_of(server: int, owner: int) -> Record:
    """What a folder says of its server."""
    return {
        "server": server,
        "server_began": process_began(server),
        "owner": owner,
        "owner_began": process_began(owner),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store's folder."""
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill it, as nobody can be asked to stop in order."""
    process.kill()
    process.wait()


def test_a_server_without_folder_and_owner_is_ended(processes, folder: Path) -> None:
    """Given a server whose owner was killed, when its folder is moved away, then it is ended."""
    server, owner = processes(), processes()
    record = record_of(server.pid, owner.pid)
    mark = mark_of(folder)
    assert mark
    steps = [lambda: end(owner), lambda: None, lambda: folder.rename(folder.with_name("away"))]
    watch(folder, mark, record, lambda _: steps.pop(0)() if steps else None)
    assert [] == steps
    assert not lives(record, "server")
    assert -15 == server.wait()


def test_the_folder_alone_is_no_reason(processes, folder: Path) -> None:
    """Given an owner that lives, or a folder that stands, then the server goes on until somebody ends it."""
    server, owner = processes(), processes()
    record = record_of(server.pid, owner.pid)
    mark = mark_of(folder)
    assert mark
    told = []

    def step(_: float) -> None:
        told.append(lives(record, "server"))
        (
            lambda: folder.rename(folder.with_name("away")),
            lambda: folder.with_name("away").rename(folder),
            lambda: end(owner),
            lambda: None,
            lambda: end(server),
        )[len(told) - 1]()

    watch(folder, mark, record, step)
    assert [True] * 5 == told


def test_a_new_owner_is_noticed(processes, folder: Path) -> None:
    """Given a server that was taken over, then it is the new owner that counts; a damaged record changes nothing."""
    server, first, second = processes(), processes(), processes()
    record = record_of(server.pid, first.pid)
    mark = mark_of(folder)
    assert mark
    steps = [
        lambda: (folder / RECORD).write_text(json.dumps(record_of(server.pid, second.pid))),
        lambda: end(first),
        lambda: (folder / RECORD).write_text("damaged"),
        lambda: folder.rename(folder.with_name("away")),
        lambda: lives(record, "server") and end(second),
    ]
    watch(folder, mark, record, lambda _: steps.pop(0)() if steps else None)
    assert [] == steps
    assert not lives(record, "server")


def test_a_folder_that_is_gone_before_the_first_look(processes, folder: Path) -> None:
    """Given a folder that was moved away while the watchdog was starting, then that is noticed all the same."""
    server, owner = processes(), processes()
    record = record_of(server.pid, owner.pid)
    mark = mark_of(folder)
    assert mark
    folder.rename(folder.with_name("away"))
    end(owner)
    watch(folder, mark, record, lambda _: None)
    assert not lives(record, "server")


def test_another_folder_of_the_same_name_is_not_the_servers(processes, folder: Path) -> None:
    """A folder that was made anew is another store's."""
    server, owner = processes(), processes()
    record = record_of(server.pid, owner.pid)
    mark = mark_of(folder)
    assert mark

    def renew(_: float) -> None:
        if owner.poll() is None:
            end(owner)
            folder.rename(folder.with_name("away"))
            folder.mkdir()

    watch(folder, mark, record, renew)
    assert not lives(record, "server")


def test_it_runs_as_a_script_on_nothing_but_python(processes, folder: Path) -> None:
    """Given a server that has ended, then the script ends, without a word."""
    server = processes()
    record = record_of(server.pid, os.getpid())
    command = [
        sys.executable,
        "-I",
        "-S",
        watchdog.__file__,
        str(folder),
        json.dumps(mark_of(folder)),
        json.dumps(record),
    ]
    end(server)
    done = subprocess.run(command, capture_output=True, timeout=60, cwd="/")
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)
