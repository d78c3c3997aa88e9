"""Whether a store of one's own keeps what it acknowledges, and how that is told."""

from collections.abc import Iterator

import pytest
import redis

from services.durability import CHECK_SECONDS, Durability, weaknesses
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
