"""The API on a real store, with a clock that stands still and chance from a seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import redis
from flask import Flask

from api.app import create_app
from services.settings import Settings
from services.wiring import Services, build
from tests.api.guests import Guest
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    """The clock of the services."""
    return Clock(1_700_000_000_000)


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path, clock: Clock) -> Services:
    """Services on an empty Valkey."""
    settings = Settings(data=tmp_path, partitions=4, api_threads=8)
    return build(settings, store=valkey, clock=clock, entropy=Random(7).randbytes)


@pytest.fixture
def app(services: Services) -> Flask:
    """The application."""
    return create_app(services)


@pytest.fixture
def guest(app: Flask) -> Callable[[], Guest]:
    """A maker of players."""
    numbers = itertools.count(1)
    return lambda: Guest(app, f"Player {next(numbers)}")


@pytest.fixture
def four(guest: Callable[[], Guest]) -> list[Guest]:
    """Four players."""
    return [guest() for _ in range(4)]


@pytest.fixture
def stranger(app: Flask) -> Guest:
    """Somebody without a token."""
    return Guest(app)
