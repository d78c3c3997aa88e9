"""The only composition: settings in, live services out. Nothing is alive before `build` is called."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

import redis

from services.audit import ServerKey, server_key
from services.durability import Durability
from services.embedded import store_folder, store_socket_url
from services.feed import Feed
from services.keys import Keys
from services.players import Players
from services.projections import Projections
from services.queue import Queue
from services.settings import Settings
from services.store import Store, connect, fix_partitions
from services.tables import Tables


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that commands and readers need, wired to one store."""

    settings: Settings
    client: redis.Redis
    keys: Keys
    store: Store
    feed: Feed
    key: ServerKey
    tables: Tables
    players: Players
    projections: Projections
    queue: Queue
    durability: Durability
    clock: Callable[[], int]


def now_ms() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def store_url(settings: Settings) -> str:
    """Where the log is: the server that was named, or the embedded one of the data folder."""
    return settings.store_url or store_socket_url(settings.data)


def build(
    settings: Settings,
    *,
    store: redis.Redis | None = None,
    clock: Callable[[], int] | None = None,
    entropy: Callable[[int], bytes] | None = None,
) -> Services:
    """Services on the store that ``settings`` name, or on the client ``store``.

    Raises `StoreUnavailable`, `PartitionMismatch`, `KeyFileError`.
    """
    url = store_url(settings)
    client = connect(url) if store is None else store
    keys = Keys(fix_partitions(client, settings.partitions))
    tell_time = clock or now_ms
    draw = entropy or secrets.token_bytes
    log = Store(client, keys)
    key = server_key(log.wire, settings.key_path, draw)
    return Services(
        settings=settings,
        client=client,
        keys=keys,
        store=log,
        feed=Feed(client, keys),
        key=key,
        tables=Tables(log, key, tell_time, draw),
        players=Players(client, tell_time, draw),
        projections=Projections(client, keys),
        queue=Queue(settings.queue_url or url),
        durability=Durability(
            client,
            trusted=not settings.store_url,
            folder=store_folder(settings.data) if store is None and not settings.store_url else None,
        ),
        clock=tell_time,
    )
