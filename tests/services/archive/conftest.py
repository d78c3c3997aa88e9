"""Services with an archive, and a finished game."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from services.archiver import Archiver
from services.settings import Settings
from services.wiring import Services, build
from tests.support.archived import HOURS, NOW
from tests.support.audited import open_game
from tests.support.clock import Clock
from tests.support.environs import environ_of


@pytest.fixture
def clock() -> Clock:
    """The time."""
    return Clock(NOW)


@pytest.fixture
def services(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Services:
    """Services on an empty store, which commands are led to by their settings."""
    settings = Settings(
        data=tmp_path,
        partitions=4,
        store_url=valkey_url,
        archive=str(tmp_path / "archive"),
        archive_hours=HOURS,
    )
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    return build(settings, clock=clock)


@pytest.fixture
def archiver(services: Services) -> Archiver:
    """Who moves games."""
    assert services.archiver is not None
    return services.archiver


@pytest.fixture
def game(services: Services) -> str:
    """A finished game of some hands."""
    return open_game(services, hand_limit=3)
