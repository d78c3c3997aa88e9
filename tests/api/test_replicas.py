"""A house that promises replicas says so when it cannot: commands are refused, and it is not ready."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.app import create_app
from services import wire as wire_module
from services.settings import Settings
from services.wiring import build
from tests.api.contract import ContractClient
from tests.api.guests import Guest
from tests.support.house import until
from tests.support.servers import Pair, servers
from tests.support.unlimited import UNLIMITED

TABLE = {"variant": "basic", "seats": ["me", *["open"] * 3]}


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """A primary and its replica; one that says nothing is waited for shortly."""
    monkeypatch.setattr(wire_module, "WAIT_MS", 300)
    with servers(tmp_path / "servers") as some:
        yield Pair(some)


def test_commands_are_refused_until_the_replica_is_back(pair: Pair, tmp_path: Path) -> None:
    """Given a replica that hangs, then 503 with Retry-After, not ready, and the table is there once when it is back."""
    settings = Settings(data=tmp_path, store_url=pair.primary.url, partitions=4, replicas=1, **UNLIMITED)
    services = build(settings)
    app = create_app(services)
    app.test_client_class = ContractClient
    anna = Guest(app, "Anna")
    assert 200 == anna.get("/readyz").status_code
    pair.replica.hold()
    for _ in range(2):
        refused = anna.post("/v1/games", TABLE, Idempotency_Key="k")
        assert (503, "store/unavailable") == (refused.status_code, refused.json["code"])
        assert "0 of 1 replicas have confirmed the write" in refused.json["detail"]
        assert "under the same Idempotency-Key" in refused.json["hint"]
        assert "1" == refused.headers["Retry-After"]
    waiting = until(lambda: (answer := anna.get("/readyz")).status_code == 503 and answer)
    assert "0 replicas keep up, and 1 must have what is acknowledged" in waiting.json["detail"]
    assert waiting.headers["Retry-After"]
    assert 200 == anna.get("/v1/me").status_code
    pair.replica.release()
    until(lambda: anna.get("/readyz").status_code == 200)
    opened = until(
        lambda: (answer := anna.post("/v1/games", TABLE, Idempotency_Key="k")).status_code == 201 and answer
    )
    assert [opened.json["id"]] == list(services.store.games())
    assert pair.replica.client.exists(services.keys.stream(opened.json["id"]))
    services.client.close()
