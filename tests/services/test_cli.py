"""The `hearts` command and `hearts config`."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from services import cli
from services.cli import Commands
from services.interrupts import Interrupted
from services.settings import Settings, variable
from tests.services.test_cli_records import OVER

HEARTS = Path(sys.executable).with_name("hearts")


def entry(name: str, value: str) -> EntryPoint:
    """A subcommand that some distribution offers."""
    return EntryPoint(name, value, cli.COMMANDS)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """What is installed, for a test to choose; `config` is there."""
    points = [entry("config", "services.cli:config")]

    def entry_points(*, group: str, name: str | None = None) -> list[EntryPoint]:
        assert cli.COMMANDS == group
        return [point for point in points if name in (None, point.name)]

    monkeypatch.setattr(cli, "entry_points", entry_points)
    return points


def run(*words: str, **environment: str) -> Result:
    """`hearts` with these words and settings."""
    clean = {variable(name): None for name in Settings.__dataclass_fields__}
    return CliRunner().invoke(cli.main, words, env=clean | environment, prog_name="hearts")


class TestCommands:
    def test_a_command_is_loaded_only_when_it_is_used(self) -> None:
        """`hearts config` starts without what other commands need."""
        code = """
import sys
from services.cli import main
try:
    main(["config", "--json"])
except SystemExit as end:
    assert not end.code
heavy = {"granian", "flask", "rich", "rq", "httpx", "api.cli", "workers.cli"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert (0, "") == (done.returncode, done.stderr)

    def test_a_broken_command_does_not_break_the_others(self, offered: list[EntryPoint]) -> None:
        """It is listed with the reason, the others run, and running it tells the reason too."""
        offered += [entry("broken", "services.no_such_module:command"), entry("odd", "services.cli:COMMANDS")]
        listed = run("--help")
        assert 0 == listed.exit_code
        for line in (
            "broken  cannot be loaded: ModuleNotFoundError",
            "odd     cannot be loaded: services.cli:COMMANDS",
        ):
            assert line in listed.output
        assert 0 == run("config").exit_code
        for words in (["broken"], ["broken", "--flag", "x"], ["odd", "--help"]):
            failed = run(*words)
            assert 1 == failed.exit_code
            assert failed.output.startswith(f"Error: the command {words[0]} cannot be loaded: ")

    def test_a_command_that_is_not_there(self, offered: list[EntryPoint]) -> None:
        """It is named, and there is no traceback."""
        failed = run("frobnicate")
        assert 2 == failed.exit_code
        assert "No such command 'frobnicate'" in failed.output

    def test_the_version(self) -> None:
        """One line, the name and the version."""
        shown = run("--version").output.split()
        assert ("hearts", 3) == (shown[0], len(shown[1].split(".")))

    def test_the_installed_command(self) -> None:
        """The script that is installed is this group."""
        done = subprocess.run([HEARTS, "config", "-h"], capture_output=True, text=True, timeout=60)
        assert done.stdout.startswith("Usage: hearts config")


class TestConfig:
    def test_every_setting_with_its_value_and_meaning(self) -> None:
        """A line for the value and one for the meaning; a default is named where it is not the value."""
        shown = run("config", HEARTS_PORT="9000").output
        assert "HEARTS_PORT=9000   (default: 8000)\n    port the API listens on" in shown
        assert "HEARTS_FSYNC=always\n" in shown
        for row in Settings().describe():
            assert row.name in shown
            assert row.meaning in shown

    def test_json(self) -> None:
        """The same for programs."""
        rows = json.loads(run("config", "--json", HEARTS_PORT="9000").output)
        assert {
            "name": "HEARTS_PORT",
            "value": "9000",
            "default": "8000",
            "meaning": "port the API listens on; 0: any free one",
        } in rows
        assert len(Settings().describe()) == len(rows)

    def test_passwords_are_masked(self) -> None:
        """The address of a server is shown without its password."""
        shown = run("config", HEARTS_STORE_URL="redis://me:hunter2@host:6379/0").output
        assert "redis://me:***@host:6379/0" in shown
        assert "hunter2" not in shown

    def test_settings_that_cannot_be_used(self) -> None:
        """All problems are told, and still what may be set, which is what one needs to know then."""
        shown = run("config", HEARTS_PORT="x", HEARTS_FSYN="always")
        assert 1 == shown.exit_code
        assert "HEARTS_PORT='x': a whole number" in shown.output
        assert "did you mean HEARTS_FSYNC?" in shown.output
        assert "HEARTS_PORT=8000\n" in shown.output

    def test_other_commands_refuse_them_in_a_sentence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A command that needs settings ends with the problems, not with a traceback."""
        monkeypatch.setenv("HEARTS_PORT", "x")
        with pytest.raises(click.ClickException, match="HEARTS_PORT='x'"):
            cli.read_settings()


def test_what_the_terminal_cannot_write_is_no_reason_to_end() -> None:
    """A sign that its encoding has not is replaced."""
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "HEARTS_DATA": "dätΩ"}
    done = subprocess.run([HEARTS, "config"], env=environment, capture_output=True, timeout=60)
    assert (0, b"") == (done.returncode, done.stderr)
    assert "HEARTS_DATA=dät?" in done.stdout.decode("latin-1")


@pytest.mark.parametrize("words", [["--help"], ["config"], ["config", "--help"], ["--version"]])
def test_output_that_cannot_be_written(words: list[str]) -> None:
    """A full disk is told in a sentence, with exit status 2, whatever was to be written."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "services.cli", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
    assert (2, f"Error: the disk is full: {os.strerror(errno.ENOSPC)}\n") == (done.returncode, done.stderr)


def test_what_the_system_refuses_is_a_sentence(
    offered: list[EntryPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file's name where there is one; who calls `main` as a function gets the exception."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(cli.config, "callback", fail)
    error = OSError(errno.EIO, "no luck")
    assert (2, "Error: no luck\n") == ((done := run("config")).exit_code, done.stderr)
    error = OSError(errno.EACCES, "no luck", "a\x1b")
    assert (2, "Error: a\ufffd: no luck\n") == ((done := run("config")).exit_code, done.stderr)
    with pytest.raises(OSError, match="no luck"):
        cli.main(["config"], standalone_mode=False)


@pytest.mark.parametrize(
    "words", [["verify"], ["audit"], ["log", "check"]], ids=["verify", "audit", "log check"]
)
def test_commands_that_judge_tell_their_exit_statuses(words: list[str]) -> None:
    """All three, in `--help`."""
    told = " ".join(CliRunner().invoke(cli.main, [*words, "--help"]).output.split())
    assert re.search(r"Exit status 0: .+; 1: .+; 2: .+\.", told), told


@pytest.mark.parametrize(
    ("sink", "told"),
    [
        (">&-", "Error: standard output is closed\n"),
        (">/dev/full", f"Error: the disk is full: {os.strerror(errno.ENOSPC)}\n"),
        ("| true", ""),
        ("2>&-", ""),
    ],
)
@pytest.mark.parametrize("command", ["verify", "legal"])
def test_an_output_that_cannot_be_written_says_nothing_of_the_file(
    command: str, sink: str, told: str, tmp_path: Path
) -> None:
    """Given a record that holds, when its verdict cannot be written, then the status is 2 and never 1, without a traceback."""
    record = tmp_path / "record.json"
    record.write_text(f"{json.dumps(OVER)}\n" * 2000)
    program = f'"$0" -m services.cli {command} "$1"'
    piped = sink.startswith("|")
    script = f'{{ {program}; echo $? >"$2"; }} {sink}' if piped else f'{program} {sink}; echo $? >"$2"'
    status = tmp_path / "status"
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, str(record), str(status)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert (told, 0 if sink == "2>&-" else 2) == (done.stderr, int(status.read_text()))


@pytest.mark.parametrize(
    ("raised", "status"), [(KeyboardInterrupt(), 130), (Interrupted(signal.SIGTERM), 143)]
)
def test_an_interrupted_command_ends_as_one(raised: KeyboardInterrupt, status: int) -> None:
    """With 128 and the signal's number, which nobody takes for a verdict, at whatever moment it comes."""

    def interrupted() -> None:
        raise raised

    group = Commands("hearts", commands={"wait": click.Command("wait", callback=interrupted)})
    done = CliRunner().invoke(group, ["wait"])
    assert (status, "\ninterrupted\n") == (done.exit_code, done.stderr)
