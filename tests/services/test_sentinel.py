"""Sentinels name the primary; when it dies they name another one, and nobody need be told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from services.keys import Keys
from services.queue import Queue, Queued
from services.store import Appended, Once, Replayed, Store, StoreUnavailable
from services.wire import Wire, connect
from tests.support.house import until
from tests.support.servers import Replicated, servers

NOW = 1_800_000_000_000


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Replicated]:
    """A primary with two replicas, which three Sentinels watch; it writes with one replica at least."""
    with servers(tmp_path / "servers") as some:
        yield Replicated(some, replicas=2, sentinels=3, least=1)


def append(store: Store, game: str, name: str) -> Appended | Replayed | None:
    """Append the first event of a game under an idempotency key; none where the store is away."""
    once = Once(name.encode(), name.encode())
    try:
        done = store.append(game, 0, [(b"e", b"")], now=NOW, due=None, once=once)
    except StoreUnavailable:
        return None
    assert isinstance(done, Appended | Replayed)
    return done


def test_a_failover_loses_nothing_that_was_acknowledged(watched: Replicated) -> None:
    """Given appends that go on while the primary is killed, then each is in the log once, under the new primary too."""
    with connect(watched.url) as client:
        store = Store(client, Keys(4), replicas=1)
        assert b"master" == store.wire.call("ROLE")[0]
        games = [f"g{number}" for number in range(60)]
        told = {game: append(store, game, game) for game in games[:20]}
        watched.primary.kill()
        assert append(store, games[20], games[20]) is None
        told |= {game: until(lambda game=game: append(store, game, game)) for game in games[20:]}
        assert watched.now_primary() is not watched.primary
        for game in games:
            assert [1] == [seq for seq, _, _ in store.read(game)]
            assert Replayed(game.encode()) == append(store, game, game)
        assert {Appended(1)} == {told[game] for game in games[:20]}


def test_a_primary_that_hangs_is_left(watched: Replicated) -> None:
    """Connections to it are not used again: one command waits for it in vain, and then those that come find the new one."""
    with connect(watched.url, timeout=1) as client:
        store = Store(client, Keys(4), replicas=1)
        first, second = client.connection_pool.get_connection(), client.connection_pool.get_connection()
        for one in (first, second):
            client.connection_pool.release(one)
        append(store, "g", "g")
        watched.primary.hold()
        assert append(store, "h", "h") is None
        assert until(lambda: append(store, "h", "h"))
        watched.primary.release()
        assert Appended(1) == append(store, "i", "i")
        assert not watched.primary.client.exists(store.keys.stream("i"))
        for game in ("g", "h", "i"):
            assert [1] == [seq for seq, _, _ in store.read(game)]


def test_a_server_that_is_no_primary_is_not_used(
    watched: Replicated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given Sentinels that still name a server which has become a replica, then nothing is read or written there."""
    there = "127.0.0.1", watched.replicas[0].port
    monkeypatch.setattr(redis.sentinel.Sentinel, "discover_master", lambda *_: there)
    with connect(watched.url) as client, pytest.raises(StoreUnavailable, match="is a slave now"):
        Wire(client).call("GET", "k")


def test_sentinels_that_are_away(watched: Replicated) -> None:
    """Any of them is enough; without any, or for a service that they do not know, the store is unavailable."""
    for one in watched.sentinels[:2]:
        one.kill()
    with connect(watched.url) as client:
        assert b"PONG" == Wire(client).call("PING")
    with connect(watched.url.replace("/hearts", "/spades")) as client, pytest.raises(StoreUnavailable):
        Wire(client).call("PING")
    watched.sentinels[2].kill()
    with connect(watched.url) as client, pytest.raises(StoreUnavailable):
        Wire(client).call("PING")


def test_jobs_go_by_sentinels_too(watched: Replicated) -> None:
    """RQ takes the client as it is."""
    queue = Queue(watched.url)
    assert Queued.NEW is queue.enqueue("drive", 1, unique="1")
    assert ["drive-1"] == queue.waiting()
    assert isinstance(queue.wire.pool, redis.sentinel.SentinelConnectionPool)
    queue.close()
