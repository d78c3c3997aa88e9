"""Games that have been over for long enough go into the archive by themselves, and nobody waits for that."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from services.archiver import HOUR_MS
from services.wiring import build
from tests.support.audited import project
from tests.workers.conftest import House
from workers import aging
from workers.aging import Aging


@pytest.fixture
def archiving(house: House, tmp_path: Path) -> House:
    """A house with an archive."""
    settings = dataclasses.replace(house.services.settings, archive=str(tmp_path / "archive"))
    return House(build(settings, clock=house.clock), house.clock)


def finished(house: House) -> str:
    """A game of bots that is over."""
    game = house.open(hand_limit=1)
    house.services.tables.act_for_house(game, 10_000)
    project(house.services, game)
    return game


def test_a_job_is_asked_for_where_games_are_ripe(archiving: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given games that have been over for a day, then one job in each of their partitions moves them, and no other does."""
    services, asking = archiving.services, Aging(archiving.services)
    games = [finished(archiving) for _ in range(3)]
    asking.ask()
    assert [] == services.queue.waiting(), "they have only just ended"
    archiving.clock.now += 24 * HOUR_MS
    asking.ask()
    assert [] == services.queue.waiting(), "it has looked a moment ago"
    monkeypatch.setattr(aging, "LOOK_SECONDS", 0.0)
    asking = Aging(services)
    partitions = {archiving.partition(game) for game in games}
    for _ in range(2):
        asking.ask()
        assert {f"archive-{partition}" for partition in partitions} == {*services.queue.waiting()}
        assert len(partitions) == len(services.queue.waiting())
    assert 3 == sum(aging.archive(services, partition) for partition in partitions)
    assert [1, 1, 1] == [services.client.xlen(services.keys.stream(game)) for game in games]


def test_persons_go_first(archiving: House) -> None:
    """Given an urgent job in the queue, then archiving ends before the next game."""
    game = finished(archiving)
    archiving.clock.now += 24 * HOUR_MS
    archiving.services.queue.enqueue("serve", 0, unique="0")
    assert 0 == aging.archive(archiving.services, archiving.partition(game))


def test_without_an_archive(house: House) -> None:
    """Nothing is asked for, and a job that comes from elsewhere does nothing."""
    assert house.services.archiver is None
    game = finished(house)
    house.clock.now += 1000 * HOUR_MS
    Aging(house.services).ask()
    assert [] == house.services.queue.waiting()
    assert 0 == aging.archive(house.services, house.partition(game))
