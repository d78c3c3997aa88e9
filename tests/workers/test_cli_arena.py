"""`hearts arena`: what it plays, tells and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from domain import kernel
from domain.bots import BOTS
from services.cli_records import verify
from workers.arena.cli import arena


def run(*words: str) -> Result:
    """The command, called so."""
    return CliRunner().invoke(arena, words)


def results(*words: str) -> dict:
    """The JSON that the command writes."""
    done = run(*words, "--json", "-")
    assert 0 == done.exit_code, done.output
    return msgspec.json.decode(done.stdout)


def test_it_tells_a_table() -> None:
    """Given two bots, then each has a line, and the better one fewer points."""
    done = run("rules", "random", "--deals", "3")
    assert (0, "") == (done.exit_code, done.stderr)
    assert done.stdout.startswith("3 deals of classic for 4, 18 hands; seed 1, arena ")
    assert "\nA rules " in done.stdout
    assert "\nB random " in done.stdout


def test_its_help_names_what_can_be_entered() -> None:
    """All house bots, plug-ins, programs, and how playouts are said of each that does some."""
    told = " ".join(run("--help").stdout.split())
    levels = [name for name in BOTS if name.startswith("level")]
    others = [name for name in BOTS if name not in levels]
    assert f"{', '.join(others)}, {levels[0]} to {levels[-1]}" in told
    for form in ("plug-in by its name", '"stdio:COMMAND"', "search:500", "level3:500", '"stdio:500:COMMAND"'):
        assert form in told


def test_it_writes_json_and_a_picture(tmp_path: Path) -> None:
    """Both files at once; the same seed gives the same points whatever the processes, another seed others."""
    svg = tmp_path / "a.svg"
    found = results("rules", "random", "--deals", "4", "--svg", str(svg))
    assert svg.read_text().startswith("<svg ")
    assert found["each"] == results("rules", "random", "--deals", "4", "-j", "2")["each"]
    assert found["each"] != results("rules", "random", "--deals", "4", "--seed", "2")["each"]
    assert found["each"][:2] == results("rules", "random", "--deals", "2")["each"]


def test_rules_and_budget_can_be_chosen() -> None:
    """A variant, seats, single rules, and playouts for those that do some."""
    found = results(
        *("rules", "search", "--deals", "1", "--variant", "standard", "--players", "3"),
        *("--budget", "7", "--set", "target=50"),
    )
    assert {"variant": "standard", "players": 3, "target": 50} == found["rules"]
    assert ["rules", "search:7"] == [bot["bot"] for bot in found["bots"]]


def test_games_are_played_to_the_target() -> None:
    """Given --games, then games won are told, too."""
    found = results("rules", "random", "--deals", "1", "--games", "--set", "target=30")
    assert ("games", 1.0) == (found["mode"], 2 * sum(bot["won"]["mean"] for bot in found["bots"]))


def test_it_stops_when_the_differences_are_known() -> None:
    """Given equal bots, whose differences are 0 in every deal, then the first look is the last."""
    found = results("random", "random", "--deals", "120", "--until", "0.01", "-j", "2")
    assert (50, 120) == (found["deals"], found["asked"])
    assert {"mean": 0.0, "half_width": 0.0} == found["pairs"][0]["points"]


def test_a_match_is_told_and_written_as_a_record(tmp_path: Path) -> None:
    """Given a match by its name, then it is told move by move, and its record holds."""
    record = tmp_path / "hand.json"
    done = run("rules", "random", "--replay", "1:3:abba", "--record", str(record))
    assert 0 == done.exit_code, done.output
    assert "A rules (0) passes" in done.stdout
    assert "hand 3 is scored: A rules " in done.stdout.splitlines()[-1]
    checked = CliRunner().invoke(verify, [str(record)])
    assert 0 == checked.exit_code, checked.output


def test_a_match_that_is_none_of_the_arenas_is_told(tmp_path: Path) -> None:
    """Given seats that are not shared evenly, then it is played, and said that no table has it."""
    for seating, there in (("ABBA", False), ("AAAB", True)):
        done = run("rules", "random", "--replay", f"1:3:{seating}")
        assert (0, there) == (
            done.exit_code,
            "the arena itself does not seat them AAAB in deal 3" in done.stderr,
        )


def test_that_there_is_no_kernel_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command, before it plays."""
    monkeypatch.setattr(kernel, "AVAILABLE", False)
    done = run("rules", "random", "--deals", "2")
    assert (0, 1) == (done.exit_code, done.stderr.count(kernel.NO_KERNEL))
    monkeypatch.undo()
    assert kernel.NO_KERNEL not in run("rules", "random", "--deals", "2").stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "name the bots"),
        (["rules"], "name 2 to 26 bots"),
        (["rules"] * 27, "name 2 to 26 bots"),
        (["rules", "nobody"], "there is no bot 'nobody'"),
        (["rules", "random:5"], "does no playouts"),
        (["rules", "random", "--players", "9"], "not played with 9 seats"),
        (["rules", "random", "--set", "target"], "not key=value"),
        (["rules", "random", "--variant", "whist"], "whist"),
        (["rules", "random", "--deals", "0"], "0 is not in the range"),
        (["rules", "random", "-j", "2", "--queue"], "choose"),
        (["rules", "random", "--resume", "abc"], "one of the two"),
        (["--resume", "abc", "--set", "target=9"], "--set does not go with --resume"),
        (["--resume", "abc", "--games"], "--games does not go with --resume"),
        (["rules", "random", "--replay", "1:2"], "SEED:DEAL:SEATING"),
        (["rules", "random", "--replay", "1:2:ABC"], "no seating"),
        (["rules", "random", "--record", "-"], "goes with --replay"),
        (["rules", "random", "--replay", "1:1:ABBA", "--json", "-"], "--record writes it"),
        (["rules", "random", "--replay", "1:1:ABBA", "--svg", "x.svg"], "--record writes it"),
        (["rules", "random", "--json", "/no/such/folder/x"], "there is no folder"),
        (["rules", "random", "--svg", "x" * 300], "cannot be written: File name too long"),
        (["rules", "random", "--json", "x", "--svg", "x"], "two files"),
    ],
)
def test_what_it_refuses(words: list[str], why: str) -> None:
    """One sentence that says what is wrong, before anything is played."""
    done = run(*words)
    assert 2 == done.exit_code
    assert why in done.stderr
    assert "" == done.stdout


def test_results_that_cannot_be_written_are_told_all_the_same(tmp_path: Path) -> None:
    """Given a place that is lost while bots play, then the table is there, the other file too, and the command fails."""
    picture = tmp_path / "a.svg"
    done = run("rules", "random", "--deals", "1", "--json", "/dev/full", "--svg", str(picture))
    assert (1, "Error: /dev/full: No space left on device\n") == (done.exit_code, done.stderr)
    assert "\nA rules " in done.stdout
    assert picture.read_text().startswith("<svg ")
