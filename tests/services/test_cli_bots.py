"""`hearts verify --rerun-bots`."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
from click.testing import CliRunner, Result

from domain.commands import PlayCard
from domain.record import record_of
from domain.variants import ruleset_of
from services.cli_records import verify
from tests.support.bot_games import Cheat, bot_game
from tests.support.proofs import file_of

RULES = ruleset_of({"variant": "standard", "hand_limit": 1})


def run(folder: Path, data: bytes, *options: str) -> Result:
    """The command on a file of ``data``."""
    path = folder / "game.ndjson"
    path.write_bytes(data)
    return CliRunner().invoke(verify, [str(path), *options])


def test_the_bots_are_asked_again_by_option(tmp_path: Path) -> None:
    """`--rerun-bots` shows claim B, and a dishonest bot is status 1."""
    honest = file_of(bot_game(RULES, 5, "bbbb").events)
    assert "let the bots decide again (--rerun-bots)" in run(tmp_path, honest).stdout
    asked = run(tmp_path, honest, "--rerun-bots")
    assert (asked.exit_code, "B (honest bots) holds: 56 decisions" in asked.stdout) == (0, True)
    cheat = Cheat(PlayCard)
    dishonest = file_of(bot_game(RULES, 5, "bbbb", house=cheat).events)
    assert run(tmp_path, dishonest).exit_code == 0
    found = run(tmp_path, dishonest, "--rerun-bots", "--json")
    assert (found.exit_code, json.loads(found.stdout)["claims"][3]["status"]) == (1, "fails")


def test_bots_of_a_record_cannot_be_asked(tmp_path: Path) -> None:
    """It has no secrets, and does not say who moved: a check that was asked for is not left out in silence."""
    record = msgspec.json.encode(record_of(bot_game(RULES, 5, "bbbb").events))  # type: ignore[arg-type]
    assert run(tmp_path, record).exit_code == 0
    result = run(tmp_path, record, "--rerun-bots")
    assert result.exit_code == 2
    assert "from a proof file, and this is a record" in result.stderr
