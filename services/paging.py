"""A game's events a page at a time, however long the game is.

An event's head, what it tells a seat and the table at it follow from everything before it. So a reader passes by
stations, tables folded at every `PAGE`-th event, some of which are kept for a while: who reads a long game page by page
folds each event twice, and nobody folds it from the beginning each time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Final

from services.folded import Item, Table, follow, read_items
from services.store import PAGE, CorruptStream, Entry, Seq, Store

MOST_STATIONS: Final = 512
"""Stations that a process keeps, the least recently used out first; one takes some 10 KB."""
SPARSE: Final = 16
"""Of the pages that are only passed, the station of every so many-th is kept: of a game of 500,000 events some 30."""
_TOO_SHORT: Final = "the stream ends before the version that is read"


class EventPages:
    """Pages of the events of all games. Safe for threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stations: OrderedDict[tuple[str, Seq], Table] = OrderedDict()
        self._lock = Lock()

    def read(self, game: str, after: Seq, limit: int, seat: int | None) -> list[Item]:
        """At most ``limit`` events after ``after``, as ``seat`` may read them, a spectator where it is none.

        Raises `CorruptStream`, `StoreUnavailable`.
        """
        station = self._station(game, after // PAGE * PAGE)
        seq = 0 if station is None else station.seq
        entries = self._store.read(game, seq, after + limit)
        return read_items(game, station, entries, seat, after)

    def table(self, game: str, seq: Seq) -> Table:
        """The table after event ``seq``, from 1. Raises `CorruptStream`, `StoreUnavailable`."""
        station = self._station(game, seq // PAGE * PAGE)
        at = 0 if station is None else station.seq
        if station is not None and at == seq:
            return station
        entries = self._store.read(game, at, seq)
        if len(entries) != seq - at:
            raise CorruptStream(game, at + len(entries) + 1, _TOO_SHORT)
        return follow(game, station, entries)

    def entries(self, game: str, upto: Seq) -> Iterator[Entry]:
        """The stored events up to ``upto``, of which only a page is in memory. Raises `CorruptStream`, `StoreUnavailable`."""
        after = 0
        while after < upto:
            page = self._store.read(game, after, min(after + PAGE, upto))
            if not page:
                raise CorruptStream(game, after + 1, _TOO_SHORT)
            yield from page
            after = page[-1][0]

    def _station(self, game: str, seq: Seq) -> Table | None:
        """The table after event ``seq``, a multiple of a page, or after the last where there are fewer; none at the start."""
        table, at = None, seq
        while at and (table := self._known(game, at)) is None:
            at -= PAGE
        while at < seq:
            entries = self._store.read(game, at, at + PAGE)
            if not entries:
                break
            table = follow(game, table, entries)
            at = table.seq
            if at == seq or at % (SPARSE * PAGE) == 0:
                self._keep(game, table)
        return table

    def _known(self, game: str, seq: Seq) -> Table | None:
        with self._lock:
            table = self._stations.get((game, seq))
            if table is not None:
                self._stations.move_to_end((game, seq))
            return table

    def _keep(self, game: str, table: Table) -> None:
        with self._lock:
            self._stations[game, table.seq] = table
            if len(self._stations) > MOST_STATIONS:
                self._stations.popitem(last=False)
