"""What operators ask: alive, ready, which build."""

import pytest
import redis
from flask import Flask

from domain import kernel
from services.feed import Feed
from services.keys import Keys
from services.projections import GROUP
from services.wiring import Services
from tests.api.guests import Guest, open_table


def test_a_process_that_answers_is_alive(stranger: Guest) -> None:
    """Whatever the store does."""
    alive = stranger.get("/livez")
    assert (200, {"live": True}, "no-store") == (
        alive.status_code,
        alive.json,
        alive.headers["Cache-Control"],
    )


def test_a_server_is_ready_when_its_store_is(services: Services, stranger: Guest, four: list[Guest]) -> None:
    """With the number of partitions, and how far the read models are behind."""
    expected = {"ready": True, "partitions": 4, "projector_lag": 0, "warnings": []}
    assert expected == stranger.get("/readyz").json
    feed = Feed(services.client, services.keys)
    feed.ensure_group(GROUP)
    open_table(four[0], ["me", "open", "open", "open"])
    assert 1 == stranger.get("/readyz").json["projector_lag"]


def test_another_store_is_not_ready(valkey: redis.Redis, stranger: Guest) -> None:
    """A store that was emptied, or made with other partitions, is not the one that this process works with."""
    for partitions in (None, 8):
        valkey.flushall()
        if partitions:
            valkey.set(Keys.partitions_key, partitions)
        answer = stranger.get("/readyz")
        assert (503, "store/unavailable") == (answer.status_code, answer.json["code"])
        assert "4" in answer.json["detail"]


def test_a_store_that_takes_no_writes_is_not_ready(valkey: redis.Redis, stranger: Guest) -> None:
    """It answers, and every command would be refused."""
    valkey.config_set("maxmemory", 1)
    try:
        answer = stranger.get("/readyz")
    finally:
        valkey.config_set("maxmemory", 0)
    assert (503, "store/unavailable") == (answer.status_code, answer.json["code"])
    assert "can keep nothing now" in answer.json["detail"]
    assert 200 == stranger.get("/readyz").status_code


@pytest.mark.parametrize(("compiled", "told"), [(True, "compiled"), (False, None)])
def test_the_build_names_its_kernel(
    stranger: Guest, monkeypatch: pytest.MonkeyPatch, compiled: bool, told: str | None
) -> None:
    """As `hearts --version` does."""
    monkeypatch.setattr(kernel, "AVAILABLE", compiled)
    assert told == stranger.get("/version").json["kernel"]


def test_the_build_names_its_key(app: Flask, services: Services, stranger: Guest) -> None:
    """The public key is that of the receipts."""
    told = stranger.get("/version").json
    assert services.key.public == told["server_key"]
    assert told["version"]
    assert told["commit"] is None or 40 == len(told["commit"])
