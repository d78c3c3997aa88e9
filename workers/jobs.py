"""The jobs that `services.queue` names; RQ calls them. Services are built by the first that needs them."""

from __future__ import annotations

from functools import cache

from services.queue import Queue
from services.settings import Settings
from services.wiring import Services, arena_queue, build
from workers import aging
from workers.arena.fan import play_for
from workers.audits import audit_for
from workers.seats import Driver


@cache
def services() -> Services:
    """The services of this worker process. Raises as `build` does, and is tried anew then."""
    return build(Settings.from_environ())


@cache
def queue_of_arena() -> Queue:
    """The queue of this arena worker. Raises `StoreUnavailable`, and is tried anew then."""
    queue = arena_queue(Settings.from_environ())
    queue.wire.call("PING")
    return queue


@cache
def _driver() -> Driver:
    return Driver(services())


def serve(partition: int) -> None:
    """Play what the house owes to persons in a partition, and the rest as far as nobody waits elsewhere."""
    _driver().drive(partition, urgent=True)


def drive(partition: int) -> None:
    """Play what the house owes in a partition."""
    _driver().drive(partition)


def archive(partition: int) -> None:
    """Move games of a partition that have been over for long enough into the archive, as long as nobody waits."""
    aging.archive(services(), partition)


def audit(version: str, run: str, batch: int, attempt: int, games: list[str], brief: int) -> None:
    """Audit a batch of games for a command that waits."""
    audit_for(services(), version, run, batch, attempt, games, bool(brief))


def arena(version: str, run: str, batch: int, attempt: int, deals: list[str], plan: str) -> None:
    """Play a batch of deals for a command that waits."""
    play_for(queue_of_arena().wire, version, run, batch, attempt, deals, plan)
