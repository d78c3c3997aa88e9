"""`hearts export` and `hearts import` on a store that is served."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from domain.record import print_record, read_record
from services.cli import main
from services.cli_records import verify
from services.embedded import EmbeddedStore
from services.settings import Settings
from services.wiring import build
from tests.services.test_imported import record_named
from tests.support.environs import environ_of

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the data folder of the test."""
    for name, value in environ_of(Settings(data=tmp_path, partitions=4, fsync="everysec")).items():
        monkeypatch.setenv(name, value)

    def invoke(*words: str, given: bytes = b"") -> Result:
        (tmp_path / "given.ndjson").write_bytes(given)
        return CliRunner().invoke(
            main, [word.replace("GIVEN", str(tmp_path / "given.ndjson")) for word in words]
        )

    return invoke


def test_a_record_there_and_back(run: Run, tmp_path: Path) -> None:
    """Imported, exported as record and as proof, and both hold; again it is the same game."""
    record = print_record(record_named("omnibus-4"))
    with EmbeddedStore(tmp_path, fsync="everysec"):
        said = run("import", "GIVEN", given=record)
        assert said.exit_code == 0, said.output
        game = said.output.split()[-1]
        assert f"game {game}, which was here already" in run("import", "GIVEN", given=record).output
        back = run("export", game, "--as", "record").stdout_bytes
        assert print_record(read_record(back)) == record
        proof = tmp_path / "proof.ndjson"
        assert run("export", game, "--out", str(proof)).exit_code == 0
        assert ["proof.ndjson"] == [one.name for one in tmp_path.iterdir() if "proof" in one.name]
        told = CliRunner().invoke(verify, [str(proof)])
        assert "F (fair deals) not shown: imported" in told.output
        assert told.exit_code == 0


def test_what_is_wrong_is_told_line_by_line_and_the_rest_imported(run: Run, tmp_path: Path) -> None:
    """A file of three records: one holds, one does not, one is none."""
    good = print_record(record_named("classic-4"))
    bad = json.loads(good)
    bad["hands"][0]["plays"].reverse()
    text = good + b"\n" + json.dumps(bad).encode() + b"\nnonsense\n"
    with EmbeddedStore(tmp_path, fsync="everysec"):
        said = run("import", "GIVEN", given=text)
        services = build(Settings(data=tmp_path, partitions=4))
        game = said.stdout.split()[-1]
        assert services.tables.load(game).state.phase == "over"
        assert services.players.names([one.player for one in services.tables.load(game).state.seats])
        services.client.close()
    assert said.exit_code == 2
    assert "given.ndjson:2: hand 1: play/not_in_hand" in said.stderr
    assert "given.ndjson: line 3: no JSON" in said.stderr


def test_a_name_that_cannot_be_shown(run: Run, tmp_path: Path) -> None:
    """The game is kept, and the seat is called by its number."""
    record = json.loads(print_record(record_named("basic-4")))
    record["seats"] = ["", "b" * 100, "\x07", "Dóra"]
    with EmbeddedStore(tmp_path, fsync="everysec"):
        game = run("import", "GIVEN", given=json.dumps(record).encode()).output.split()[-1]
        back = json.loads(run("export", game, "--as", "record").stdout)
    assert back["seats"] == ["seat 0", "b" * 40, "seat 2", "Dóra"]


def test_no_store_and_no_game(run: Run, tmp_path: Path) -> None:
    """Each is told in a sentence, with exit code 1."""
    said = run("export", "nothing")
    assert (1, 1) == (said.exit_code, said.stderr.count("\n"))
    assert "hearts up" in said.stderr
    with EmbeddedStore(tmp_path, fsync="everysec"):
        said = run("export", "nothing")
        assert (1, "Error: there is no game nothing\n") == (said.exit_code, said.stderr)
