"""A house without processes: services on an empty, real store, with a clock that the test moves."""

from pathlib import Path
from typing import Any

import pytest
import redis

from domain.bots import BOTS
from domain.commands import GetReady, SeatPlan
from domain.variants import ruleset_of
from services.settings import Settings
from services.wiring import Services, build
from tests.support.clock import Clock

ANNA = "p000000000000000a"
BOT = SeatPlan(kind="bot", bot=BOTS["rules"].id)


class House:
    """Services, and the tables that the tests need."""

    def __init__(self, services: Services, clock: Clock) -> None:
        self.services = services
        self.clock = clock

    def open(self, *, persons: int = 0, ready: bool = True, **rules: object) -> str:
        """A table with so many persons, who are ready, and bots. Returns its id."""
        players = [f"{ANNA[:-1]}{number}" for number in range(persons)]
        chosen = ruleset_of({"variant": "standard", "target": 20, **rules})
        seats = [SeatPlan(kind="player", player=player) for player in players]
        seats += [BOT] * (chosen.players - persons)
        game = self.services.tables.open(chosen, seats).table.state.game
        for player in players if ready else []:
            self.services.tables.handle(game, GetReady(player=player))
        return game

    def due(self, game: str) -> int | None:
        """When the house must act in a game, or its lease ends."""
        keys = self.services.keys
        score = self.services.client.zscore(keys.due(keys.partition(game)), game)
        return None if score is None else int(score)

    def summary(self, game: str) -> dict[str, Any] | None:
        """A game as it is projected, none where it is not."""
        return next(iter(self.services.projections.tables([game])), None)

    def partition(self, game: str) -> int:
        """The partition of a game."""
        return self.services.keys.partition(game)


@pytest.fixture
def clock() -> Clock:
    """The clock of the house."""
    return Clock()


@pytest.fixture
def house(valkey: redis.Redis, valkey_url: str, tmp_path: Path, clock: Clock) -> House:
    """A house on an empty store of eight partitions."""
    settings = Settings(data=tmp_path, store_url=valkey_url, partitions=8)
    return House(build(settings, clock=clock), clock)
