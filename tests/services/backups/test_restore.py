"""A backup is put into an empty house, whole or not at all."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from services import restore as restoring
from services.backup_file import BadBackup, read_backup
from services.restore import NotEmpty, restore_backup
from services.settings import Settings
from services.store import RestoreUnfinished
from services.wiring import Services, build, now_ms
from tests.support.audited import open_game
from tests.support.backups import (
    audited,
    filled,
    open_with,
    project_all,
    saved,
)


def longer(data: bytes) -> bytes:
    """With something behind its end."""
    return data + gzip.compress(b"more")


def changed(data: bytes) -> bytes:
    """With one byte of a record changed, packed again, so that gzip has nothing to say."""
    plain = bytearray(gzip.decompress(data))
    plain[len(plain) // 2] ^= 1
    return gzip.compress(bytes(plain))


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "longer": longer,
    "changed": changed,
    "without its end": lambda data: data[:-20],
    "half": lambda data: data[: len(data) // 2],
    "nothing": lambda _: b"",
    "text": lambda _: b"no backup",
    "packed text": lambda _: gzip.compress(b"no backup"),
    "without its last record": lambda data: gzip.compress(gzip.decompress(data)[:-60]),
    "no length": lambda _: gzip.compress(b"\xff" * 100),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_damaged_copy_is_refused(
    house: Services, file: Path, place: Settings, empty: redis.Redis, spoil: Callable[[bytes], bytes]
) -> None:
    """And nothing is written."""
    open_game(house, most=20)
    saved(house, file)
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(BadBackup):
        restore_backup(place, empty, file, now_ms, pytest.fail)
    assert 0 == empty.dbsize()
    assert not place.key_path.exists()


def test_a_restore_that_breaks_off_is_begun_again(
    house: Services, file: Path, place: Settings, empty: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a death before each record, then no house starts on what is there, and in the end all is as if there was none."""
    anna, _ = house.players.create("Anna")
    live, old = open_with(house, anna.id), open_game(house)
    project_all(house)
    assert house.archiver is not None
    assert house.archiver.archive(old)
    saved(house, file)
    records = len(list(read_backup(file)))
    put = restoring._Restorer.put
    for last in range(0, records, 2):
        left = [last]

        def dying(self: restoring._Restorer, record: object, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            put(self, record)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(restoring._Restorer, "put", dying)
            with pytest.raises(KeyboardInterrupt):
                restore_backup(place, empty, file, now_ms, pytest.fail)
        with pytest.raises(RestoreUnfinished):
            build(place)
    new = filled(place, empty, file)
    assert house.store.read(live) == new.store.read(live)
    assert house.store.read(old) == new.store.read(old)
    assert house.log.checkpoint() == new.log.checkpoint()
    done = audited(place)
    assert (0, "") == (done.exit_code, done.stdout), done.output


def test_another_copy_does_not_go_on_where_one_broke_off(
    house: Services, file: Path, place: Settings, empty: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its games might be other ones."""
    saved(house, file)
    monkeypatch.setattr(restoring._Restorer, "end", lambda _: None)
    restore_backup(place, empty, file, now_ms, pytest.fail)
    open_game(house)
    other = file.with_name("other")
    saved(house, other)
    with pytest.raises(NotEmpty, match="another backup"):
        restore_backup(place, empty, other, now_ms, pytest.fail)


def test_only_an_empty_house_is_filled(
    house: Services, file: Path, place: Settings, empty: redis.Redis
) -> None:
    """Given a store with anything in it, another key, another archive or another number of partitions: nothing is changed."""
    saved(house, file)
    empty.set("h:rate:x", 1)
    with pytest.raises(NotEmpty, match="the store is not empty"):
        restore_backup(place, empty, file, now_ms, pytest.fail)
    empty.flushall()
    place.key_path.write_text("ab" * 32 + "\n")
    with pytest.raises(NotEmpty, match="another server's key"):
        restore_backup(place, empty, file, now_ms, pytest.fail)
    place.key_path.unlink()
    archive = place.data / "archive"
    archive.mkdir()
    (archive / "hearts-archive").write_text("another")
    with pytest.raises(NotEmpty, match="the archive of another store"):
        restore_backup(place, empty, file, now_ms, pytest.fail)
    wide = Settings(data=place.data, partitions=5)
    with pytest.raises(BadBackup, match="HEARTS_PARTITIONS=4"):
        restore_backup(wide, empty, file, now_ms, pytest.fail)
    assert 0 == empty.dbsize()


def test_what_is_missing_since_then_is_told(
    house: Services, file: Path, place: Settings, empty: redis.Redis
) -> None:
    """Given a key folder that outlived the store, then what it says was signed is compared with the copy."""
    open_game(house)
    house.log.checkpoint()
    saved(house, file)
    open_game(house)
    house.log.checkpoint()
    place.key_path.write_bytes(house.settings.key_path.read_bytes())
    place.signed_path.write_bytes(house.settings.signed_path.read_bytes())
    told: list[str] = []
    restore_backup(place, empty, file, now_ms, told.append)
    assert 1 == len(told)
    assert (
        "a log of 4 leaves was signed, and the backup has 2: 2 locks and ends of games are missing" in told[0]
    )


def test_a_token_whose_player_could_not_end_it_is_left_out(
    house: Services, file: Path, place: Settings, empty: redis.Redis
) -> None:
    """Given one that was made, or ended, while players were copied, then it opens nothing."""
    anna, token = house.players.create("Anna")
    bert, lost = house.players.create("Bert")
    house.client.delete(house.keys.tokens(bert.id))
    saved(house, file)
    new = filled(place, empty, file)
    assert anna == new.players.by_token(token)
    assert new.players.by_token(lost) is None
