"""Archived games are read by all as those in the store: whoever reads sees no difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from domain.commands import PlayCard
from domain.refusals import Refused
from services.archive import file_name
from services.archiver import Archiver
from services.cli_games import export
from services.cli_replay import replay
from services.folded import Table
from services.snapshot import EVERY
from services.store import CorruptStream, Gap, Missed, Once, Replayed, Store
from services.wiring import Services
from tests.support.archived import NOW, anew, files
from tests.support.audited import audit
from tests.support.games import picture


def look(table: Table) -> tuple[object, ...]:
    """All of a table."""
    return picture(table.state), *table[1:]


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
