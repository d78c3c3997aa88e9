"""Which finished games are moved into the archive, and that nothing is lost on the way, whatever happens there."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from domain.variants import ruleset_of
from services.archive import Archive, ArchiveUnavailable, file_name
from services.archiver import HOUR_MS, Archiver, NotArchived
from services.owed import next_due
from services.proof import proof_lines
from services.sealed import proof_text, seal
from services.store import Entry, Store
from services.tables import UnknownGame
from services.wiring import Services
from tests.support.archived import HOURS, NOW, anew, files
from tests.support.audited import BOT, PERSON, audit, open_game, project, told
from tests.support.clock import Clock
from tests.support.duplicates import duplicate
from tests.support.proofs import stored
from tests.support.tampering import change

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
    own = Archiver(
        services.store, Archive(services.settings.archive, services.store.wire), services.log.tree, 0, clock
    )
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
        Archive(services.settings.archive, services.store.wire).write(
            one, len(entries), seal(theirs[: len(entries)])
        )
    else:
        forged = [(seq, public.replace(b'"by":"bot"', b'"by":"clock"'), hid) for seq, public, hid in entries]
        Archive(services.settings.archive, services.store.wire).write(one, len(entries), seal(forged))
    report = audit(anew(services), one)
    assert not report.ok
    wanted = {
        "gone": "the archive has no ",
        "cut": "is damaged",
        "another game's": "the archive",
        "changed": "event",
    }
    assert wanted[damage] in told(report)
    assert audit(anew(services), other).ok


@pytest.mark.parametrize("seq", [1, 9, -2, -1])
def test_the_audit_names_the_event_that_was_changed_in_a_file(
    services: Services, archiver: Archiver, tmp_path: Path, seq: int
) -> None:
    """Given that somebody unpacked the file, changed the time of an event and packed it again."""
    game = open_game(services)
    last = len(services.store.read(game))
    archiver.archive(game)
    path = tmp_path / "archive" / file_name(game, last)
    text = proof_text(path.read_bytes())
    lines = text.split(b"\n")
    wanted = seq % (last + 1)
    at = re.search(rb'"at":[0-9]+', lines[wanted])
    assert at is not None
    lines[wanted] = lines[wanted].replace(at[0], at[0][:-1] + (b"1" if at[0][-1:] != b"1" else b"2"))
    path.write_bytes(
        path.read_bytes().replace(gzip.compress(text, mtime=0), gzip.compress(b"\n".join(lines)))
    )
    report = audit(anew(services), game)
    assert [wanted] == [one.event for one in report.problems]
    assert f"its heads say that event {wanted} was another one" in told(report)


@pytest.mark.parametrize("lie", ["another game's", "a card", "a time", "no secrets"])
def test_a_file_that_does_not_hold_is_not_moved_back(
    services: Services, archiver: Archiver, tmp_path: Path, lie: str
) -> None:
    """Given a file that was changed, then store and file stay as they are, and the right one can be moved back."""
    game, other = (open_game(services, hand_limit=2) for _ in range(2))
    entries, theirs = services.store.read(game), services.store.read(other)
    last = len(entries)
    archiver.archive(game)
    path = tmp_path / "archive" / file_name(game, last)
    right = path.read_bytes()
    if lie == "another game's":
        forged = theirs[:last] + entries[len(theirs) :]
    elif lie == "no secrets":
        forged = [(seq, public, b"") for seq, public, _ in entries]
    else:
        old, new = (b'"card":"2C"', b'"card":"3C"') if lie == "a card" else (b'"at":1', b'"at":2')
        forged = [(seq, public.replace(old, new, 1), hid) for seq, public, hid in entries[:-1]] + entries[-1:]
    block = proof_block(forged) if lie == "no secrets" else seal(forged)
    path.write_bytes(block)
    assert not audit(anew(services), game).ok
    with pytest.raises(NotArchived):
        anew(services).archiver.restore(game)
    assert (1, block) == (services.client.xlen(services.keys.stream(game)), path.read_bytes())
    path.write_bytes(right)
    assert anew(services).archiver.restore(game)
    assert entries == services.store.read(game)
    assert audit(anew(services), game).ok


def proof_block(entries: list[Entry]) -> bytes:
    """A sealed game without the member of what its proof does not reveal."""
    return gzip.compress(b"".join(proof_lines(entries)), mtime=0)


def test_nothing_is_moved_or_read_where_the_mark_is_missing(
    services: Services, archiver: Archiver, game: str, tmp_path: Path
) -> None:
    """Given an archive whose mark is gone, or another one's, then no game of it is read, moved back or dropped."""
    last = services.store.last(game)
    archiver.archive(game)
    mark, path = tmp_path / "archive" / "hearts-archive", tmp_path / "archive" / file_name(game, last)
    right = mark.read_bytes()
    for wrong in (None, b"f" * 32):
        mark.unlink()
        if wrong:
            mark.write_bytes(wrong)
        house = anew(services)
        for use in (house.archiver.restore, house.archiver.archive, house.store.read):
            with pytest.raises(ArchiveUnavailable, match="is not the archive of this store"):
                use(game)
        assert path.exists()
        mark.write_bytes(right)
    assert anew(services).archiver.restore(game)
