"""Backups: a house is copied while it is played in, and an empty one goes on from the copy."""

from __future__ import annotations

import re
import stat
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
import redis
from click.testing import CliRunner

from services import backup as copying
from services.backup_file import Game, check_backup, read_backup
from services.cli_backup import backup, restore
from services.cluster import connect_store
from services.once import Key
from services.restore import restore_backup
from services.settings import Settings
from services.store import CorruptStream, connect
from services.wiring import Services, build, now_ms
from tests.support.audited import open_game
from tests.support.backups import (
    NOT_TOLD,
    audited,
    filled,
    move,
    move_of,
    open_with,
    play_out,
    project_all,
    saved,
    settings_in,
)
from tests.support.environs import environ_of


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


@pytest.mark.parametrize("kind", ["redis_url", "cluster_url"])
def test_a_copy_of_another_kind_of_server(
    house: Services, file: Path, tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    """Given Debian's Redis in the place of Valkey, or three nodes, then games are the same there, and can be copied again."""
    anna, token = house.players.create("Anna")
    live, over = open_with(house, anna.id), open_game(house)
    saved(house, file)
    url = request.getfixturevalue(kind)
    place = replace(settings_in(tmp_path / "new", url), queue_url=house.settings.store_url)
    with connect_store(url) as client:
        client.flushall()
        new = filled(place, client, file)
        assert [house.store.read(game) for game in (live, over)] == [
            new.store.read(game) for game in (live, over)
        ]
        assert anna == new.players.by_token(token)
        play_out(new, live, anna.id)
        project_all(new)
        assert 0 == audited(place).exit_code
        assert NOT_TOLD == saved(new, file.with_name("again"))
        assert check_backup(file).end.games == check_backup(file.with_name("again")).end.games


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
