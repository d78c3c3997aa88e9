"""How a house does, for the page of its operator: figures, workers, queues, what was set aside and what waits longest."""

from __future__ import annotations

from typing import Final, NamedTuple

import redis

from services.figures import Figures, read_figures
from services.projections import Parked
from services.queue import Queue, WorkerState
from services.tables import UnknownGame
from services.translog import CorruptTransparencyLog
from services.wire import StoreUnavailable
from services.wiring import Services

MOST_OVERDUE: Final = 10
"""Games that wait longest, of which an overview tells."""


class QueueState(NamedTuple):
    """A queue of jobs; none of the numbers where its server does not answer."""

    name: str
    waiting: int | None
    workers: tuple[WorkerState, ...] | None


class Overdue(NamedTuple):
    """A game in which a bot or a clock should have acted."""

    game: str
    waited_ms: int


class Overview(NamedTuple):
    """How things stand now."""

    at: int
    """Unix ms."""
    figures: Figures
    appends: int
    """Appends that the store was ever given, about: two of these tell how many there were between them."""
    queues: tuple[QueueState, ...]
    parked: dict[str, Parked]
    overdue: tuple[Overdue, ...]
    leaves: int | None
    """Of the transparency log; none where it was spoilt."""


def read_overview(services: Services) -> Overview:
    """Read it. Raises `StoreUnavailable`."""
    return Overview(
        at=services.clock(),
        figures=read_figures(services),
        appends=services.feed.appends(),
        queues=tuple(_queue(one) for one in (services.queue, services.audits)),
        parked=services.projections.parked(),
        overdue=_overdue(services),
        leaves=_leaves(services),
    )


def retry_parked(services: Services, game: str) -> bool:
    """Let the projector try a game again that was set aside, skipped or not. False where it is not, or not any more.

    Raises `UnknownGame` where its stream is gone, `StoreUnavailable`.
    """
    if not services.projections.parked_among([game]):
        return False
    last = services.store.last(game)
    if not last:
        raise UnknownGame(f"there is no game {game:.60}")
    if services.projections.remark(game, skipped=False, asked=True) is None:
        return False
    # what was folded meanwhile has only its mark left: a pointer to it would be passed over
    if services.projections.seqs([game])[game] >= last:
        services.projections.take_back(game)
    else:
        services.feed.point(game, last)
    return True


def skip_parked(services: Services, game: str) -> bool:
    """Leave a game alone that was set aside: no alarm counts it and nothing but another fold tries it. False where it is not.

    Raises `StoreUnavailable`.
    """
    return services.projections.remark(game, skipped=True, asked=False) is not None


def _queue(queue: Queue) -> QueueState:
    try:
        return QueueState(queue.name, len(queue.waiting()), tuple(queue.worker_states()))
    except (StoreUnavailable, redis.RedisError):
        return QueueState(queue.name, None, None)


def _overdue(services: Services) -> tuple[Overdue, ...]:
    keys, now = services.keys, services.clock()
    replies = services.store.wire.pipeline(
        [
            ("ZRANGE", keys.due(p), "-inf", now, "BYSCORE", "LIMIT", 0, MOST_OVERDUE, "WITHSCORES")
            for p in range(keys.partitions)
        ]
    )
    found = [
        Overdue(game.decode(), now - int(float(score)))
        for flat in replies
        for game, score in zip(flat[::2], flat[1::2], strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-one.waited_ms, one.game))[:MOST_OVERDUE])


def _leaves(services: Services) -> int | None:
    try:
        return services.log.tree.size()
    except CorruptTransparencyLog:
        return None
