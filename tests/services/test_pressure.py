"""Room for new tables: by the lag of the read models, and by the memory of the store."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from services import pressure
from services.pressure import Pressure, memory_share
from services.wire import StoreUnavailable


class FakeFeed:
    """A feed that is so far behind."""

    def __init__(self, lag: int = 0) -> None:
        self.behind, self.asked = lag, 0

    def lag(self, group: str) -> int:
        """As it was set."""
        assert "projector" == group
        self.asked += 1
        return self.behind


class FakeWire:
    """A server that tells so much of its memory."""

    def __init__(self, **fields: int) -> None:
        self.fields = fields

    def everywhere(self, *command: str) -> list[bytes]:
        """INFO memory, with a line of another kind in it."""
        assert ("INFO", "memory") == command
        return [
            "".join(
                ["# Memory\r\nused_memory_human:1.00G\r\n", *[f"{k}:{v}\r\n" for k, v in self.fields.items()]]
            ).encode()
        ]


def looking(feed: Any = None, wire: Any = None, **bounds: Any) -> Pressure:
    """A look at a feed and a server, at a time that the test sets."""
    bounds = {"most_lag": 100, "most_memory": 90} | bounds
    return Pressure(feed or FakeFeed(), wire or FakeWire(used_memory=1, maxmemory=100), **bounds)


def test_it_looks_once_in_a_while() -> None:
    """Whoever asks within a second is told what was known."""
    now, feed = [0.0], FakeFeed(100)
    one = looking(feed, clock=lambda: now[0])
    assert [True, True] == ["100 appends behind" in (one.why() or ""), one.why() is not None]
    feed.behind = 0
    assert (1, True) == (feed.asked, one.why() is not None)
    now[0] += pressure.LOOK_SECONDS
    assert (None, 2) == (one.why(), feed.asked)


def test_there_is_room_again_when_it_has_eased(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at once below the bound, or it would open and close with every table."""
    monkeypatch.setattr(pressure, "LOOK_SECONDS", 0)
    feed = FakeFeed()
    one = looking(feed)
    found = []
    for lag in (99, 100, 99, 90, 89, 99, 100):
        feed.behind = lag
        found.append(one.why() is not None)
    assert [False, True, True, True, False, False, True] == found


@pytest.mark.parametrize(
    ("fields", "full"),
    [
        ({"used_memory": 89, "maxmemory": 100, "total_system_memory": 50}, False),
        ({"used_memory": 90, "maxmemory": 100}, True),
        ({"used_memory": 90, "maxmemory": 0, "total_system_memory": 1000}, False),
        ({"used_memory": 950, "maxmemory": 0, "total_system_memory": 1000}, True),
        ({"used_memory": 90}, False),
        ({}, False),
    ],
)
def test_memory_is_held_to_what_there_is(fields: dict[str, int], full: bool) -> None:
    """To ``maxmemory``, or to the machine's; where the server does not say, to nothing."""
    why = looking(wire=FakeWire(**fields)).why()
    assert full == ("memory is used, and 90 % are the most" in (why or ""))


def test_no_bound_is_never_reached() -> None:
    """Given 0 for a bound, then nobody is even asked."""
    feed = FakeFeed(10**9)
    assert looking(feed, FakeWire(used_memory=100, maxmemory=100), most_lag=0, most_memory=0).why() is None
    assert 0 == feed.asked


def test_a_real_server_tells(valkey: redis.Redis) -> None:
    """Its share is between nothing and all; where its user may not ask, or it is away, that is told apart."""
    from services.wire import Wire

    share = memory_share(Wire(valkey))
    assert share is not None
    assert 0 < share < 1

    class Refusing(FakeWire):
        error: Exception = redis.exceptions.NoPermissionError("no")

        def everywhere(self, *command: str) -> list[bytes]:
            raise self.error

    refusing = Refusing()
    assert memory_share(refusing) is None  # type: ignore[arg-type]
    refusing.error = StoreUnavailable("gone")
    with pytest.raises(StoreUnavailable):
        memory_share(refusing)  # type: ignore[arg-type]
