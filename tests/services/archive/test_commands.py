"""Back into the store, and `hearts archive`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.archive import file_name
from services.archiver import HOUR_MS, Archiver
from services.cli_archive import archive_group
from services.cli_games import export
from services.cli_replay import replay
from services.store import Store
from services.tables import UnknownGame
from services.wiring import Services
from tests.support.archived import HOURS, anew, files
from tests.support.audited import PERSON, audit, open_game
from tests.support.clock import Clock


def test_back_into_the_store(services: Services, archiver: Archiver, game: str, tmp_path: Path) -> None:
    """A game that is moved back is as if it had never left, and can leave again."""
    entries = services.store.read(game)
    assert not archiver.restore(game)
    for _ in range(2):
        assert archiver.archive(game)
        assert archiver.restore(game)
        assert [] == files(tmp_path)
        assert entries == Store(services.client, services.keys).read(game)
        assert 1 == archiver.waiting()
        assert audit(anew(services), game).ok
    with pytest.raises(UnknownGame):
        archiver.restore("nosuchgame")


def test_the_commands(services: Services, archiver: Archiver, clock: Clock, tmp_path: Path) -> None:
    """What `hearts archive` prints, and its exit status."""
    run: Callable[..., Result] = lambda *words: CliRunner().invoke(archive_group, words)  # noqa: E731
    games = [open_game(services) for _ in range(3)]
    playing = open_game(services, PERSON)
    asked = run("status")
    assert f"the archive is {tmp_path / 'archive'}; games go there after 24 hours\n" in asked.stdout
    assert "3 finished games are in the store\n" in asked.stdout
    assert (0, "1 moved into the archive\n") == _said(run("run", games[0]))
    assert (0, "0 moved into the archive, 1 there already\n") == _said(run("run", games[0]))
    done = run("run", playing, games[1], "nosuchgame")
    assert (1, "1 moved into the archive, 2 could not be\n") == _said(done)
    assert f"game {playing}: it is not over\ngame nosuchgame: there is no game nosuchgame\n" == done.stderr
    assert (0, "1 moved into the archive\n") == _said(
        run("run")
    )  # by the time of the machine they are long over
    assert 3 == len(files(tmp_path))
    assert (0, "2 moved back into the store\n") == _said(run("restore", *games[:2]))
    assert 1 == len(files(tmp_path))
    assert 2 == run("run", "--hours", "1", games[0]).exit_code


def test_an_archive_that_cannot_be_used_is_told_once(
    services: Services, archiver: Archiver, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a file where its folder should be, then games stay, and move when it is mended."""
    games = [open_game(services) for _ in range(8)]
    clock.now += HOURS * HOUR_MS
    (tmp_path / "archive").write_text("")
    assert 0 == sum(archiver.work(partition, 60.0) for partition in range(4))
    assert ["finished games stay in the store"] == [one.message.partition(":")[0] for one in caplog.records]
    done = CliRunner().invoke(archive_group, ["run", games[0]])
    assert 1 == done.exit_code
    assert done.stderr.startswith("Error: the archive cannot be used: ")
    (tmp_path / "archive").unlink()
    assert 8 == sum(archiver.work(partition, 60.0) for partition in range(4))


def test_a_disk_that_is_not_mounted_is_no_loss(
    services: Services, archiver: Archiver, game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an archive that is away for a while, then that is told, of no game, and all is as before when it is back."""
    archiver.archive(game)
    (tmp_path / "archive").rename(tmp_path / "away")
    asked = CliRunner().invoke(archive_group, ["status"])
    assert 1 == asked.exit_code
    why = f"{tmp_path / 'archive'} is not the archive of this store, or not mounted: it has no file hearts-archive"
    assert f"Error: {why}\n" == asked.stderr
    for command in (export, replay):
        done = CliRunner().invoke(command, [game])
        assert (1, True) == (done.exit_code, done.stderr.startswith(f"Error: {why}"))
    assert why in services.warnings()
    (tmp_path / "away").rename(tmp_path / "archive")
    assert 0 == CliRunner().invoke(export, [game]).exit_code
    assert why not in anew(services).warnings()
    monkeypatch.setenv("HEARTS_ARCHIVE", str(tmp_path / "other"))
    assert 1 == CliRunner().invoke(archive_group, ["run", game]).exit_code
    done = CliRunner().invoke(archive_group, ["adopt"])
    assert (0, f"{tmp_path / 'other'} is now the archive of this store\n") == (done.exit_code, done.stdout)
    assert "is already the archive" in CliRunner().invoke(archive_group, ["adopt"]).stdout
    assert 0 == CliRunner().invoke(archive_group, ["status"]).exit_code


def test_a_damaged_game_is_told_in_a_sentence(
    services: Services, archiver: Archiver, game: str, tmp_path: Path
) -> None:
    """Given a file that is gone, or an event of a stream, then export and replay end with one line."""
    other = open_game(services)
    services.client.xdel(services.keys.stream(other), "20-0")
    archiver.archive(game)
    (tmp_path / "archive" / file_name(game, services.store.last(game))).unlink()
    for one in (game, other):
        for command in (export, replay):
            done = CliRunner().invoke(command, [one])
            assert 1 == done.exit_code
            assert done.stderr.startswith(f"Error: game {one}, event ")
            assert 1 == done.stderr.count("\n")


def test_without_an_archive_there_is_nothing_to_command(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said which setting is missing."""
    monkeypatch.delenv("HEARTS_ARCHIVE")
    done = CliRunner().invoke(archive_group, ["status"])
    assert 1 == done.exit_code
    assert "HEARTS_ARCHIVE" in done.stderr


def _said(done: Result) -> tuple[int, str]:
    return done.exit_code, done.stdout
