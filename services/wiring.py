"""The only composition: settings in, live services out. Nothing is alive before `build` is called."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from services.archive import Archive
from services.archiver import Archiver
from services.auditor import Auditor
from services.branches import Branches
from services.checkpoints import PublicLog
from services.cluster import Client, connect_store, wire_of
from services.desks import Desks
from services.durability import Durability
from services.embedded import store_folder, store_socket_url
from services.feed import Feed
from services.keyring import KeyRing
from services.keys import Keys
from services.opened import Opened
from services.players import Players
from services.pressure import Pressure
from services.projections import Projections
from services.queue import ARENA, AUDITS, Queue
from services.rates import ANSWER_SECONDS, Rates
from services.settings import Settings
from services.standings import Standings
from services.store import Store, fix_partitions
from services.tables import Tables
from services.translog import TransparencyLog


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that commands and readers need, wired to one store."""

    settings: Settings
    client: Client
    keys: Keys
    store: Store
    feed: Feed
    key: KeyRing
    tables: Tables
    branches: Branches
    players: Players
    projections: Projections
    desks: Desks
    standings: Standings
    queue: Queue
    audits: Queue
    durability: Durability
    log: PublicLog
    auditor: Auditor
    archiver: Archiver | None
    opened: Opened
    pressure: Pressure
    rates: Rates
    clock: Callable[[], int]

    def warnings(self) -> list[str]:
        """What may lose games, keeps some from being read or new ones from being opened, a sentence each.

        Raises `StoreUnavailable`.
        """
        why = self.archiver.hindrance() if self.archiver else None
        full = self.pressure.why()
        told = [f"no new tables are opened: {full}"] if full else []
        aside = sum(not one.skipped for one in self.projections.parked().values())
        if aside:
            told.append(f"{aside} games could not be folded and were set aside: hearts parked list")
        return self.durability.warnings() + ([why] if why else []) + told


def now_ms() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def store_url(settings: Settings) -> str:
    """Where the log is: the server that was named, or the embedded one of the data folder."""
    return settings.store_url or store_socket_url(settings.data)


def queue_url(settings: Settings) -> str:
    """Where jobs are: beside the log, unless the settings name another server."""
    return settings.queue_url or store_url(settings)


def arena_queue(settings: Settings) -> Queue:
    """The queue of the arena, which needs nothing else of a house: no key file, no log."""
    return Queue(queue_url(settings), name=ARENA)


def build(
    settings: Settings,
    *,
    store: Client | None = None,
    clock: Callable[[], int] | None = None,
    entropy: Callable[[int], bytes] | None = None,
) -> Services:
    """Services on the store that ``settings`` name, or on the client ``store``.

    Raises `StoreUnavailable`, `PartitionMismatch`, `KeyFileError`.
    """
    url = store_url(settings)
    client = connect_store(url) if store is None else store
    keys = Keys(fix_partitions(client, settings.partitions))
    tell_time = clock or now_ms
    draw = entropy or secrets.token_bytes
    archive = None if settings.archive_place is None else Archive(settings.archive_place, wire_of(client))
    log = Store(client, keys, archive, settings.replicas)
    key = KeyRing(log.wire, settings.key_path, draw)
    tables = Tables(log, key, tell_time, draw)
    public_log = PublicLog(TransparencyLog(log.wire), key, settings.origin, settings.signed_path)
    projections, feed = Projections(client, keys), Feed(client, keys)
    return Services(
        settings=settings,
        client=client,
        keys=keys,
        store=log,
        feed=feed,
        key=key,
        tables=tables,
        branches=Branches(log, tables, key),
        players=Players(client, key, tell_time, draw, settings.replicas),
        projections=projections,
        desks=Desks(client, keys),
        standings=Standings(client, keys),
        queue=Queue(queue_url(settings)),
        audits=Queue(queue_url(settings), name=AUDITS),
        durability=Durability(
            client,
            trusted=not settings.store_url,
            replicas=settings.replicas,
            folder=store_folder(settings.data) if store is None and not settings.store_url else None,
        ),
        log=public_log,
        auditor=Auditor(log, projections, public_log, key, tell_time),
        archiver=None
        if archive is None
        else Archiver(log, archive, public_log.tree, settings.archive_hours, tell_time),
        opened=Opened(client, projections),
        pressure=Pressure(feed, log.wire, most_lag=settings.most_lag, most_memory=settings.most_memory),
        rates=Rates(connect_store(url, timeout=ANSWER_SECONDS) if store is None else store),
        clock=tell_time,
    )
