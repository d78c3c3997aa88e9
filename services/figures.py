"""Figures that tell an operator how the house does, read from the store: what lags, what waits, what was set aside."""

from __future__ import annotations

from typing import NamedTuple

import redis

from services.pressure import memory_of
from services.projections import GROUP
from services.standings_fold import Ledger
from services.summaries import STATUSES
from services.wire import StoreUnavailable
from services.wiring import Services


class Figures(NamedTuple):
    """How things stand now, in all partitions together."""

    lag: dict[str, int]
    """Appends that each consumer group has not dealt with yet."""
    games: dict[str, int]
    """Games by status, as far as they are projected."""
    due: int
    """Games in which a bot or a clock must act, now or later."""
    overdue: int
    """Those of them whose time has come."""
    waited_ms: int
    """For how long the first of these has waited; 0 where there is none."""
    queued: int | None
    """Jobs in the queue; none where its server does not answer."""
    parked: int
    """Games that could not be folded and were set aside; not those that an operator has skipped."""
    skipped: int
    """Those."""
    unfolded: int
    """Finished games that are not in the standings yet, at most 1000."""
    memory: int | None
    """Bytes that the store's primaries use; none where they do not say."""


def read_figures(services: Services) -> Figures:
    """Read them. Raises `StoreUnavailable`."""
    keys, wire, now = services.keys, services.store.wire, services.clock()
    every = range(keys.partitions)
    read = services.projections.versions.live()
    games = wire.pipeline([("ZCARD", keys.lobby(p, status, read)) for status in STATUSES for p in every])
    due = wire.pipeline([("ZCARD", keys.due(p)) for p in every])
    overdue = wire.pipeline([("ZCOUNT", keys.due(p), "-inf", now) for p in every])
    first = min(services.store.dues().values(), default=now)
    skipped = [one.skipped for one in services.projections.parked().values()]
    return Figures(
        lag={GROUP: services.feed.lag(GROUP)},
        games={
            status: sum(games[place * len(every) : (place + 1) * len(every)])
            for place, status in enumerate(STATUSES)
        },
        due=sum(due),
        overdue=sum(overdue),
        waited_ms=max(0, now - first),
        queued=_queued(services),
        parked=skipped.count(False),
        skipped=skipped.count(True),
        unfolded=Ledger(services.store.wire, keys).lag(),
        memory=_memory(services),
    )


def _memory(services: Services) -> int | None:
    used = [one["used_memory"] for one in memory_of(services.store.wire) if "used_memory" in one]
    return sum(used) if used else None


def _queued(services: Services) -> int | None:
    try:
        return len(services.queue.waiting())
    except (StoreUnavailable, redis.RedisError):
        return None
