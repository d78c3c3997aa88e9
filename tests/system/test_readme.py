"""The README, run as it stands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.running import ROOT, house_environ

README = (ROOT / "README.md").read_text(encoding="utf-8")

CURL = f'''#!{sys.executable}
"""Stands in for curl on a machine that has none: -s, -H and --json as the README uses them."""
import sys, urllib.error, urllib.request
url, headers, body, words = "", {{}}, None, iter(sys.argv[1:])
for word in words:
    if word == "-H":
        name, _, value = next(words).partition(": ")
        headers[name] = value
    elif word == "--json":
        body = next(words).encode()
        headers["Content-Type"] = "application/json"
    elif word != "-s":
        url = word
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, body, headers))
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.buffer.write(answer.read())
'''


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder for PATH with `hearts`, and with curl where the machine has none."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "hearts").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m services.cli "$@"\n')
    if shutil.which("curl") is None:
        (folder / "curl").write_text(CURL)
    for tool in folder.iterdir():
        tool.chmod(0o755)
    return folder


def test_the_game_by_curl(house_url: str, bin_folder: Path, tmp_path: Path) -> None:
    """The eight lines of shell play a whole game, its proof holds, and nothing else is printed or left behind."""
    script = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert script is not None
    lines = script[1].splitlines()
    assert len(lines) == 8
    text = script[1].replace("http://127.0.0.1:8000", house_url).replace(".venv/bin/hearts", "hearts")
    environ = house_environ()
    environ["PATH"] = f"{bin_folder}:{environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", text],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    claims = dict(re.findall(r"^  ([FIRB]) \(.*?\) (holds|FAILS|not shown)", done.stdout, re.MULTILINE))
    assert claims == {"F": "not shown", "I": "holds", "R": "holds", "B": "holds"}
    assert len(done.stdout.splitlines()) == 5, "the moves' answers are nothing to read"
    assert {one.name for one in tmp_path.iterdir()} == {"bin"}, "nothing is left in the checkout"


def test_every_command_of_the_readme_exists(bin_folder: Path) -> None:
    """`hearts` knows each command that the README shows, and the options shown with it."""
    shown = re.findall(r"\.venv/bin/hearts (\w+)([^\n#|]*)", README)
    assert {name for name, _ in shown} >= {"play", "verify", "legal"}
    for name, rest in shown:
        done = subprocess.run(
            [bin_folder / "hearts", name, "--help"],
            env=house_environ(),
            capture_output=True,
            text=True,
            check=True,
        )
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in done.stdout
