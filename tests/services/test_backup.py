"""Backups: a house is copied while it is played in, and an empty one goes on from the copy."""

from __future__ import annotations

import gzip
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
import redis
from click.testing import CliRunner, Result

from services import backup as copying
from services import restore as restoring
from services.backup import write_backup
from services.backup_file import BadBackup, Game, check_backup, read_backup
from services.cli_audit import audit
from services.cli_backup import backup, restore
from services.embedded import EmbeddedStore
from services.once import Key
from services.restore import NotEmpty, restore_backup
from services.settings import Settings
from services.store import CorruptStream, RestoreUnfinished, connect
from services.wiring import Services, build, now_ms
from tests.support.audited import open_game
from tests.support.backups import move, move_of, open_with, play_out, project_all, settings_in
from tests.support.environs import environ_of

NOT_TOLD: list[str] = []


@pytest.fixture
def house(valkey: redis.Redis, valkey_url: str, tmp_path: Path) -> Services:
    """A house that is copied."""
    return build(settings_in(tmp_path / "old", valkey_url))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where its copy is to be."""
    return tmp_path / "house.backup"


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    """Where another house may be."""
    return settings_in(tmp_path / "new")


@pytest.fixture
def empty(place: Settings) -> Iterator[redis.Redis]:
    """Its store, in which nothing is yet."""
    with EmbeddedStore(place.data, fsync="everysec") as store, connect(store.url) as client:
        yield client


def filled(place: Settings, client: redis.Redis, file: Path) -> Services:
    """The other house, filled from the copy, without a word of anything wrong, and projected."""
    told: list[str] = []
    restore_backup(place, client, file, now_ms, told.append)
    assert NOT_TOLD == told
    services = build(place)
    project_all(services)
    return services


def audited(place: Settings) -> Result:
    """`hearts audit --all` there."""
    return CliRunner().invoke(audit, ["--all", "-q"], env=environ_of(place))


def saved(house: Services, file: Path) -> list[str]:
    """The house copied to the file; what was told of it."""
    told: list[str] = []
    write_backup(house, file, told.append)
    return told


def test_a_house_goes_on_from_its_copy(
    house: Services, file: Path, place: Settings, empty: redis.Redis
) -> None:
    """Given games in play, over and archived, players and answers under keys, then all of it is there, and holds."""
    anna, token = house.players.create("Anna")
    live, over, old = open_with(house, anna.id), open_with(house, anna.id), open_game(house)
    waiting = open_game(house, most=20)
    key = Key(anna.id, "POST /moves", "k", "f")
    answer = move(house, live, anna.id, key)
    play_out(house, over, anna.id)
    project_all(house)
    assert house.archiver is not None
    assert house.archiver.archive(old)
    assert NOT_TOLD == saved(house, file)

    new = filled(place, empty, file)

    games = [live, over, old, waiting]
    assert {*games} == {*new.store.games()}
    assert [house.store.read(game) for game in games] == [new.store.read(game) for game in games]
    assert (1, 1) == (new.store.first(over), new.store.first(live))
    assert new.store.first(old) == house.store.first(old) > 1
    assert anna == new.players.by_token(token)
    again = new.tables.handle(live, move_of(new, live, anna.id), key=key)
    assert (True, answer.table.seq) == (again.replayed, again.table.seq)
    assert new.store.dues().keys() >= {new.keys.partition(waiting)}
    assert new.log.checkpoint() == house.log.checkpoint()
    assert house.standings.standing(anna.id) == new.standings.standing(anna.id)
    done = audited(place)
    assert (0, "") == (done.exit_code, done.stdout), done.output
    play_out(new, live, anna.id)
    project_all(new)
    assert new.archiver is not None
    assert new.archiver.archive(live)
    assert 0 == audited(place).exit_code


def test_a_copy_is_taken_while_the_house_is_played_in(
    house: Services, file: Path, place: Settings, empty: redis.Redis
) -> None:
    """Given players who come, play and end games all the while, then nobody waits, and the copy holds together."""
    stop, rounds, played = Event(), Event(), list[str]()

    def play() -> None:
        while not stop.is_set():
            player, _ = house.players.create("Bert")
            game = open_with(house, player.id)
            play_out(house, game, player.id)
            project_all(house)
            assert house.archiver is not None
            if len(played) % 3 == 0:
                house.archiver.archive(game)
            played.append(game)
            if len(played) >= 3:
                rounds.set()

    crowd = Thread(target=play)
    crowd.start()
    try:
        assert rounds.wait(60)
        before = len(played)
        assert NOT_TOLD == saved(house, file)
    finally:
        stop.set()
        crowd.join()
    new = filled(place, empty, file)
    assert {*played[:before]} <= {*new.store.games()}
    done = audited(place)
    assert (0, "") == (done.exit_code, done.stdout), done.output


def test_a_copy_of_another_kind_of_server(
    house: Services, file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Given Debian's Redis in the place of Valkey, then the games are the same there."""
    game = open_game(house)
    saved(house, file)
    url = request.getfixturevalue("redis_url")
    place = settings_in(tmp_path / "new", url)
    with connect(url) as client:
        client.flushall()
        new = filled(place, client, file)
        assert house.store.read(game) == new.store.read(game)
        assert 0 == audited(place).exit_code


def test_without_an_archive_all_games_are_in_the_store(
    house: Services, file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Given a house whose settings name no archive, then archived games come back whole."""
    game = open_game(house)
    assert house.archiver is not None
    assert house.archiver.archive(game)
    saved(house, file)
    url = request.getfixturevalue("redis_url")
    place = Settings(data=tmp_path / "new", partitions=4, store_url=url)
    with connect(url) as client:
        client.flushall()
        new = filled(place, client, file)
        assert (1, house.store.read(game)) == (new.store.first(game), new.store.read(game))
        assert 0 == audited(place).exit_code


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


def test_a_copy_that_breaks_off_leaves_nothing(
    house: Services, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a death before the end, or a disk that keeps something else, then there is no file, whole or half."""
    open_game(house, most=20)

    def broken(*_: object) -> None:
        raise OSError("no room")

    for part in ("_ended", "check_backup"):
        with monkeypatch.context() as patch:
            patch.setattr(copying, part, broken)
            with pytest.raises(OSError, match="no room"):
                saved(house, file)
        assert [] == [one for one in file.parent.iterdir() if one.is_file()]
    saved(house, file)
    with pytest.raises(FileExistsError):
        saved(house, file)
    assert check_backup(file).end.games == 1


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


def test_a_damaged_game_is_copied_as_it_is(
    house: Services, file: Path, place: Settings, empty: redis.Redis
) -> None:
    """Given an event that is gone, and a file of the archive, then both are told, and the other games are there."""
    good, holed, lost = open_game(house, most=20), open_game(house, most=20), open_game(house)
    house.client.xdel(house.keys.stream(holed), "5-0")
    assert house.archiver is not None
    assert house.archiver.archive(lost)
    next((house.settings.data / "archive").rglob("*.gz")).unlink()
    told = saved(house, file)
    assert 2 == len(told)
    assert all("is damaged, and is in the backup as it is" in one for one in told)
    again: list[str] = []
    restore_backup(place, empty, file, now_ms, again.append)
    assert 2 == len([one for one in again if "cannot be folded" in one])
    new = build(place)
    assert house.store.read(good) == new.store.read(good)
    with pytest.raises(CorruptStream):
        new.store.read(holed)


def test_what_the_commands_say(
    house: Services, file: Path, place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a house, then its file is for its user alone, and what is in it is told by each command."""
    open_game(house, most=20)
    for name, value in environ_of(house.settings).items():
        monkeypatch.setenv(name, value)
    run = CliRunner().invoke
    done = run(backup, [str(file)])
    assert 0 == done.exit_code, done.output
    assert re.search(
        r": 1 games \(0 of them archived\), \d+ events, 1 entries of the log, 0 players", done.stdout
    )
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert done.stdout == run(backup, ["--check", str(file)]).stdout
    assert "is there already" in run(backup, [str(file)]).stderr
    assert 2 == run(backup, [str(file)]).exit_code
    refused = run(restore, [str(file)])
    assert (2, True) == (refused.exit_code, "the store is not empty" in refused.stderr)
    for name, value in environ_of(place).items():
        monkeypatch.setenv(name, value)
    done = run(restore, [str(file)])
    assert 0 == done.exit_code, done.output
    assert "restored; what was acknowledged after 20" in done.stdout
    file.write_bytes(file.read_bytes()[:-9])
    for command in ([backup, ["--check", str(file)]], [restore, [str(file)]]):
        broken = run(*command)
        assert (2, True) == (broken.exit_code, "cut short" in broken.stderr)


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


def test_a_disk_without_links_keeps_a_copy_as_well(
    house: Services, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does not write over one either."""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refuse)
    saved(house, file)
    before = file.read_bytes()
    with pytest.raises(FileExistsError):
        saved(house, file)
    assert before == file.read_bytes()


def test_records_hold_no_more_than_a_game_each(house: Services, file: Path) -> None:
    """So that a backup of any size is read in little memory."""
    games = {open_game(house, most=20) for _ in range(3)}
    saved(house, file)
    assert games == {one.game for one in read_backup(file) if isinstance(one, Game)}
