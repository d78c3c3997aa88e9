"""Whether a store of one's own keeps what it acknowledges, and how that is told."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from services.durability import CHECK_SECONDS, LEAST_FREE, LOOK_SECONDS, Durability, WriteWatch, weaknesses
from services.keys import Keys
from services.wire import StoreUnavailable, connect

SAFE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"appendonly": "no"}, ["no append-only file"]),
        ({"appendonly": "no", "appendfsync": "no"}, ["no append-only file"]),
        ({"appendfsync": "everysec"}, ["appendfsync everysec"]),
        ({"appendfsync": "no"}, ["appendfsync no"]),
        ({"no-appendfsync-on-rewrite": "yes"}, ["no-appendfsync-on-rewrite yes"]),
        ({"maxmemory-policy": "allkeys-lru"}, ["maxmemory-policy allkeys-lru"]),
        ({"maxmemory-policy": "volatile-ttl", "appendonly": "no"}, ["append-only", "volatile-ttl"]),
    ],
)
def test_each_weak_setting_is_a_sentence(changes: dict[str, str], words: list[str]) -> None:
    """It names the setting and what may be lost; of the settings that keep everything nothing is said."""
    found = weaknesses(SAFE | changes)
    assert len(words) == len(found)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


@pytest.fixture(params=["valkey_url", "redis_url"])
def server(request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    """Either real server, its settings as they were when the test is over."""
    with connect(request.getfixturevalue(request.param)) as client:
        before = {name: client.config_get(name)[name] for name in SAFE}
        yield client
        for name, value in before.items():
            client.config_set(name, value)


def test_a_server_is_asked_once_a_minute(server: redis.Redis) -> None:
    """Given settings that change, then the change is told a minute later at most, and not asked for before."""
    now = [0.0]
    durability = Durability(server, clock=lambda: now[0])
    for name, value in SAFE.items():
        server.config_set(name, value)
    assert [] == durability.warnings()
    server.config_set("maxmemory-policy", "allkeys-lru")
    server.config_set("appendfsync", "everysec")
    now[0] = CHECK_SECONDS - 1
    assert [] == durability.warnings()
    now[0] = CHECK_SECONDS
    assert 2 == len(durability.warnings())


def test_a_server_that_keeps_its_settings_to_itself(valkey: redis.Redis, valkey_url: str) -> None:
    """It is told that they could not be checked, which is no reason not to serve."""
    valkey.execute_command("ACL", "SETUSER", "mute", "on", ">x", "~*", "&*", "+@all", "-config")
    try:
        with connect(valkey_url.replace("unix://", "unix://mute:x@")) as client:
            (sentence,) = Durability(client).warnings()
    finally:
        valkey.execute_command("ACL", "DELUSER", "mute")
    assert sentence.startswith("whether the store keeps what it acknowledges could not be checked: ")
    assert "config" in sentence.lower()


def test_the_embedded_store_is_not_asked() -> None:
    """It is started with the settings that it needs, or with those that its operator has asked for."""
    with connect("unix:///nowhere") as client:
        assert [] == Durability(client, trusted=True).warnings()
        with pytest.raises(StoreUnavailable):
            Durability(client).warnings()


@pytest.mark.parametrize(
    ("name", "value", "usual"), [("maxmemory", "1", "0"), ("min-replicas-to-write", "1", "0")]
)
def test_a_store_that_takes_no_writes_is_told(server: redis.Redis, name: str, value: str, usual: str) -> None:
    """Full, or without the replicas it needs: why is said, until it writes again; and to ask changes nothing."""
    server.flushall()
    durability = Durability(server)
    assert durability.hindrance() is None
    assert 0 == server.dbsize()
    server.set(Keys.partitions_key, 8)
    server.config_set(name, value)
    try:
        why = durability.hindrance()
        assert why
        assert "it refuses to write" in why
    finally:
        server.config_set(name, usual)
    assert durability.hindrance() is None
    assert b"8" == server.get(Keys.partitions_key)


def test_a_read_only_replica_is_told(server: redis.Redis) -> None:
    """A server that follows another."""
    server.replicaof("127.0.0.1", 1)
    try:
        assert "read only replica" in (Durability(server).hindrance() or "")
    finally:
        server.replicaof("NO", "ONE")


def test_a_folder_that_was_taken_away_is_told(server: redis.Redis, tmp_path: Path) -> None:
    """Also where another has come to its place: what the server writes then is found by nobody."""
    folder = tmp_path / "store"
    folder.mkdir()
    durability = Durability(server, folder=folder)
    assert durability.hindrance() is None
    folder.rename(tmp_path / "away")
    assert "was taken away" in (durability.hindrance() or "")
    folder.mkdir()
    assert "was taken away" in (durability.hindrance() or "")


def test_a_full_disk_is_told(server: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is asked of the server, which ends on such a disk at each write and takes them in between."""
    durability = Durability(server, folder=tmp_path)
    used = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: used._replace(free=LEAST_FREE - 1))
    assert f"the disk of its files, {tmp_path}, is full (1048575 bytes are left)" == durability.hindrance()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: used._replace(free=LEAST_FREE))
    assert durability.hindrance() is None


def test_a_store_that_does_not_answer_is_no_answer() -> None:
    """It is not known then, and told otherwise."""
    with connect("redis://127.0.0.1:1") as client:
        durability = Durability(client)
        with pytest.raises(StoreUnavailable):
            durability.hindrance()
        told: list[str] = []
        WriteWatch(durability, told.append).look()
        assert [] == told


def test_a_watch_tells_each_change_once(server: redis.Redis) -> None:
    """And asks once a second at most."""
    now, told = [0.0], list[str]()
    watch = WriteWatch(Durability(server), told.append, lambda: now[0])
    for limit, known in (("0", 0), ("1", 1), ("1", 1), ("0", 2), ("0", 2)):
        server.config_set("maxmemory", limit)
        before = len(told)
        watch.look()
        assert len(told) == before or not now[0] % LOOK_SECONDS
        now[0] += LOOK_SECONDS / 2
        watch.look()
        now[0] += LOOK_SECONDS / 2
        watch.look()
        assert known == len(told)
    assert told[0].startswith("warning: the store can keep nothing now: it refuses to write")
    assert "the store keeps games again" == told[1]
