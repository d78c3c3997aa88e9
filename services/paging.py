"""A game's events a page at a time, and the table at any of them, however long the game is.

An event's head, what it tells a seat and the table at it follow from everything before it. So a reader passes by
stations, folded tables of which some are kept for a while: in the page that was looked into one after every `STEP`
events. Who reads a long game page by page, or looks about in it, folds few events more than it is shown, and nobody
folds it from the beginning each time.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Final, NamedTuple

from services.folded import Item, Table, follow, read_items
from services.store import PAGE, CorruptStream, Entry, Seq, Store

STEP: Final = 40
"""Events from one station to the next; a page is a multiple of it."""
MOST_STATIONS: Final = 2048
"""Stations that a process keeps, the least recently used out first; one takes some 10 KB."""
SPARSE: Final = 16
"""Of the pages that are only passed, the station of every so many-th is kept: of a game of 500,000 events some 30."""
_TOO_SHORT: Final = "the stream ends before the version that is read"


class _Station(NamedTuple):
    """A table as it was, and the stored public bytes of the event that led to it."""

    table: Table
    public: bytes


class _Elsewhere(Exception):
    """The store has lost events that a station rests on: the game may have gone another way since."""


class EventPages:
    """Pages of the events of all games. Safe for threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stations: OrderedDict[tuple[str, Seq], _Station] = OrderedDict()
        self._places: dict[str, list[Seq]] = {}
        """Where each game has stations, in order."""
        self._lock = Lock()

    def read(self, game: str, after: Seq, limit: int, seat: int | None) -> list[Item]:
        """At most ``limit`` events after ``after``, as ``seat`` may read them, a spectator where it is none.

        Raises `CorruptStream`, `StoreUnavailable`.
        """
        table, entries = self._walk(game, after, after + limit)
        return read_items(game, table, entries, seat, after)

    def table(self, game: str, seq: Seq) -> Table:
        """The table after event ``seq``, from 1. Raises `CorruptStream`, `StoreUnavailable`."""
        table, entries = self._walk(game, seq, seq)
        at = 0 if table is None else table.seq
        if len(entries) != seq - at:
            raise CorruptStream(game, at + len(entries) + 1, _TOO_SHORT)
        return table if table is not None and at == seq else follow(game, table, entries)

    def entries(self, game: str, upto: Seq) -> Iterator[Entry]:
        """The stored events up to ``upto``, of which only a page is in memory. Raises `CorruptStream`, `StoreUnavailable`."""
        after = 0
        while after < upto:
            page = self._store.read(game, after, min(after + PAGE, upto))
            if not page:
                raise CorruptStream(game, after + 1, _TOO_SHORT)
            yield from page
            after = page[-1][0]

    def drop(self, game: str) -> None:
        """Forget what is kept of a game."""
        with self._lock:
            for seq in self._places.pop(game, ()):
                del self._stations[game, seq]

    def _walk(self, game: str, seq: Seq, upto: Seq) -> tuple[Table | None, list[Entry]]:
        """The last station at event ``seq`` or before, none at the start, and the entries behind it up to ``upto``.

        Where the game has fewer events, it is one that lies further back, or fewer entries.
        """
        while True:
            try:
                return self._walk_once(game, seq, upto)
            except _Elsewhere:
                self.drop(game)

    def _walk_once(self, game: str, seq: Seq, upto: Seq) -> tuple[Table | None, list[Entry]]:
        station = self._nearest(game, seq)
        table = None if station is None else station.table
        at = 0 if table is None else table.seq
        while seq - at > PAGE:
            passed = self._behind(game, station, at, at // PAGE * PAGE + PAGE)
            if not passed:
                return table, []
            table, station = follow(game, table, passed), None
            at = table.seq
            if at % (SPARSE * PAGE) == 0 or seq - at <= PAGE:
                self._keep(game, table, passed[-1])
        entries = self._behind(game, station, at, upto)
        begun = 0
        while (end := at // STEP * STEP + STEP) <= seq and end - at <= len(entries) - begun:
            table = follow(game, table, entries[begun : begun + end - at])
            begun += end - at
            at = end
            self._keep(game, table, entries[begun - 1])
        return table, entries[begun:]

    def _behind(self, game: str, station: _Station | None, at: Seq, upto: Seq) -> list[Entry]:
        """The entries behind event ``at`` up to ``upto``. Raises `_Elsewhere` where that event is not the station's."""
        if station is None:
            return self._store.read(game, at, upto)
        entries = self._store.read(game, at - 1, upto)
        if not entries or entries[0][1] != station.public:
            raise _Elsewhere
        return entries[1:]

    def _nearest(self, game: str, seq: Seq) -> _Station | None:
        with self._lock:
            places = self._places.get(game, [])
            number = bisect_right(places, seq)
            if not number:
                return None
            self._stations.move_to_end((game, places[number - 1]))
            return self._stations[game, places[number - 1]]

    def _keep(self, game: str, table: Table, last: Entry) -> None:
        with self._lock:
            if (game, table.seq) not in self._stations:
                insort(self._places.setdefault(game, []), table.seq)
            self._stations[game, table.seq] = _Station(table, last[1])
            self._stations.move_to_end((game, table.seq))
            if len(self._stations) > MOST_STATIONS:
                (old, seq), _ = self._stations.popitem(last=False)
                self._places[old].remove(seq)
                if not self._places[old]:
                    del self._places[old]
