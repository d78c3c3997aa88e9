"""Folded tables: a game's stored entries turned into its state and the head of its chain."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Final, NamedTuple

import msgspec

from domain.events import Event, GameCreated, KeyRotated
from domain.fold import apply
from domain.game import fold
from domain.refusals import CorruptLog, HeartsError
from domain.shuffle import genesis_head, next_head
from domain.signing import HISTORY_MARKS
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
    mark: tuple[int, bytes] = (0, b"")
    """The last of `HISTORY_MARKS` and its head: the earliest event that a move may be signed at."""
    signer: str = ""
    """The server's public key that is valid at this event, hex: one that the event itself names is so at later ones."""

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


class Told(NamedTuple):
    """An event as all its readers get it."""

    seq: int
    head: bytes
    public: bytes
    private: dict[int, dict[str, str]]
    """What it tells a seat alone, for those seats of persons that it tells something."""
    rendered: dict[int | None, bytes]
    """The event as it goes out, by seat, where that has been worked out; by none what everybody else gets."""

    def to(self, seat: int | None) -> Item:
        """The event as ``seat`` gets it, a spectator where it is none."""
        return Item(self.seq, self.head, self.public, None if seat is None else self.private.get(seat))


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
    if found is None:
        return None
    try:
        state = found.state()
    except (msgspec.MsgspecError, HeartsError, ValueError, LookupError, TypeError, RecursionError):
        return None  # a part of it was damaged, and the events serve
    return Table(state, found.seq, found.head, found.at, found.mark, found.signer)


def follow(game: str, known: Table | None, entries: Sequence[Entry]) -> Table:
    """The table after the stored ``entries`` that come next. Raises `CorruptStream` naming the event at fault."""
    head = genesis_head(game) if known is None else known.head
    seq = 0 if known is None else known.seq
    state_before = None if known is None else known.state
    try:
        events = CODEC.decode_all(entries)
        state = fold(state_before, events)
    except CorruptLog as error:
        raise CorruptStream(game, _first_bad(known, entries), str(error)) from error
    mark = (0, b"") if known is None else known.mark
    since = next((at for at in range(len(entries), 0, -1) if type(events[at - 1]) in HISTORY_MARKS), 0)
    for _, public, _ in entries[:since]:
        head = next_head(head, public)
    if since:
        mark = (entries[since - 1][0], head)
    for _, public, _ in entries[since:]:
        head = next_head(head, public)
    if entries:
        seq = entries[-1][0]
    at = events[-1].at if events else 0 if known is None else known.at
    signer = known.signer if known is not None and not events else signer_of(state_before, events, state)
    return Table(state, seq, head, at, mark, signer)


def signer_of(before: State | None, events: Sequence[Event], after: State) -> str:
    """The public key that is valid at the last of ``events``, which lead from ``before`` to ``after``."""
    if not isinstance(events[-1], KeyRotated):
        return after.server_key
    named = [event.server_key for event in events[:-1] if isinstance(event, KeyRotated | GameCreated)]
    return named[-1] if named else before.server_key if before is not None else ""


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
    found = []
    for seq, public, head, state, event in _walk(game, table, entries):
        if seq > after:
            private = None if seat is None else private_part(state, event, seat)
            found.append(Item(seq, head, public, private))
    return found


def tell(game: str, table: Table, entries: Sequence[Entry]) -> tuple[list[Told], Table]:
    """The events of ``entries``, which follow ``table``, for all their readers at once; and the table after them."""
    found, events, mark, state = [], [], table.mark, table.state
    for seq, public, head, state, event in _walk(game, table, entries):
        private: dict[int, dict[str, str]] = {}
        for seat, one in enumerate(state.seats):
            if one.kind == "player" and (part := private_part(state, event, seat)) is not None:
                private[seat] = part
        found.append(Told(seq, head, public, private, {}))
        events.append(event)
        if type(event) in HISTORY_MARKS:
            mark = (seq, head)
    if not found:
        return [], table
    last, signer = found[-1], signer_of(table.state, events, state)
    return found, Table(state, last.seq, last.head, events[-1].at, mark, signer)


def _walk(
    game: str, table: Table | None, entries: Sequence[Entry]
) -> Iterator[tuple[int, bytes, bytes, State, Event]]:
    """Seq, stored bytes and head of each entry, the state right after it, which goes on changing, and the event."""
    head = genesis_head(game) if table is None else table.head
    state = State.__new__(State) if table is None else table.state.copy()
    for seq, public, hidden in entries:
        event = CODEC.decode(public, hidden)
        apply(state, event)
        head = next_head(head, public)
        yield seq, public, head, state, event
