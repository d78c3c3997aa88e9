"""`make fuzz`: schemathesis calls a house of its own, some ten thousand times, and finds nothing.

The house keeps its games in a folder that is thrown away. There are tables in every phase, whose ids the calls are given
now and then, and the links of the OpenAPI document lead to others.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from services.settings import Settings
from tests.fuzz.plan import configuration, seed_games
from tests.support.running import running_house

HOOKS = Path(__file__).with_name("judgement.py")
EXAMPLES = 150
"""Requests that a run makes up for a call, beside those that are worked out of its schema."""


def run_once(url: str, folder: Path, games: list[str], tokens: tuple[str, str], seed: int) -> tuple[int, str]:
    """The calls that one run has made, and what it reported. Raises `SystemExit` where it found something."""
    config = folder / "schemathesis.toml"
    hooks = f"hooks = {json.dumps(str(HOOKS))}\n"
    config.write_text(hooks + configuration(*tokens, games), encoding="utf-8")
    program = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    options = ["--max-examples", str(EXAMPLES), "--seed", str(seed), "--continue-on-failure", "--no-color"]
    done = subprocess.run(
        [*program, f"{url}/v1/openapi.json", *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(HOOKS.parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    made = re.search(r"^ *(\d+) generated", done.stdout, re.MULTILINE)
    if done.returncode or made is None:
        print(done.stdout)
        raise SystemExit(done.returncode or 1)
    return int(made[1]), done.stdout


def unlimited() -> dict[str, str]:
    """The settings that let one player call as often, and open as many tables, as it likes."""
    names = {one.name for one in dataclasses.fields(Settings)}
    rates = {name: "" for name in names if name.startswith("rate_")}
    counts = dict.fromkeys(names & {"most_tables"}, "0")
    return {f"HEARTS_{name.upper()}": value for name, value in (rates | counts).items()}


def main() -> None:
    """Fuzz until as many calls are made as were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000, help="how many calls to make at least")
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each further one adds 1")
    asked = parser.parse_args()
    made, seed = 0, asked.seed
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            running_house(folder / "data", **unlimited()) as url,
            httpx.Client(base_url=url, timeout=30) as client,
        ):

            def player() -> str:
                made = client.post("/v1/players", json={"name": "Fuzz"}).raise_for_status().json()
                token: str = made["token"]
                return token

            def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
                found: dict[str, Any] = client.post(path, json=body).raise_for_status().json()
                return found

            while made < asked.calls:
                tokens = player(), player()
                client.headers["Authorization"] = f"Bearer {tokens[0]}"
                calls, report = run_once(url, folder, seed_games(post), tokens, seed)
                made += calls
                tested = re.search(r"^ *Tested: (\d+)", report, re.MULTILINE)
                print(f"seed {seed}: {calls} calls, {tested[1] if tested else '?'} operations, nothing found")
                seed += 1
    print(f"{made} calls, nothing found")


if __name__ == "__main__":
    main()
