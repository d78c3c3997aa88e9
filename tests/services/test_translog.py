"""The transparency log on every kind of server: exactly once, in order, whatever the writers do."""

from __future__ import annotations

import logging
from threading import Barrier, Thread

import pytest
import redis

from services.cluster import Client, wire_of
from services.keys import Keys
from services.leaves import Leaf
from services.merkle import root_of, verify_consistency, verify_inclusion
from services.store import StoreUnavailable
from services.translog import CorruptTransparencyLog, TransparencyLog
from services.wire import Wire


def leaf(number: int, kind: str = "lock") -> Leaf:
    """A leaf of a game of this number."""
    return Leaf(f"game-{number}", kind, number + 1, number.to_bytes(32, "big"))  # type: ignore[arg-type]


@pytest.fixture
def log(client: Client) -> TransparencyLog:
    """An empty log on a store of each kind in turn."""
    return TransparencyLog(wire_of(client))


def test_an_empty_log(log: TransparencyLog) -> None:
    """It has no leaves and the root of nothing."""
    assert 0 == log.size() == log.add([])
    assert root_of([]) == log.root(0)
    assert [] == log.leaves(0, 10) == log.of_game("game-1")
    assert [None] == log.find([bytes(32)])


def test_leaves_are_found_and_proved_at_every_size(log: TransparencyLog) -> None:
    """Added one by one and many at once: each is where it was put, and every root and path is that of the leaves."""
    leaves = [leaf(number) for number in range(70)]
    for one in leaves[:9]:
        assert 1 == log.add([one])
    assert 61 == log.add(leaves)
    hashes = [one.hash for one in leaves]
    assert (70, list(enumerate(leaves))) == (log.size(), list(log.every_leaf()))
    assert list(range(70)) == log.find(hashes)
    assert [(3, leaf(3))] == log.of_game("game-3")
    for size in range(1, 71):
        root = log.root(size)
        assert root_of(hashes[:size]) == root
        index = size * 7 % size if size < 8 else size - 3
        assert verify_inclusion(hashes[index], index, size, log.inclusion(index, size), root)
        assert verify_consistency(size, 70, log.consistency(size, 70), root, log.root(70))


def test_more_leaves_than_one_call_and_one_chunk_take(
    log: TransparencyLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls and chunks have bounds that nobody sees."""
    monkeypatch.setattr("services.translog.CHUNK", 4)
    monkeypatch.setattr("services.translog.AT_ONCE", 11)
    monkeypatch.setattr("services.translog.PAGE", 3)
    leaves = [leaf(number) for number in range(37)]
    assert 37 == log.add(leaves)
    assert root_of([one.hash for one in leaves]) == log.root(37)
    assert leaves == [one for _, one in log.every_leaf()]
    assert [one.hash for one in leaves] == list(log.level(0, 37))


def test_a_leaf_is_added_once(log: TransparencyLog) -> None:
    """Again, twice in one call, or beside others: it stands there once."""
    assert 1 == log.add([leaf(1), leaf(1)])
    assert 0 == log.add([leaf(1)])
    assert 1 == log.add([leaf(1), leaf(2), leaf(1)])
    assert [(0, leaf(1)), (1, leaf(2))] == log.leaves(0, 10)


def test_a_fork_is_kept_and_told(log: TransparencyLog, caplog: pytest.LogCaptureFixture) -> None:
    """Given a leaf of a game, when another comes of the same kind, then both are there and an error is logged."""
    log.add([leaf(1), leaf(1, "end")])
    with caplog.at_level(logging.ERROR):
        assert not caplog.records
        other = leaf(1)._replace(head=bytes(32))
        assert 1 == log.add([other])
    assert "fork: the transparency log has a second leaf for game-1|lock" in caplog.text
    assert [(0, leaf(1)), (1, leaf(1, "end")), (2, other)] == log.of_game("game-1")


def test_writers_at_once(valkey: redis.Redis) -> None:
    """Given four writers with the same leaves in other orders, then each leaf is there once and the tree is sound."""
    leaves = [leaf(number) for number in range(40)]
    start = Barrier(4)
    faults: list[BaseException] = []

    def write(turn: int) -> None:
        mine = TransparencyLog(Wire(valkey))
        start.wait(10)
        try:
            for one in leaves[turn * 10 :] + leaves[: turn * 10]:
                mine.add([one])
        except BaseException as error:  # noqa: BLE001 (told by the test)
            faults.append(error)

    threads = [Thread(target=write, args=(turn,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not faults
    log = TransparencyLog(Wire(valkey))
    there = [one for _, one in log.every_leaf()]
    assert sorted(leaves) == sorted(there)
    assert root_of([one.hash for one in there]) == log.root(40)


def test_a_writer_that_is_always_too_late_gives_up(
    log: TransparencyLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written on a size that has passed, and after many tries the writer says so."""
    log.add([leaf(1)])
    monkeypatch.setattr("services.translog.MOST_TRIES", 3)
    monkeypatch.setattr("services.translog._last", lambda _: 0)
    with pytest.raises(StoreUnavailable, match="too busy"):
        log.add([leaf(2)])
    monkeypatch.undo()
    assert [(0, leaf(1))] == log.leaves(0, 10)


def test_a_spoilt_log_is_told(log: TransparencyLog, client: Client) -> None:
    """Whatever of it was taken away by hand: nobody reads a root or a leaf that is not there."""
    log.add([leaf(number) for number in range(5)])
    client.xdel(Keys.log_leaves, "3-0")
    with pytest.raises(CorruptTransparencyLog, match="leaf 2 is not"):
        log.leaves(0, 10)
    with pytest.raises(CorruptTransparencyLog, match="leaf 2 "):
        log.of_game("game-2")
    client.hset(Keys.log_places, "game-1|lock", "x")
    client.hset(Keys.log_index, leaf(1).hash, "-1")
    for look in (lambda: log.of_game("game-1"), lambda: log.find([leaf(1).hash])):
        with pytest.raises(CorruptTransparencyLog, match="no index"):
            look()
    client.delete(Keys.log_nodes(2, 0))
    with pytest.raises(CorruptTransparencyLog, match="lost subtree"):
        log.root(5)
    with pytest.raises(CorruptTransparencyLog, match="lost subtree"):
        log.add([leaf(7)])
    client.delete(Keys.log_leaves)
    client.set(Keys.log_leaves, "x")
    with pytest.raises(CorruptTransparencyLog, match="should hold a"):
        log.size()


def test_the_last_leaf_taken_away_is_not_written_over(log: TransparencyLog, client: Client) -> None:
    """Given that the newest leaf was deleted by hand, when one comes, then nothing of it is written."""
    log.add([leaf(1), leaf(2)])
    client.xdel(Keys.log_leaves, "2-0")
    with pytest.raises(CorruptTransparencyLog, match="takes no leaf"):
        log.add([leaf(3)])
    assert [None] == log.find([leaf(3).hash])
