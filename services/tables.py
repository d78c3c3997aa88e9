"""The command handler: the only way in which anything happens at a table.

A command is enriched with time and entropy, judged by `domain.game` against the folded log, and appended. A writer
that is behind is answered with the events it missed, folds them and decides again, so a command is always judged
against the table as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

import msgspec

from domain import events as e
from domain.bots import BOTS, STAND_IN, house_move
from domain.commands import AnyCommand, LockTable, OpenTable, SeatPlan
from domain.fold import apply
from domain.game import advance, deadline, fold, to_act
from domain.refusals import CorruptLog, HeartsError, Refused
from domain.ruleset import RuleSet
from domain.shuffle import genesis_head, next_head
from domain.state import State
from domain.view import private_part
from services.audit import Receipt, ServerKey
from services.codec import CODEC, Stored
from services.store import Appended, CorruptStream, Entry, Gap, Once, Replayed, Store, StoreUnavailable

CACHED_TABLES = 2048
"""Folded tables a process keeps; one takes some 10 KB."""
MOST_TRIES = 256
"""Conflicts after which a command gives up: each means that another writer got through."""
MOST_EVENTS = 512
"""Events that one append of bot moves may carry, so that a game of bots alone is stored in steps."""


class UnknownGame(HeartsError):
    """There is no game of this id."""


class StaleVersion(HeartsError):
    """The table has moved on from the version that the command was meant for."""

    def __init__(self, table: Table) -> None:
        super().__init__(f"the table is at {table.etag}")
        self.table = table


class KeyReused(HeartsError):
    """The idempotency key was used for another request."""


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


class Key(NamedTuple):
    """An idempotency key: who used it for which route, and the digest of what was asked."""

    caller: str
    route: str
    key: str
    fingerprint: str

    @property
    def field(self) -> bytes:
        """Where the outcome is kept."""
        return f"{self.caller}|{self.route}|{self.key}".encode()


class _Kept(msgspec.Struct, frozen=True):
    """The outcome kept under an idempotency key: the request's fingerprint and the last seq it caused."""

    f: str
    n: int


class Outcome(NamedTuple):
    """An accepted command: the table after it, and the receipt of its last event."""

    table: Table
    events: Sequence[e.Event]
    """What happened; empty where the answer was given before."""
    receipt: Receipt
    replayed: bool = False


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


class Tables:
    """All tables of a store."""

    def __init__(
        self, store: Store, key: ServerKey, clock: Callable[[], int], entropy: Callable[[int], bytes]
    ) -> None:
        self._store = store
        self._key = key
        self._clock = clock
        self._entropy = entropy
        self._cache = TableCache()

    # --- reading

    def load(self, game: str) -> Table:
        """The table as it is now. Raises `UnknownGame`, `CorruptLog`, `StoreUnavailable`."""
        known = self._cache.get(game)
        entries = self._store.read(game, 0 if known is None else known.seq)
        if known is not None and not entries:
            return known
        if not entries:
            raise UnknownGame(f"there is no game {game:.60}")
        return self._follow(game, known, entries)

    def at(self, game: str, seq: int) -> Table:
        """The table as it was after event ``seq``. Raises `UnknownGame` where it has not got so far."""
        known = self._cache.get(game)
        if known is not None and known.seq == seq:
            return known
        entries = self._store.read(game, 0, seq) if seq > 0 else []
        if len(entries) < seq or seq < 1:
            raise UnknownGame(f"game {game:.60} has no event {seq}")
        return follow(game, None, entries)

    def items(self, game: str, after: int, seat: int | None, wait_ms: int = 0) -> list[Item]:
        """The events after ``after`` as ``seat`` may read them, a spectator where it is none.

        Where there are none yet, those that come within ``wait_ms``. Raises `UnknownGame`.
        """
        table = self.load(game)
        if table.seq <= after:
            entries = self._store.tail(game, table.seq, wait_ms) if wait_ms and table.seq == after else []
            return _items(game, table, entries, seat, after)
        return _items(game, None, self._store.read(game), seat, after)

    def entries(self, game: str) -> list[Entry]:
        """The whole stream of a game as it is stored. Raises `UnknownGame`."""
        entries = self._store.read(game)
        if not entries:
            raise UnknownGame(f"there is no game {game:.60}")
        return entries

    def recall(self, game: str, key: Key) -> Outcome | None:
        """The outcome of an earlier request under ``key``. Raises `KeyReused` where that was another request."""
        answer = self._store.recall(game, key.field, self._clock())
        return None if answer is None else self._replay(game, key, answer)

    # --- commands

    def open(
        self,
        rules: RuleSet,
        seats: Sequence[SeatPlan],
        *,
        chain: int = 64,
        ready_seconds: int = 60,
        rated: bool = False,
        hints: bool = True,
        clock: int | None = None,
        key: Key | None = None,
    ) -> Outcome:
        """Open a table. Under a key its id follows from caller and key, so that a repeat finds the same table."""
        for attempt in range(MOST_TRIES):
            game = self._new_id(key, attempt)
            command = OpenTable(
                at=self._clock(),
                game=game,
                rules=rules,
                secret=self._entropy(32),
                seats=tuple(seats),
                server_key=self._key.public,
                stand_in=BOTS[STAND_IN].id,
                chain=chain,
                ready_seconds=ready_seconds,
                rated=rated,
                hints=hints,
                clock=clock,
            )
            events, state = advance(None, command)
            outcome = self._append(game, None, events, state, command.at, key)
            if isinstance(outcome, Outcome):
                return outcome
        raise StoreUnavailable("no free id for a table was found")

    def handle(
        self, game: str, command: AnyCommand, *, key: Key | None = None, if_match: str | None = None
    ) -> Outcome:
        """Let ``command`` happen at the table as it is now, or refuse it.

        ``if_match`` is the only version, an etag, that it may be judged against. The key is looked up before that, and
        a refused command burns none. Raises `Refused`, `StaleVersion`, `KeyReused`, `UnknownGame`, `StoreUnavailable`.
        """
        known = self._cache.get(game)
        table, fresh = (self.load(game), True) if known is None else (known, False)
        for _ in range(MOST_TRIES):
            at = max(self._clock(), table.at)
            try:
                if if_match is not None and if_match != table.etag:
                    raise StaleVersion(table)
                events, state = advance(table.state, msgspec.structs.replace(command, at=at))
            except (Refused, StaleVersion):
                if not fresh:
                    # a refusal counts only against the table as it is now, not as this process last saw it
                    table, fresh = self.load(game), True
                    continue
                earlier = None if key is None else self.recall(game, key)
                if earlier is None:
                    raise
                return earlier
            outcome = self._append(game, table, events, state, at, key)
            if isinstance(outcome, Outcome):
                return outcome
            table, fresh = outcome, True
        raise StoreUnavailable(f"game {game:.60} is too busy")

    def act_for_house(self, game: str, most: int = MOST_EVENTS) -> Table:
        """Make the moves that the house owes at a table now: its bots', and those of deadlines that have passed.

        Plays on until a person must act, at most about ``most`` events; they are one append, so nobody sees half of
        them. Returns the table after them. Raises as `handle` does.
        """
        table = self.load(game)
        for _ in range(MOST_TRIES):
            at = max(self._clock(), table.at)
            events, state = _house_events(table.state, at, most)
            if not events:
                return table
            outcome = self._append(game, table, events, state, at, None)
            if isinstance(outcome, Outcome):
                return outcome.table
            table = outcome
        raise StoreUnavailable(f"game {game:.60} is too busy")

    # --- inside

    def _append(
        self,
        game: str,
        table: Table | None,
        events: list[e.Event],
        state: State,
        at: int,
        key: Key | None,
    ) -> Outcome | Table | None:
        """The outcome, or where other events came first the table after those (none for a new table)."""
        seq, head = (0, genesis_head(game)) if table is None else (table.seq, table.head)
        stored: list[Stored] = []
        for number, event in enumerate(events, seq + 1):
            pair = CODEC.encode(event, number)
            head = next_head(head, pair[0])
            stored.append(pair)
        last = seq + len(events)
        once = None if key is None else Once(key.field, msgspec.json.encode(_Kept(key.fingerprint, last)))
        try:
            result = self._store.append(game, seq, stored, now=at, due=next_due(state, at), once=once)
        except Gap:
            # the store came back without a tail this process had seen: believe the store
            self._cache.drop(game)
            return self.load(game)
        if isinstance(result, Appended):
            done = Table(state, last, head, at)
            self._cache.put(game, done)
            return Outcome(done, events, self._key.receipt(game, last, head))
        if isinstance(result, Replayed):
            assert key is not None
            return self._replay(game, key, result.answer)
        return None if table is None else self._follow(game, table, result.entries)

    def _follow(self, game: str, known: Table | None, entries: Sequence[Entry]) -> Table:
        table = follow(game, known, entries)
        self._cache.put(game, table)
        return table

    def _replay(self, game: str, key: Key, answer: bytes) -> Outcome:
        kept = msgspec.json.decode(answer, type=_Kept)
        if kept.f != key.fingerprint:
            raise KeyReused("this idempotency key was used for another request")
        table = self.at(game, kept.n)
        return Outcome(table, [], self._key.receipt(game, table.seq, table.head), replayed=True)

    def _new_id(self, key: Key | None, attempt: int) -> str:
        """Twelve bytes in hex: random, or from caller and key; later attempts are for ids that have expired."""
        if key is None:
            return self._entropy(12).hex()
        return self._key.derive("game-id", key.caller, key.key, str(attempt))[:12].hex()


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
    for seq, public, _ in entries:
        head = next_head(head, public)
    return Table(state, seq, head, events[-1].at if events else 0)


def _first_bad(known: Table | None, entries: Sequence[Entry]) -> int:
    """The seq of the first entry that cannot be decoded and folded: the slow way, for the error alone."""
    state = None if known is None else known.state
    for seq, public, hidden in entries:
        try:
            state = fold(state, [CODEC.decode(public, hidden)])
        except CorruptLog:
            return seq
    return 0


def _items(
    game: str, table: Table | None, entries: Sequence[Entry], seat: int | None, after: int
) -> list[Item]:
    """``entries`` that follow ``table``, each with its head and what it tells ``seat`` alone."""
    head = genesis_head(game) if table is None else table.head
    state = State.__new__(State) if table is None else table.state.copy()
    found = []
    for seq, public, hidden in entries:
        event = CODEC.decode(public, hidden)
        apply(state, event, started=seq > 1)
        head = next_head(head, public)
        if seq > after:
            private = None if seat is None else private_part(state, event, seat)
            found.append(Item(seq, head, public, private))
    return found


def next_due(state: State, now: int) -> int | None:
    """When the house must act at this table, in ms; none where it waits for persons without a clock."""
    if state.phase in ("pass", "play", "moon") and any(
        state.seats[seat].house_plays for seat in to_act(state)
    ):
        return now
    return deadline(state)


def _house_events(state: State, at: int, most: int) -> tuple[list[e.Event], State]:
    events: list[e.Event] = []
    while len(events) < most:
        command = _owed(state, at)
        if command is None:
            break
        more, state = advance(state, command)
        events.extend(more)
    return events, state


def _owed(state: State, at: int) -> AnyCommand | None:
    """The next thing that the house must do at ``at``; none where it owes nothing yet."""
    late = deadline(state)
    passed = late is not None and late <= at
    if state.phase == "seats":
        return LockTable(at=at) if passed else None
    for seat in to_act(state):
        if state.seats[seat].house_plays or passed:
            return house_move(state, seat, at)
    return None
