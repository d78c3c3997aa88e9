"""The archive's files: in a folder and behind an address, whole or not at all, and what is told of damaged ones."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import fsspec
import pytest

from domain.variants import ruleset_of
from services import archive
from services.archive import Archive, ArchiveUnavailable, file_name, is_address
from services.sealed import seal
from services.store import CorruptStream, Entry
from tests.support.games import play_game

GAME = "00112233445566778899aabb"


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """A finished game."""
    return play_game(ruleset_of({"variant": "standard", "hand_limit": 1}), 5).entries()


@pytest.fixture(params=["folder", "address"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an archive may be."""
    return str(tmp_path / "archive") if request.param == "folder" else f"memory://{tmp_path}/archive"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("s3://b/f", True),
        ("simplecache::s3://b", True),
        ("memory://x", True),
        ("/a/b", False),
        ("a:b/c", False),
    ],
)
def test_a_folder_is_no_address(text: str, address: bool) -> None:
    """An address has a scheme."""
    assert address is is_address(text)


def test_what_was_written_is_read(place: str, entries: list[Entry]) -> None:
    """By another process too, and twice written it is the same."""
    last = len(entries)
    for _ in range(2):
        Archive(place).write(GAME, last, seal(entries))
        assert entries == Archive(place)(GAME, last) == Archive(place).fetch(GAME, last)


def test_what_was_dropped_is_gone(place: str, entries: list[Entry]) -> None:
    """Also from the memory of the process; dropping it again does nothing."""
    kept, last = Archive(place), len(entries)
    kept.write(GAME, last, seal(entries))
    assert kept(GAME, last)
    for _ in range(2):
        kept.drop(GAME, last)
        with pytest.raises(CorruptStream, match=f"events 1 to {last - 1} are archived, and there is no "):
            kept(GAME, last)


def test_a_damaged_file(place: str, entries: list[Entry]) -> None:
    """It is told by its name."""
    block = seal(entries)
    for damaged in (block[:-1], b"", gzip.compress(b"{}"), block[:100] + block[101:]):
        Archive(place).write(GAME, len(entries), damaged)
        with pytest.raises(CorruptStream, match="is damaged") as raised:
            Archive(place)(GAME, len(entries))
        assert file_name(GAME, len(entries)) in str(raised.value)


def test_a_file_of_another_game(place: str, entries: list[Entry]) -> None:
    """One that has another number of events than its name says."""
    Archive(place).write(GAME, 7, seal(entries))
    with pytest.raises(CorruptStream, match=f"has {len(entries)} events"):
        Archive(place)(GAME, 7)


def test_an_id_that_leads_elsewhere(place: str, entries: list[Entry]) -> None:
    """No file is written or read outside the archive."""
    for game in ("../x", "a/b", "", "x" * 65):
        with pytest.raises(CorruptStream, match="no game has such an id"):
            Archive(place)(game, 3)
        with pytest.raises(CorruptStream, match="no game has such an id"):
            Archive(place).write(game, 3, seal(entries))


def test_files_are_for_the_house_alone(tmp_path: Path, entries: list[Entry]) -> None:
    """They hold the secret of the chain; no half of one is left beside them."""
    Archive(str(tmp_path / "a")).write(GAME, len(entries), seal(entries))
    files = [one for one in (tmp_path / "a").rglob("*") if one.is_file()]
    assert [tmp_path / "a" / file_name(GAME, len(entries))] == files
    assert 0o600 == stat.S_IMODE(files[0].stat().st_mode)
    assert 0o700 == stat.S_IMODE(files[0].parent.stat().st_mode)


def test_a_place_that_cannot_be_used(tmp_path: Path, entries: list[Entry]) -> None:
    """A file where the folder should be, a scheme that there is not: the archive is not to be had, for now."""
    (tmp_path / "file").write_text("")
    for place in (str(tmp_path / "file"), "nosuchscheme://x/y"):
        with pytest.raises(ArchiveUnavailable, match="the archive cannot be used: "):
            Archive(place).write(GAME, 3, seal(entries))
        with pytest.raises(ArchiveUnavailable, match="the archive cannot be used: "):
            Archive(place)(GAME, 3)


def test_a_folder_that_vanished_has_no_games(place: str) -> None:
    """Which is told of the game, not of the archive."""
    with pytest.raises(CorruptStream, match="there is no"):
        Archive(place)(GAME, 3)


def test_games_read_lately_are_kept(
    tmp_path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fit; the one read longest ago makes room."""
    monkeypatch.setattr(archive, "KEPT_ENTRIES", 2 * len(entries))
    kept, last = Archive(str(tmp_path)), len(entries)
    games = [f"{number:024x}" for number in range(3)]
    for game in games:
        kept.write(game, last, seal(entries))
    first, second, _ = (kept(game, last) for game in (games[0], games[1], games[0]))
    kept(games[2], last)
    assert kept(games[0], last) is first
    assert kept(games[1], last) is not second


def test_an_address_of_any_kind(tmp_path: Path, entries: list[Entry]) -> None:
    """Here one of files, with the folder below it."""
    place = f"file://{tmp_path}/some/"
    Archive(place).write(GAME, len(entries), seal(entries))
    assert fsspec.filesystem("file").exists(f"{tmp_path}/some/{file_name(GAME, len(entries))}")
    assert entries == Archive(place)(GAME, len(entries))
