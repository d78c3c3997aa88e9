"""The archive's files: in a folder and behind an address, whole or not at all, and what is told of damaged ones."""

from __future__ import annotations

import gzip
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
import redis

from domain.variants import ruleset_of
from services import archive
from services.archive import MARK, Archive, ArchiveDamaged, ArchiveUnavailable, file_name, is_address
from services.sealed import seal
from services.store import CorruptStream, Entry
from services.wire import Wire
from tests.support.games import play_game

At = Callable[[str], Archive]
GAME = "00112233445566778899aabb"


@pytest.fixture
def at(valkey: redis.Redis) -> At:
    """The archive of one store, as another process would have it each time."""
    return lambda place: Archive(place, Wire(valkey))


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """A finished game."""
    return play_game(ruleset_of({"variant": "standard", "hand_limit": 1}), 5).entries()


@pytest.fixture(params=["folder", "address"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an archive may be."""
    return f"{'' if request.param == 'folder' else 'file://'}{tmp_path}/archive"


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


def test_what_was_written_is_read(at: At, place: str, entries: list[Entry]) -> None:
    """By another process too, and twice written it is the same."""
    last = len(entries)
    for _ in range(2):
        at(place).write(GAME, last, seal(entries))
        assert entries == at(place)(GAME, last) == at(place).fetch(GAME, last)


def test_what_was_dropped_is_gone(at: At, place: str, entries: list[Entry]) -> None:
    """Also from the memory of the process; dropping it again does nothing."""
    kept, last = at(place), len(entries)
    kept.write(GAME, last, seal(entries))
    assert kept(GAME, last)
    for _ in range(2):
        kept.drop(GAME, last)
        with pytest.raises(
            CorruptStream, match=f"events 1 to {last - 1} are not in the store, and the archive has no "
        ):
            kept(GAME, last)


def test_a_damaged_file(at: At, place: str, entries: list[Entry]) -> None:
    """It is told by its name."""
    block = seal(entries)
    for damaged in (block[:-1], b"", gzip.compress(b"{}"), block[:100] + block[101:]):
        at(place).write(GAME, len(entries), damaged)
        with pytest.raises(CorruptStream, match="is damaged") as raised:
            at(place)(GAME, len(entries))
        assert file_name(GAME, len(entries)) in str(raised.value)


def test_what_is_no_file_lets_nobody_wait(at: At, tmp_path: Path, entries: list[Entry]) -> None:
    """Given a pipe in the place of a file, to which nobody writes: the archive cannot be read, at once."""
    archive = at(str(tmp_path / "a"))
    archive.write(GAME, len(entries), seal(entries))
    path = tmp_path / "a" / file_name(GAME, len(entries))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ArchiveUnavailable, match="is no regular file"):
        archive(GAME, len(entries))


def test_a_file_of_another_game(at: At, place: str, entries: list[Entry]) -> None:
    """One that has another number of events than its name says."""
    at(place).write(GAME, 7, seal(entries))
    with pytest.raises(CorruptStream, match=f"has {len(entries)} events"):
        at(place)(GAME, 7)


def test_an_id_that_leads_elsewhere(at: At, place: str, entries: list[Entry]) -> None:
    """No file is written or read outside the archive."""
    for game in ("../x", "a/b", "", "x" * 65):
        with pytest.raises(CorruptStream, match="no game has such an id"):
            at(place)(game, 3)
        with pytest.raises(CorruptStream, match="no game has such an id"):
            at(place).write(game, 3, seal(entries))


def test_files_are_for_the_house_alone(at: At, tmp_path: Path, entries: list[Entry]) -> None:
    """They hold the secret of the chain; no half of one is left beside them."""
    at(str(tmp_path / "a")).write(GAME, len(entries), seal(entries))
    files = sorted(one for one in (tmp_path / "a").rglob("*") if one.is_file())
    assert [tmp_path / "a" / file_name(GAME, len(entries)), tmp_path / "a" / MARK] == files
    assert 0o600 == stat.S_IMODE(files[0].stat().st_mode)
    assert 0o700 == stat.S_IMODE(files[0].parent.stat().st_mode)


def test_a_place_that_cannot_be_used(at: At, tmp_path: Path, entries: list[Entry]) -> None:
    """A file where the folder should be, a scheme that there is not: the archive is not to be had, for now."""
    (tmp_path / "file").write_text("")
    for place in (str(tmp_path / "file"), "nosuchscheme://x/y"):
        with pytest.raises(ArchiveUnavailable, match="the archive cannot be used: "):
            at(place).write(GAME, 3, seal(entries))
        with pytest.raises(ArchiveUnavailable, match="the archive cannot be used: "):
            at(place)(GAME, 3)


def test_a_folder_that_vanished_has_no_games(at: At, place: str) -> None:
    """Which is told of the game, not of the archive."""
    with pytest.raises(CorruptStream, match="the archive has no"):
        at(place)(GAME, 3)


def test_games_read_lately_are_kept(
    at: At, tmp_path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as fit; the one read longest ago makes room."""
    monkeypatch.setattr(archive, "KEPT_ENTRIES", 2 * len(entries))
    kept, last = at(str(tmp_path)), len(entries)
    games = [f"{number:024x}" for number in range(3)]
    for game in games:
        kept.write(game, last, seal(entries))
    first, second, _ = (kept(game, last) for game in (games[0], games[1], games[0]))
    kept(games[2], last)
    assert kept(games[0], last) is first
    assert kept(games[1], last) is not second


def test_an_address_of_any_kind(at: At, tmp_path: Path, entries: list[Entry]) -> None:
    """Here one of files, with the folder below it."""
    place = f"file://{tmp_path}/some/"
    at(place).write(GAME, len(entries), seal(entries))
    assert fsspec.filesystem("file").exists(f"{tmp_path}/some/{file_name(GAME, len(entries))}")
    assert entries == at(place)(GAME, len(entries))


def test_what_was_read_is_kept_for_a_minute(
    at: At, tmp_path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After that, and for whoever reads afresh, the file counts as it is now."""
    kept, last = at(str(tmp_path)), len(entries)
    kept.write(GAME, last, seal(entries))
    kept(GAME, last)
    (tmp_path / file_name(GAME, last)).unlink()
    assert entries == kept(GAME, last)
    with pytest.raises(ArchiveDamaged):
        kept.fetch(GAME, last)
    later = time.monotonic() + archive.KEPT_SECONDS + 1
    monkeypatch.setattr(archive.time, "monotonic", lambda: later)
    with pytest.raises(ArchiveDamaged):
        kept(GAME, last)


# --- the mark


def test_a_store_knows_its_archive(at: At, tmp_path: Path, entries: list[Entry]) -> None:
    """Given a store whose archive is not mounted, or another one's, then it cannot be used, and nothing is said of games."""
    right, last = str(tmp_path / "right"), len(entries)
    at(right).check()
    at(right).write(GAME, last, seal(entries))
    at(right).check()
    for wrong, why in (("gone", "has no file hearts-archive"), ("other", "has the mark of another one")):
        place = tmp_path / wrong
        if wrong == "other":
            place.mkdir()
            (place / MARK).write_text("0" * 32)
        for use in (
            lambda place: at(place).check(),
            lambda place: at(place).write(GAME, last, seal(entries)),
            lambda place: at(place)(GAME, last),
        ):
            with pytest.raises(
                ArchiveUnavailable, match=f"is not the archive of this store, or not mounted: it {why}"
            ):
                use(str(place))


def test_another_place_is_adopted(at: At, tmp_path: Path, entries: list[Entry]) -> None:
    """Also before anything is archived; once more it changes nothing."""
    for name in ("one", "two"):
        assert at(str(tmp_path / name)).adopt()
        assert not at(str(tmp_path / name)).adopt()
        at(str(tmp_path / name)).write(GAME, len(entries), seal(entries))


def test_a_store_from_an_old_copy_knows_its_archive_again(
    at: At, valkey: redis.Redis, tmp_path: Path, entries: list[Entry]
) -> None:
    """Given a store that has lost the mark, then the archive's is its own from the next game on."""
    at(str(tmp_path)).write(GAME, len(entries), seal(entries))
    valkey.delete("h:archive")
    at(str(tmp_path)).check()
    at(str(tmp_path)).write(GAME, len(entries), seal(entries))
    assert (tmp_path / MARK).read_bytes() == valkey.get("h:archive")


def test_two_that_begin_at_the_same_time(
    at: At, tmp_path: Path, entries: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come to one mark."""
    create = archive.Folder.create

    def late(self: archive.Folder, name: str, block: bytes) -> None:
        create(self, name, b"1" * 32)
        create(self, name, block)

    monkeypatch.setattr(archive.Folder, "create", late)
    at(str(tmp_path)).write(GAME, len(entries), seal(entries))
    assert b"1" * 32 == (tmp_path / MARK).read_bytes()
    at(str(tmp_path)).check()
