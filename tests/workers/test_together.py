"""Turns of the house at several tables with persons are read and stored together, and each is that table's own affair."""

import pytest

from services.folded import follow
from tests.workers.test_pace import Time
from tests.workers.test_seats import move
from workers import seats
from workers.seats import LEASE_MS, Driver

PATIENCE = 20
"""Seconds after which a drive is over."""


def tables_of(house, count: int) -> list[str]:
    """Tables of one partition with a person and three bots each, none of whom has passed."""
    first = house.open(persons=1)
    found = [first]
    while len(found) < count:
        game = house.open(persons=1)
        if house.partition(game) == house.partition(first):
            found.append(game)
    return found


def has_passed(house, game: str) -> list[bool]:
    """Which seats have, by the log alone."""
    state = follow(game, None, house.services.store.read(game)).state
    assert state.hand
    return [given is not None for given in state.hand.passes]


@pytest.fixture
def driver(house, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A driver whose time goes on only while it waits, so that all turns come to their moment together."""
    monkeypatch.setattr(seats, "time", Time())
    return Driver(house.services)


def stored(house, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Notes of the games whose turns are stored, together."""
    notes: list[list[str]] = []
    plain = house.services.store.append_each

    def note(wanted):
        notes.append([one.game for one in wanted])
        return plain(wanted)

    monkeypatch.setattr(house.services.store, "append_each", note)
    return notes


def test_several_tables_are_one_write(house, driver, monkeypatch) -> None:
    """Given tables at which persons wait, when they are driven, then their bots' moves are stored together."""
    games, notes = tables_of(house, 6), stored(house, monkeypatch)
    assert 6 == driver.drive(house.partition(games[0]), PATIENCE)
    assert [[False, True, True, True]] * 6 == [has_passed(house, game) for game in games]
    assert [sorted(games)] == [sorted(note) for note in notes]
    assert not [game for game in games if house.due(game) in (house.clock.now, house.clock.now + LEASE_MS)]


def test_a_person_who_moves_meanwhile(house, driver, monkeypatch) -> None:
    """Given a person who passes after the bots have decided and before that is stored, then all four passes count, once."""
    games = tables_of(house, 4)
    plain = house.services.store.append_each

    def late(wanted):
        monkeypatch.setattr(house.services.store, "append_each", plain)
        move(house, wanted[0].game, 0)
        return plain(wanted)

    monkeypatch.setattr(house.services.store, "append_each", late)
    driver.drive(house.partition(games[0]), PATIENCE)
    passed = [has_passed(house, game) for game in games]
    assert [[False, True, True, True]] * 3 + [[True] * 4] == sorted(passed)
    names = [public for game in games for _, public, _ in house.services.store.read(game)]
    assert 3 * 3 + 4 == sum(b'"t":"cards_passed"' in public for public in names)


def test_one_that_cannot_be_stored_keeps_none_from_the_others(house, driver, monkeypatch, caplog) -> None:
    """Given a table whose stream is spoilt after its turn was worked out, then it alone is put off."""
    games = tables_of(house, 4)
    plain = house.services.store.append_each

    def spoil(wanted):
        monkeypatch.setattr(house.services.store, "append_each", plain)
        key = house.services.keys.stream(wanted[0].game)
        house.services.client.delete(key)
        house.services.client.set(key, "no stream")
        bad.append(wanted[0].game)
        return plain(wanted)

    bad: list[str] = []
    monkeypatch.setattr(house.services.store, "append_each", spoil)
    driver.drive(house.partition(games[0]), PATIENCE)
    good = [game for game in games if game not in bad]
    assert [[False, True, True, True]] * 3 == [has_passed(house, game) for game in good]
    assert house.clock.now + LEASE_MS == house.due(bad[0])
    assert 1 == len([record for record in caplog.records if bad[0] in record.getMessage()])


def test_an_answer_that_is_lost(house, driver, monkeypatch) -> None:
    """Given turns that were stored while nobody heard of it, when the tables are driven again, then nothing is done twice."""
    games = tables_of(house, 4)
    plain = house.services.store.append_each
    monkeypatch.setattr(house.services.store, "append_each", lambda w: [False for _ in plain(w)])
    driver.drive(house.partition(games[0]), PATIENCE)
    monkeypatch.undo()
    house.clock.now += LEASE_MS
    driver.drive(house.partition(games[0]), PATIENCE)
    names = [public for game in games for _, public, _ in house.services.store.read(game)]
    assert 4 * 3 == sum(b'"t":"cards_passed"' in public for public in names)
