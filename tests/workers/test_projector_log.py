"""The projector as the writer of the transparency log: each leaf once, whatever dies, and never in the others' way."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from services.keys import Keys
from services.leaves import find_leaves
from services.store import StoreUnavailable
from services.translog import TransparencyLog
from workers.projector import Projector


def projector(house: Any, **options: int) -> Projector:
    """A projector that does not wait for news."""
    services = house.services
    one = Projector(
        services.store, services.feed, services.projections, services.clock, block_ms=1, **options
    )
    one.begin()
    return one


def work_off(one: Projector) -> None:
    """Let a projector fold all there is."""
    while one.round():
        pass


def play(house: Any, game: str) -> None:
    """Let the bots of a game play it to its end."""
    house.services.tables.act_for_house(game, 10_000)


def leaves(house: Any) -> list[Any]:
    """All leaves of the log."""
    return [leaf for _, leaf in house.services.log.tree.every_leaf()]


def of_events(house: Any, game: str) -> list[Any]:
    """The leaves that a game's events add."""
    return find_leaves(game, house.services.store.read(game))


def test_a_game_adds_a_leaf_at_its_lock_and_one_at_its_end(house: Any) -> None:
    """Given a table of bots, when it is locked and when it ends, then its leaves have the heads of those events."""
    one = projector(house)
    waiting = house.open(persons=1, ready=False)
    work_off(one)
    assert [] == leaves(house)
    game = house.open(hand_limit=1)
    work_off(one)
    assert ["lock"] == [leaf.kind for leaf in leaves(house)]
    play(house, game)
    work_off(one)
    assert of_events(house, game) == leaves(house)
    assert ["lock", "end"] == [leaf.kind for leaf in leaves(house)]
    table = house.services.tables.load(game)
    assert (table.seq, table.head) == (leaves(house)[1].seq, leaves(house)[1].head)
    assert [] == house.services.log.tree.of_game(waiting)


def test_what_is_delivered_again_adds_nothing(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given that a projector dies after the leaves and before the rest, then the next one adds them no second time."""
    game = house.open(hand_limit=1)
    play(house, game)
    first = projector(house, stale_ms=0)

    def die(*_: object) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(first._projections, "write", die)
        with pytest.raises(StoreUnavailable):
            work_off(first)
    assert of_events(house, game) == leaves(house)
    assert house.summary(game) is None
    second = projector(house, stale_ms=0)
    second._claim_at = 0.0
    work_off(second)
    assert house.summary(game)["status"] == "over"
    assert of_events(house, game) == leaves(house)


def test_a_store_that_is_silent_at_the_log_is_waited_for(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given that the leaves could not be added, then the batch is not acknowledged, and they are there after the next try."""
    game = house.open(hand_limit=1)
    play(house, game)
    one = projector(house, stale_ms=0)

    def silent(*_: object) -> int:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(TransparencyLog, "add", silent)
        with pytest.raises(StoreUnavailable):
            work_off(one)
    assert house.services.projections.lag()
    one._tables.clear()
    one._claim_at = 0.0
    work_off(one)
    assert of_events(house, game) == leaves(house)
    assert 0 == house.services.projections.lag()


def test_a_game_that_was_set_aside_adds_its_leaves_when_it_is_folded(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parked at first, the game's leaves come with the retry."""
    game = house.open(hand_limit=1)
    play(house, game)
    one = projector(house)

    def fail(*_: object) -> None:
        raise ValueError("no")

    with monkeypatch.context() as patch:
        patch.setattr("workers.projector.follow", fail)
        work_off(one)
    assert [game] == list(house.services.projections.parked())
    assert [] == leaves(house)
    projector(house)
    assert {} == house.services.projections.parked()
    assert of_events(house, game) == leaves(house)


def test_several_projectors_write_one_log(house: Any) -> None:
    """Two projectors that take turns: every leaf of every game, each once."""
    games = [house.open(hand_limit=1) for _ in range(6)]
    one, other = projector(house), projector(house)
    for game in games:
        play(house, game)
        one.round()
        other.round()
    work_off(one)
    work_off(other)
    wanted = [leaf for game in games for leaf in of_events(house, game)]
    assert sorted(wanted) == sorted(leaves(house))


def test_a_spoilt_log_does_not_stop_the_read_models(house: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Given that the log's store was tampered with, then the lobby goes on, and an error tells what to look at."""
    house.services.client.set(Keys.log_leaves, "x")
    game = house.open(hand_limit=1)
    play(house, game)
    with caplog.at_level(logging.ERROR):
        work_off(projector(house))
    assert house.summary(game)["status"] == "over"
    assert "hearts log verify" in caplog.text
