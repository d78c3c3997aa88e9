"""What finished games leave in the store: so much each as is written here, and nothing else grows with their number."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import redis

from domain.variants import ruleset_of
from services import desks
from services.merkle import HASH_BYTES
from services.settings import Settings
from services.wiring import build
from tests.support.ageing import Ageing, keys_by_template
from tests.support.clock import Clock

GAMES = 24
PLAYERS = 4
HOUR_MS = 3_600_000
MEMBERS = {
    "stream": 1,  # the last event
    "table": 5,
    "lobby": 1,
    "seats": 1,  # of each person
    "standings_games": 1,
    "standings_known": 1,
    "log_leaves": 2,
    "log_index": 2,
    "log_places": 2,
    "log_nodes": 4 * HASH_BYTES,  # two leaves, and a subtree for each of them
}
"""Members, or bytes of strings, that each finished game of one person leaves by design (docs/operating.md)."""
KEYS = {"stream": 1, "table": 1}
"""Keys of its own that it leaves."""


@pytest.fixture
def clock() -> Clock:
    """The time, which goes on by an hour with each game."""
    return Clock()


@pytest.fixture
def ageing(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Ageing:
    """A house in which games of few players are played and archived; its inboxes keep few entries."""
    monkeypatch.setattr(desks, "KEPT", 20)
    settings = Settings(
        data=tmp_path, partitions=2, store_url=valkey_url, archive=str(tmp_path / "archive"), archive_hours=1
    )
    return Ageing(build(settings, clock=clock), ruleset_of({"variant": "standard", "hand_limit": 1}))


def age(ageing: Ageing, clock: Clock, games: range) -> None:
    """Play games to their end, one after the other, and archive them; what is kept for a day is looked at and let go."""
    client = ageing.house.client
    for number in games:
        game = ageing.play([f"p{number % PLAYERS:016x}"])
        ageing.project()
        clock.now += HOUR_MS + 1
        assert 1 == ageing.archive()
        answers = ageing.house.keys.idempotency(game)
        assert 0 < client.pttl(answers) <= 24 * HOUR_MS
        client.delete(answers)


def test_what_is_left_of_finished_games(ageing: Ageing, clock: Clock) -> None:
    """Given three times as many, then each kind of key has grown by what is written above, and the others not at all."""
    age(ageing, clock, range(GAMES))
    keys, members, taken = keys_by_template(ageing.house)
    age(ageing, clock, range(GAMES, 3 * GAMES))
    keys_after, members_after, taken_after = keys_by_template(ageing.house)
    more = 2 * GAMES
    new = keys_after - keys
    assert new.pop("log_nodes", 0) <= 2, "a level more with twice as many leaves"
    assert Counter({name: each * more for name, each in KEYS.items()}) == new
    grown = members_after - members
    bounded = {"feed", "inbox", "desk", "standings_players", "standings_state"}
    for name in sorted({*grown} - bounded):
        assert grown[name] <= MEMBERS.get(name, 0) * more, name
    # these have a bound, which they had reached: a block of a stream more or less, what was done with in the last hour
    for name in sorted({*grown} & bounded):
        assert taken_after[name] - taken[name] < 8192, name
    assert {"due", "finished", "snapshot", "parked"}.isdisjoint(members_after)


def test_memory_is_flat(ageing: Ageing, clock: Clock) -> None:
    """Given finished games, then keys take a third of their events' bytes each at most, though these had one hand alone."""
    age(ageing, clock, range(GAMES))
    before, raw = keys_by_template(ageing.house)[2], ageing.raw
    age(ageing, clock, range(GAMES, 3 * GAMES))
    grown = keys_by_template(ageing.house)[2].total() - before.total()
    assert 0 < grown < (ageing.raw - raw) / 3
