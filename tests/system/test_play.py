"""`hearts play` on a running house: scripted, watched, left and come back to."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from domain.variants import VARIANTS
from tests.support.running import house_environ


def hearts_play(folder: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """What `hearts play` prints in plain lines; ``folder`` is the user's home."""
    return run_hearts(folder, "play", "--plain", *words, typed=typed)


def run_hearts(folder: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """What `hearts` prints; ``folder`` is the user's home."""
    return subprocess.run(
        [sys.executable, "-m", "services.cli", *words],
        cwd=folder,
        env=house_environ() | {"HOME": str(folder)},
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_whole_game_is_watched(house_url: str, tmp_path: Path, variant: str) -> None:
    """With --demo a game of every family runs to its end page, with the score and the command that checks it all."""
    done = hearts_play(tmp_path, variant, "--url", house_url, "--demo", "--set", "target=10")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(wins?|share the win) with -?\d+ points", done.stdout)
    assert f"{house_url}/verify?game=" in done.stdout
    line = re.findall("(?m)^hearts (verify .*)$", done.stdout)[0]
    checked = run_hearts(tmp_path, *shlex.split(line))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert 4 == checked.stdout.count(") holds")


def test_wrong_answers_are_told_and_the_game_is_come_back_to(house_url: str, tmp_path: Path) -> None:
    """What cannot be read or is refused is asked again; the game waits, and the kept token opens it."""
    typed = "nonsense\n1 1 2\n1\n1 2 3\n"
    first = hearts_play(tmp_path, "basic", "--url", house_url, "--name", "Anna", typed=typed)
    assert first.returncode == 0, first.stderr
    for told in ("not a card: 'nonsense'", "number 1 is there twice", "pass exactly 3 cards", "Your hand: "):
        assert told in first.stdout
    game = re.search(r"--game ([0-9a-f]{24})", first.stdout)
    assert game is not None
    tokens = next(tmp_path.rglob("players.json"))
    assert tokens.stat().st_mode & 0o077 == 0
    again = hearts_play(tmp_path, "--url", house_url, "--game", game[1], "--demo")
    assert again.returncode == 0, again.stderr
    assert "You are back at the table, in hand 1." in again.stdout
    stranger = hearts_play(tmp_path, "--url", house_url, "--game", game[1], "--token", "hearts_wrong")
    assert stranger.returncode == 1


def test_mistakes_on_the_command_line_are_explained(house_url: str, tmp_path: Path) -> None:
    """An unknown variant lists the known ones; an unknown key, a wrong number of seats and a silent server are told."""
    for words, told in (
        (["nothing"], "cancellation"),
        (["basic", "--set", "targt=3"], "did you mean target?"),
        (["basic", "--set", "target"], "key=value"),
        (["basic", "--players", "5"], "basic is not played with 5 seats"),
        (["basic", "--bot", "nobody"], "rules"),
    ):
        done = hearts_play(tmp_path, *words, "--url", house_url)
        assert done.returncode != 0
        assert told in done.stdout + done.stderr
    away = hearts_play(tmp_path, "--url", "http://127.0.0.1:9")
    assert (away.returncode, "hearts up" in away.stderr) == (1, True)
