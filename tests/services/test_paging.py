"""Pages and moments of a long game: what they take, and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from domain.variants import ruleset_of
from services import paging
from services.folded import Table, follow
from services.paging import MOST_STATIONS, STEP, EventPages
from services.store import PAGE, Entry, Store
from tests.support.clock import Clock
from tests.support.handler import BOT, tables_on


def long_game(log: Store, clock: Clock, events: int, seed: int = 1) -> str:
    """A game of bots of at least so many events."""
    tables = tables_on(log, clock, seed)
    table = tables.open(ruleset_of({"variant": "basic", "target": 100_000}), [BOT] * 4).table
    while table.seq < events:
        table = tables.act_for_house(table.state.game, 64)
    return table.state.game


def test_what_is_read_is_what_the_log_says(log: Store, clock: Clock) -> None:
    """In any order, across pages and stations, a moment is the fold of the events up to it."""
    game = long_game(log, clock, PAGE + 200)
    pages, stored, rng = EventPages(log), log.read(game), Random(3)
    for seq in [PAGE, PAGE - 1, PAGE + 1, 1, len(stored), *(rng.randint(1, len(stored)) for _ in range(20))]:
        then, expected = pages.table(game, seq), follow(game, None, stored[:seq])
        assert expected[1:] == then[1:]
        items = pages.read(game, seq, 3, None)
        assert [entry[:2] for entry in stored[seq : seq + 3]] == [(one.seq, one.public) for one in items]


def test_looking_about_in_a_long_game_folds_few_events(
    log: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a page was looked into, a moment in it takes the events since the last station, however long the game is."""
    game = long_game(log, clock, 2 * PAGE + 500)
    pages, folded = EventPages(log), 0
    pages.table(game, 2 * PAGE + 499)

    def counting(game: str, known: Table | None, entries: Sequence[Entry]) -> Table:
        nonlocal folded
        folded += len(entries)
        return follow(game, known, entries)

    monkeypatch.setattr(paging, "follow", counting)
    for seq in range(2 * PAGE + 1, 2 * PAGE + 500):
        folded = 0
        pages.table(game, seq)
        assert folded < STEP


def test_a_station_that_the_log_no_longer_leads_to_does_not_count(log: Store, clock: Clock) -> None:
    """The store lost its tail and the game went another way: the moments are those of the way it went."""
    game = long_game(log, clock, 3 * STEP)
    pages, whole = EventPages(log), log.read(game)
    pages.table(game, 3 * STEP)
    cut = [(public, hidden) for _, public, hidden in whole[: STEP + 5]]
    log.client.delete(log.keys.stream(game), log.keys.snapshot(game))
    log.append(game, 0, cut, now=1, due=None)
    clock.now += 5_000
    there = tables_on(log, clock, 9)
    while there.load(game).seq < 3 * STEP:
        there.act_for_house(game, 8)
    stored = log.read(game)
    assert whole[2 * STEP - 1] != stored[2 * STEP - 1]
    for seq in (3 * STEP, 2 * STEP, STEP + 6, STEP):
        assert follow(game, None, stored[:seq]).head == pages.table(game, seq).head


def test_few_stations_are_kept(log: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used goes first, and what was forgotten is worked out again."""
    assert MOST_STATIONS >= PAGE // STEP
    monkeypatch.setattr(paging, "MOST_STATIONS", 3)
    games = [long_game(log, clock, 2 * STEP + 1, seed) for seed in (1, 2, 3)]
    pages = EventPages(log)
    for game in games * 2:
        assert follow(game, None, log.read(game, 0, 2 * STEP)).head == pages.table(game, 2 * STEP).head
    assert [(games[1], 2 * STEP), (games[2], STEP), (games[2], 2 * STEP)] == list(pages._stations)
    for game in games:
        pages.drop(game)
    assert (not pages._stations, not pages._places) == (True, True)
