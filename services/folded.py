"""Folded tables: a game's stored entries turned into its state and the head of its chain."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final, NamedTuple

from domain.fold import apply
from domain.game import fold
from domain.refusals import CorruptLog
from domain.shuffle import genesis_head, next_head
from domain.state import State
from domain.view import private_part
from services.codec import CODEC
from services.snapshot import read_snapshot
from services.store import CorruptStream, Entry

CACHED_TABLES: Final = 2048
"""Folded tables a process keeps; one takes some 10 KB."""


class Table(NamedTuple):
    """A folded game at one version."""

    state: State
    seq: int
    """Events so far."""
    head: bytes
    """Head of the event chain."""
    at: int
    """When the last event happened, in ms since 1970 UTC."""

    @property
    def etag(self) -> str:
        """The version as HTTP names it, quotes included."""
        return f'"{self.seq}-{self.head.hex()[:16]}"'


class Item(NamedTuple):
    """An event as a reader gets it."""

    seq: int
    head: bytes
    public: bytes
    private: dict[str, str] | None


class TableCache:
    """The latest folded tables, least recently used out first. Safe for threads."""

    def __init__(self, size: int = CACHED_TABLES) -> None:
        self._size = size
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = Lock()

    def get(self, game: str) -> Table | None:
        """The newest table known, or none."""
        with self._lock:
            table = self._tables.get(game)
            if table is not None:
                self._tables.move_to_end(game)
            return table

    def put(self, game: str, table: Table) -> None:
        """Keep ``table`` unless a newer one is known."""
        with self._lock:
            known = self._tables.get(game)
            if known is None or known.seq < table.seq:
                self._tables[game] = table
                self._tables.move_to_end(game)
                if len(self._tables) > self._size:
                    self._tables.popitem(last=False)

    def drop(self, game: str) -> None:
        """Forget a table."""
        with self._lock:
            self._tables.pop(game, None)


def resume(snapshot: bytes) -> Table | None:
    """The table that a snapshot holds; none where the game must be folded from its first event."""
    found = read_snapshot(snapshot) if snapshot else None
    return None if found is None else Table(found.state(), found.seq, found.head, found.at)


def follow(game: str, known: Table | None, entries: Sequence[Entry]) -> Table:
    """The table after the stored ``entries`` that come next. Raises `CorruptStream` naming the event at fault."""
    head = genesis_head(game) if known is None else known.head
    seq = 0 if known is None else known.seq
    state = None if known is None else known.state
    try:
        events = CODEC.decode_all(entries)
        state = fold(state, events)
    except CorruptLog as error:
        raise CorruptStream(game, _first_bad(known, entries), str(error)) from error
    for _, public, _ in entries:
        head = next_head(head, public)
    if entries:
        seq = entries[-1][0]
    at = events[-1].at if events else 0 if known is None else known.at
    return Table(state, seq, head, at)


def _first_bad(known: Table | None, entries: Sequence[Entry]) -> int:
    """The seq of the first entry that cannot be decoded and folded: the slow way, for the error alone."""
    state = None if known is None else known.state
    for seq, public, hidden in entries:
        try:
            state = fold(state, [CODEC.decode(public, hidden)])
        except CorruptLog:
            return seq
    return 0


def read_items(
    game: str, table: Table | None, entries: Sequence[Entry], seat: int | None, after: int
) -> list[Item]:
    """``entries``, which follow ``table``: those after ``after``, each with its head and what it tells ``seat`` alone."""
    head = genesis_head(game) if table is None else table.head
    state = State.__new__(State) if table is None else table.state.copy()
    found = []
    for seq, public, hidden in entries:
        event = CODEC.decode(public, hidden)
        apply(state, event)
        head = next_head(head, public)
        if seq > after:
            private = None if seat is None else private_part(state, event, seat)
            found.append(Item(seq, head, public, private))
    return found
