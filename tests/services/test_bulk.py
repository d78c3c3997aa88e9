"""Many records at once: any number of processes says the same in the same order, and memory does not grow."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from domain.record import print_record
from services import bulk, cli_records
from services.bulk import How, judge_all
from services.cli_records import verify
from tests.services.test_imported import record_named

HEARTS = Path(sys.executable).with_name("hearts")
GOOD = print_record(record_named("standard-5")) + b"\n"
SHORT = print_record(record_named("classic-4"))


def spoiled() -> bytes:
    """A record that does not hold."""
    data = json.loads(GOOD)
    data["hands"][0]["points"][0] += 1
    return json.dumps(data).encode() + b"\n"


FOUR = GOOD + spoiled() + b"nonsense\n" + GOOD
TIMES = 3 * bulk.BATCH_BYTES // len(FOUR)
MIXED = FOUR * TIMES


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A file of records of all kinds, several batches long."""
    path = tmp_path / "mixed.ndjson"
    path.write_bytes(MIXED)
    return path


@pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"], ["--json", "--quiet"]])
def test_several_processes_say_what_one_says(mixed: Path, options: list[str]) -> None:
    """Text, JSON and faults alone, in the order of the file; line numbers included."""
    one = CliRunner().invoke(verify, [*options, str(mixed)])
    many = CliRunner().invoke(verify, [*options, "-j", "2", str(mixed)])
    assert (2, one.stdout, one.stderr) == (many.exit_code, many.stdout, many.stderr)
    assert one.exit_code == 2
    assert ("--quiet" in options) == (
        f"{2 * TIMES} hold, {TIMES} do not, {TIMES} could not be read" in one.stderr
    )
    assert one.stdout.count("\n") == (TIMES if "--quiet" in options else 3 * TIMES)


def test_memory_does_not_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a stream without end in sight, then only a few batches of it are read ahead of what was told."""
    monkeypatch.setattr(bulk, "BATCH_BYTES", 2 * len(SHORT))
    taken = 0

    def endless() -> Iterator[tuple[int, bytes]]:
        nonlocal taken
        while True:
            taken += 1
            yield taken, SHORT

    for jobs in (1, 2):
        taken = 0
        told = judge_all(endless(), How("-", as_json=False, quiet=True), jobs)
        for batch in range(1, 8):
            assert next(told).counts == (2, 0, 0)
            assert taken <= 2 * (batch + 3 * jobs)
        told.close()


def test_standard_input_of_any_length_through_a_pipe() -> None:
    """A program may go on writing while verdicts come out."""
    with subprocess.Popen(
        [HEARTS, "verify", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        batch = bulk.BATCH_BYTES // len(GOOD) + 2
        process.stdin.write(GOOD * batch)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["ok"] is True
        process.stdin.write(b"[]\n")
        process.stdin.close()
        rest = process.stdout.read()
    assert rest.count(b"\n") == batch - 1
    assert process.returncode == 2


def test_a_line_of_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    """It is told in a sentence and never held in memory."""
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.write(GOOD)
        file.truncate(1 << 30)
    result = CliRunner().invoke(verify, [str(path)])
    assert result.exit_code == 2
    assert "line 2: longer than the" in result.stderr
    assert result.stdout.count("\n") == 1


def test_a_terminal_is_shown_how_far_it_is(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar on standard error when that is a terminal and the verdicts go elsewhere; otherwise none."""
    script = (
        f"import sys; from services import cli_records; cli_records.BAR_BYTES = 1; "
        f"sys.argv = ['verify', {str(mixed)!r}]; cli_records.verify()"
    )
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=follower
    ) as process:
        os.close(follower)
        shown = b"".join(_until_closed(leader))
    assert process.returncode == 2
    assert b"100%" in shown
    monkeypatch.setattr(cli_records, "BAR_BYTES", 1)
    assert "%" not in CliRunner().invoke(verify, [str(mixed)]).stderr


def _until_closed(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux says so when nobody has the other end any more
            break
        if not data:
            break
        yield data
    os.close(terminal)
