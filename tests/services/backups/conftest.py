"""A house that is copied, and a place for another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from services.embedded import EmbeddedStore
from services.settings import Settings
from services.store import connect
from services.wiring import Services, build
from tests.support.backups import settings_in


@pytest.fixture
def house(valkey: redis.Redis, valkey_url: str, tmp_path: Path) -> Services:
    """A house that is copied."""
    return build(settings_in(tmp_path / "old", valkey_url))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where its copy is to be."""
    return tmp_path / "house.backup"


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    """Where another house may be."""
    return settings_in(tmp_path / "new")


@pytest.fixture
def empty(place: Settings) -> Iterator[redis.Redis]:
    """Its store, in which nothing is yet."""
    with EmbeddedStore(place.data, fsync="everysec") as store, connect(store.url) as client:
        yield client
