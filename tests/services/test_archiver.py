"""Finished games moved into the archive and back: whoever reads them sees no difference, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from domain.commands import PlayCard
from domain.refusals import Refused
from domain.variants import ruleset_of
from services.archive import Archive, file_name
from services.archiver import HOUR_MS, Archiver, NotArchived
from services.cli_archive import archive_group
from services.cli_games import export
from services.cli_replay import replay
from services.folded import Table
from services.owed import next_due
from services.sealed import seal
from services.settings import Settings
from services.snapshot import EVERY
from services.store import CorruptStream, Gap, Missed, Once, Replayed, Store
from services.tables import UnknownGame
from services.wiring import Services, build
from tests.support.audited import BOT, PERSON, audit, open_game, project, told
from tests.support.clock import Clock
from tests.support.duplicates import duplicate
from tests.support.environs import environ_of
from tests.support.games import picture
from tests.support.proofs import stored
from tests.support.tampering import change

NOW = 1_772_323_200_000
HOURS = 24


@pytest.fixture
def clock() -> Clock:
    """The time."""
    return Clock(NOW)


@pytest.fixture
def services(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Services:
    """Services on an empty store, which commands are led to by their settings."""
    settings = Settings(
        data=tmp_path,
        partitions=4,
        store_url=valkey_url,
        archive=str(tmp_path / "archive"),
        archive_hours=HOURS,
    )
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    return build(settings, clock=clock)


@pytest.fixture
def archiver(services: Services) -> Archiver:
    """Who moves games."""
    assert services.archiver is not None
    return services.archiver


@pytest.fixture
def game(services: Services) -> str:
    """A finished game of some hands."""
    return open_game(services, hand_limit=3)


def files(tmp_path: Path) -> list[str]:
    """What is in the archive."""
    folder = tmp_path / "archive"
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


def anew(services: Services) -> Services:
    """Services of another process."""
    return build(services.settings, clock=services.clock)


def look(table: Table) -> tuple[object, ...]:
    """All of a table."""
    return picture(table.state), *table[1:]


# --- whoever reads sees no difference


def test_a_game_is_read_as_before(services: Services, archiver: Archiver, game: str, tmp_path: Path) -> None:
    """The store has its last event alone; every reader gets all of them, in any piece, to the byte."""
    entries = services.store.read(game)
    last = len(entries)
    assert archiver.archive(game)
    assert 1 == services.client.xlen(services.keys.stream(game))
    assert not services.client.exists(services.keys.snapshot(game))
    assert [file_name(game, last)] == files(tmp_path)
    store = anew(services).store
    assert entries == store.read(game)
    assert (last, last) == (store.first(game), store.last(game))
    for after in (0, 1, 7, last - 2, last - 1, last, last + 3):
        assert entries[after:] == store.read(game, after)
        assert [entries[after:][:1000]] == store.read_many([(game, after)])
        for upto in (1, 5, last - 1, last, last + 4):
            assert entries[after:upto] == store.read(game, after, upto)
    for recent in (1, EVERY, last + 1):
        assert (b"", entries) == store.load(game, recent)
    assert [game] == [*store.games()]


def test_the_table_the_audit_and_every_past_are_as_before(
    services: Services, archiver: Archiver, game: str
) -> None:
    """Given a table that other processes know and do not know, then they see the same, at any seq."""
    before = services.tables.load(game)
    report = audit(services, game)
    seqs = (1, 30, before.seq - 1)
    pasts = [look(services.tables.at(game, seq)) for seq in seqs]
    archiver.archive(game)
    for house in (services, anew(services)):
        assert look(before) == look(house.tables.load(game))
        assert pasts == [look(house.tables.at(game, seq)) for seq in seqs]
        again = audit(house, game)
        assert again.ok
        assert (report.seq, report.head, report.claims) == (again.seq, again.head, again.claims)


def test_an_archived_game_is_exported_and_replayed_by_the_same_commands(
    services: Services, archiver: Archiver, game: str
) -> None:
    """Whose output is the same as before."""

    def shown() -> list[bytes]:
        done = [CliRunner().invoke(export, [game]), CliRunner().invoke(replay, [game])]
        assert [0, 0] == [one.exit_code for one in done]
        return [done[0].stdout_bytes.rpartition(b'{"checkpoint"')[0], done[1].stdout_bytes]

    before = shown()
    archiver.archive(game)
    assert before == shown()


def test_commands_are_refused_as_at_any_finished_table(
    services: Services, archiver: Archiver, game: str
) -> None:
    """By processes that knew it, and by those that read it from the archive."""
    archiver.archive(game)
    for house in (services, anew(services)):
        with pytest.raises(Refused, match="over"):
            house.tables.handle(game, PlayCard(who=0, card=1))


def test_writers_that_are_late_are_told_what_they_missed(
    services: Services, archiver: Archiver, game: str
) -> None:
    """Given writers who know no event, some, or all but the last, then they get those; who knows more than all has a gap."""
    entries = services.store.read(game)
    last = len(entries)
    archiver.archive(game)
    event = (b'{"n":1}', b"")
    for expected in (0, 5, last - 1):
        got = services.store.append(game, expected, [event], now=NOW, due=None)
        assert Missed(entries[expected:][:1000]) == got
    with pytest.raises(Gap):
        services.store.append(game, last + 1, [event], now=NOW, due=None)
    assert entries == services.store.read(game)


def test_an_answer_is_still_given_again(services: Services, archiver: Archiver, game: str) -> None:
    """An idempotency key outlives the move into the archive."""
    once = Once(b"key", b"answer")
    last = services.store.last(game)
    services.store.append(game, last, [(b"x", b"")], now=NOW, due=None, once=once)
    services.client.xdel(services.keys.stream(game), f"{last + 1}-0")
    archiver.archive(game)
    got = services.store.append(game, last, [(b"y", b"")], now=NOW, due=None, once=once)
    assert Replayed(b"answer") == got


def test_what_comes_behind_an_archived_game_is_read_behind_it(
    services: Services, archiver: Archiver, game: str
) -> None:
    """Given that something were appended to it after all, then nobody misses anything."""
    entries = services.store.read(game)
    archiver.archive(game)
    more = [(b'{"n":1}', b""), (b'{"n":2}', b"s")]
    services.store.append(game, len(entries), more, now=NOW, due=None)
    assert [*entries, *((len(entries) + at, *one) for at, one in enumerate(more, 1))] == services.store.read(
        game
    )
    assert 3 == services.client.xlen(services.keys.stream(game))


def test_a_process_without_the_archive_says_so(services: Services, archiver: Archiver, game: str) -> None:
    """It does not take the one event for the game."""
    archiver.archive(game)
    with pytest.raises(CorruptStream, match="HEARTS_ARCHIVE"):
        Store(services.client, services.keys).read(game)


# --- which games are moved


def test_only_what_has_been_over_for_long_is_moved(
    services: Services, archiver: Archiver, clock: Clock
) -> None:
    """Given games that ended, then they are due after the hours of the settings, the oldest first."""
    early = open_game(services)
    clock.now += HOUR_MS
    late = open_game(services)
    open_game(services, PERSON)
    assert (2, []) == (archiver.waiting(), archiver.ripe())
    clock.now = NOW + HOURS * HOUR_MS
    assert [services.keys.partition(early)] == archiver.ripe()
    clock.now += HOUR_MS
    assert {services.keys.partition(one) for one in (early, late)} == {*archiver.ripe()}
    moved = [archiver.work(partition, 60.0) for partition in range(4)]
    assert 2 == sum(moved)
    assert (0, []) == (archiver.waiting(), archiver.ripe())


def test_by_hand_alone(services: Services, game: str, clock: Clock) -> None:
    """Given no hours, then nothing is moved before somebody asks for it."""
    assert services.settings.archive
    own = Archiver(services.store, Archive(services.settings.archive), services.log.tree, 0, clock)
    clock.now += 1000 * HOUR_MS
    assert [] == own.ripe()
    assert own.archive(game)


def test_a_game_that_goes_on_is_not_moved(services: Services, archiver: Archiver, tmp_path: Path) -> None:
    """Nor one whose hands are sealed until other tables have played them, nor one that there is not."""
    playing = open_game(services, PERSON)
    with pytest.raises(NotArchived, match="it is not over"):
        archiver.archive(playing)
    sealed = duplicate("never")
    state = sealed.end
    services.store.append(state.game, 0, [one[1:] for one in stored(sealed.events)], now=NOW, due=None)
    assert state.phase == "over"
    assert next_due(state, NOW) is None
    with pytest.raises(NotArchived, match="sealed until other tables"):
        archiver.archive(state.game)
    with pytest.raises(UnknownGame):
        archiver.archive("nosuchgame")
    assert [] == files(tmp_path)


@pytest.mark.parametrize("name", ["hand_dealt", "card_played", "hand_scored", "game_ended"])
def test_a_game_that_was_tampered_with_stays(
    services: Services, archiver: Archiver, game: str, clock: Clock, tmp_path: Path, name: str
) -> None:
    """What does not hold stays in the store, is told in the log, and tried again later."""
    at = change(services, game, name, lambda raw: raw.replace(b'"at":1', b'"at":2'))
    clock.now += HOURS * HOUR_MS
    partition = services.keys.partition(game)
    assert 0 == archiver.work(partition, 60.0)
    assert ([], 1) == (archiver.ripe(), archiver.waiting())
    assert (at, []) == (at, files(tmp_path))
    clock.now += HOURS * HOUR_MS
    assert [partition] == archiver.ripe()


def test_a_job_ends_when_others_wait_or_its_time_is_over(
    services: Services, archiver: Archiver, clock: Clock
) -> None:
    """It moves one game after another, and goes on next time where it was."""
    games = [open_game(services) for _ in range(12)]
    clock.now += HOURS * HOUR_MS
    partition = max(range(4), key=[services.keys.partition(one) for one in games].count)
    before = archiver.waiting()
    assert 0 == archiver.work(partition, 60.0, lambda: True)
    assert 0 == archiver.work(partition, -1.0)
    asked = iter([False, True])
    assert 1 == archiver.work(partition, 60.0, lambda: next(asked))
    assert before - 1 == archiver.waiting()


# --- dying on the way, and damage


def test_who_dies_on_the_way_leaves_a_game_that_is_moved_again(
    services: Services, archiver: Archiver, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a death after the file was written, and one after the stream was trimmed, then nothing is lost or doubled."""
    entries = services.store.read(game)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("fetch", "trim"):
        with monkeypatch.context() as patch:
            patch.setattr(Archive if step == "fetch" else Store, step, die)
            with pytest.raises(KeyboardInterrupt):
                archiver.archive(game)
        assert entries == Store(services.client, services.keys).read(game)
    assert archiver.archive(game)
    assert entries == services.store.read(game)
    assert not archiver.archive(game)
    assert entries == anew(services).store.read(game)
    assert 0 == archiver.waiting()


def test_a_game_whose_end_is_not_in_the_transparency_log_stays(
    services: Services, archiver: Archiver
) -> None:
    """It waits until the projector has seen to that."""
    game = services.tables.open(
        ruleset_of({"variant": "standard", "hand_limit": 1}), [BOT] * 4
    ).table.state.game
    services.tables.act_for_house(game, 10_000)
    with pytest.raises(NotArchived, match="does not have all of its leaves yet"):
        archiver.archive(game)
    project(services, game)
    assert archiver.archive(game)


def test_what_is_read_back_must_be_what_was_there(
    services: Services, archiver: Archiver, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a disk that keeps something else, then the game stays in the store."""
    entries = services.store.read(game)
    right = Archive.write

    def lie(self: Archive, game: str, last: int, block: bytes) -> None:
        right(self, game, last, block[:-1] + bytes([block[-1] ^ 1]))

    monkeypatch.setattr(Archive, "write", lie)
    with pytest.raises(NotArchived, match="is damaged"):
        archiver.archive(game)
    assert entries == Store(services.client, services.keys).read(game)


def test_a_game_that_goes_on_meanwhile_is_not_cut(
    services: Services, archiver: Archiver, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an append between the copy and the trim, then the stream stays whole."""
    entries = services.store.read(game)
    trim = Store.trim

    def late(self: Store, game: str, last: int) -> bool:
        self.append(game, last, [(b'{"n":1}', b"")], now=NOW, due=None)
        return trim(self, game, last)

    monkeypatch.setattr(Store, "trim", late)
    with pytest.raises(NotArchived, match="gone on meanwhile"):
        archiver.archive(game)
    assert len(entries) + 1 == services.client.xlen(services.keys.stream(game))


@pytest.mark.parametrize("damage", ["gone", "cut", "another game's", "changed"])
def test_the_audit_finds_a_damaged_archive(
    services: Services, archiver: Archiver, tmp_path: Path, damage: str
) -> None:
    """Given an archived game whose file is gone, cut, another game's or forged, then its audit fails and says so."""
    one, other = (open_game(services) for _ in range(2))
    assert audit(services, one).ok
    entries = services.store.read(one)
    for game in (one, other):
        archiver.archive(game)
    path = tmp_path / "archive" / file_name(one, len(entries))
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "another game's":
        theirs = services.store.read(other)
        Archive(services.settings.archive).write(one, len(entries), seal(theirs[: len(entries)]))
    else:
        forged = [(seq, public.replace(b'"by":"bot"', b'"by":"clock"'), hid) for seq, public, hid in entries]
        Archive(services.settings.archive).write(one, len(entries), seal(forged))
    report = audit(anew(services), one)
    assert not report.ok
    wanted = {
        "gone": "there is no ",
        "cut": "is damaged",
        "another game's": "the archive",
        "changed": "event",
    }
    assert wanted[damage] in told(report)
    assert audit(anew(services), other).ok


# --- back again


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
