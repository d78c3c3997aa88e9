"""Whatever single byte of a game is changed in the store, the audit finds it, and is never thrown off by it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import redis

from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import audit, open_game, told
from tests.support.clock import Clock
from tests.support.tampering import Fields, rewrite, stream


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path) -> Services:
    """Services on an empty store."""
    return build(Settings(data=tmp_path, partitions=4), store=valkey, clock=Clock(1_700_000_000_000))


def spoilt(entries: list[Fields], part: bytes, rng: Random) -> tuple[int, list[Fields]]:
    """The entries with one byte of such a part of one of them changed, and the seq of that one."""
    at = rng.choice([at for at, fields in enumerate(entries) if part in fields])
    raw = bytearray(entries[at][part])
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return at + 1, [*entries[:at], {**entries[at], part: bytes(raw)}, *entries[at + 1 :]]


def test_any_byte_of_an_event_counts(services: Services) -> None:
    """A finished game: the report is not ok, and what it blames reaches to the event that was changed."""
    game = open_game(services)
    entries, rng = stream(services, game), Random(11)
    for _ in range(80):
        seq, changed = spoilt(entries, b"p", rng)
        rewrite(services, game, changed, number=False)
        report = audit(services, game)
        assert not report.ok, (seq, changed[seq - 1])
        blamed = [one.event for one in report.problems if one.event is not None]
        assert max(blamed) >= seq, (seq, told(report))
    rewrite(services, game, entries, number=False)
    assert audit(services, game).ok


def test_any_byte_of_a_secret_or_a_copy_is_borne(services: Services) -> None:
    """Nothing that stands in the store, however spoilt, keeps the audit from its report."""
    game = open_game(services, most=45)
    entries, rng = stream(services, game), Random(12)
    for _ in range(40):
        rewrite(services, game, spoilt(entries, b"s", rng)[1], number=False)
        assert audit(services, game).seq == len(entries)
    rewrite(services, game, entries, number=False)
    client, key = services.client, services.keys.snapshot(game)
    snapshot = client.get(key)
    for _ in range(60):
        raw = bytearray(snapshot)
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        client.set(key, bytes(raw))
        assert audit(services, game).seq == len(entries)
    client.set(key, snapshot)
    table = services.keys.table(game)
    summary = client.hget(table, "summary")
    for _ in range(60):
        raw = bytearray(summary)
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        client.hset(table, "summary", bytes(raw))
        assert not audit(services, game).ok
