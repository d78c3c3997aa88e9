"""A log of its own for each test of the command handler, and the time it is told."""

import pytest
import redis

from services.keys import Keys
from services.store import Store
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    """The time of the tables."""
    return Clock(1_000_000)


@pytest.fixture
def log(valkey: redis.Redis) -> Store:
    """An empty log."""
    return Store(valkey, Keys(8))
