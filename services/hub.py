"""The hub: one reader of the log a process, for everybody who waits for events there.

A thread follows all feeds and inboxes on one connection. Of a game that somebody listens to it reads each event once,
folds it once, and rings for the listeners, who take what they have not had yet; so a listener costs no connection and no
reading of its own, and one who is slow keeps nobody waiting: what is no longer here is read from the log, page by page.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final

from domain.refusals import CorruptLog, HeartsError
from services.desks import Cursor, Desks, Entry, as_number, read_entries
from services.feed import read_behind, read_pointers, tails
from services.folded import Item, Table, Told, tell
from services.paging import EventPages
from services.store import PAGE, CorruptStream, Store, StoreUnavailable
from services.store import Entry as StoredEntry
from services.supervise import Backoff
from services.tables import Tables

LINGER_SECONDS: Final = 30.0
"""How long the hub goes on following when nobody listens any more."""
BLOCK_MS: Final = 500
"""How long it waits for news at the server before it looks whether it should stop."""
PAUSE_SECONDS: Final = 0.002
"""After a reading that found something: what comes meanwhile is read at once, so a busy log is not read entry by entry."""
ELSEWHERE_SECONDS: Final = 0.01
"""The same where all of it was of games that nobody listens to."""
CHECK_SECONDS: Final = 10.0
"""How often each game that is listened to is read whatever the feeds say, in case a pointer was lost with the store."""
RECENT: Final = 256
"""Events of a game, or news of a player, that are kept for listeners who have yet to take them."""
IDLE: Final = 16
"""The same where they are older than `FRESH_MS`."""
FRESH_MS: Final = 5_000

Render = Callable[[Item], bytes]
"""How an event goes out."""


class Cut(HeartsError):
    """The store has lost events that were told already; who reads on must begin anew."""


class Closed(HeartsError):
    """The hub has stopped, because the process is about to."""


class Bell:
    """What a listener waits for. Rung twice before it is heard, it has rung once."""

    def __init__(self) -> None:
        self._rings: SimpleQueue[None] = SimpleQueue()

    def ring(self) -> None:
        """Wake whoever waits, or the next who does."""
        if self._rings.empty():
            self._rings.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait until it rings, at most so long. Returns whether it has."""
        try:
            self._rings.get(timeout=max(0.0, seconds))
        except Empty:
            return False
        return True


class _Topic:
    """What somebody listens to: bells, and what has gone wrong for all of them."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.bells: tuple[Bell, ...] = ()
        """Never changed in place, so that they can be rung without a lock."""
        self.error: Exception | None = None

    def ring(self) -> None:
        """Wake all listeners."""
        for bell in self.bells:
            bell.ring()

    def fail(self, error: Exception) -> None:
        """End it for all listeners."""
        self.error = error
        self.ring()


class GameTopic(_Topic):
    """A game that is listened to: the table as it is, and its last events."""

    def __init__(self, game: str, clock: Callable[[], int]) -> None:
        super().__init__()
        self.game = game
        self._clock = clock
        self._table: Table | None = None
        self._recent: deque[Told] = deque()

    @property
    def table(self) -> Table:
        """The table after the last event that was read."""
        assert self._table is not None
        return self._table

    @property
    def begun(self) -> bool:
        """Whether the table has been read."""
        return self._table is not None

    def begin(self, tables: Tables) -> None:
        """Read the table where that has not been done. Raises as `Tables.load` does."""
        with self.lock:
            if self._table is None:
                self._table = tables.load(self.game)

    def follow(self, entries: Sequence[StoredEntry]) -> None:
        """Take in stored entries, of which it may know the first ones."""
        with self.lock:
            if self._table is None:
                return
            news = [entry for entry in entries if entry[0] > self._table.seq]
            if not news:
                return
            told, self._table = tell(self.game, self._table, news)
            self._recent.extend(told)
            self._forget()
            self.ring()

    def _forget(self) -> None:
        old = self._clock() - FRESH_MS
        recent = self._recent
        while len(recent) > RECENT or (len(recent) > IDLE and self.table.at < old):
            recent.popleft()

    def behind(self, seq: int) -> list[Told] | None:
        """The events behind ``seq``; none where they are no longer all here."""
        with self.lock:
            if seq >= self.table.seq:
                return []
            if not self._recent or self._recent[0].seq > seq + 1:
                return None
            if self._recent[-1].seq == seq + 1:
                return [self._recent[-1]]
            return list(islice(self._recent, seq + 1 - self._recent[0].seq, None))


class DeskTopic(_Topic):
    """A player who is listened for: the news that came since the first listener did."""

    def __init__(self, player: str, floor: bytes) -> None:
        super().__init__()
        self.player = player
        self._floor = floor
        self._recent: deque[Entry] = deque()

    def add(self, entry: Entry) -> None:
        """Take in a piece of news."""
        with self.lock:
            self._recent.append(entry)
            if len(self._recent) > RECENT:
                self._floor = self._recent.popleft().id
            self.ring()

    def behind(self, cursor: Cursor) -> list[Entry] | None:
        """The news behind a cursor, that of the cursor included where it is not read whole; none where it is not all here."""
        at, whole = as_number(cursor.id), not cursor.seq
        with self.lock:
            if at < as_number(self._floor) or (not whole and at == as_number(self._floor)):
                return None
            return [
                one
                for one in self._recent
                if as_number(one.id) > at or (not whole and as_number(one.id) == at)
            ]


class Hub:
    """All that is listened to in this process. Its thread runs only while somebody listens, and a little longer."""

    def __init__(
        self,
        store: Store,
        tables: Tables,
        desks: Desks,
        pages: EventPages,
        clock: Callable[[], int],
        render: Render,
        stopping: Callable[[], bool],
        in_turn: Callable[..., Any],
    ) -> None:
        """``in_turn`` calls what takes longer, few at a time."""
        self.tables, self.desks, self.pages, self.render = tables, desks, pages, render
        self.in_turn = in_turn
        self._store, self._clock, self._stopping = store, clock, stopping
        keys = store.keys
        every = range(keys.partitions)
        self._feeds = {keys.feed(p).encode() for p in every}
        self._streams = [keys.feed(p) for p in every] + [keys.inbox(p) for p in every]
        self._cursors: dict[str, bytes] = {}
        self._games: dict[str, GameTopic] = {}
        self._players: dict[str, DeskTopic] = {}
        self._lock = Lock()
        self._thread: Thread | None = None
        self._quiet_since = 0.0
        self._check_at = 0.0
        self._pause = Event()

    # --- listening

    def join(self, game: str, bell: Bell) -> GameTopic:
        """Listen to a game until `leave`: ``bell`` rings when something has happened there.

        Raises as `Tables.load` does, and `Closed`.
        """
        with self._lock:
            self._follow()
            topic = self._games.get(game)
            if topic is None:
                topic = self._games[game] = GameTopic(game, self._clock)
            topic.bells = (*topic.bells, bell)
        try:
            topic.begin(self.tables)
        except BaseException:
            self.leave(topic, bell)
            raise
        return topic

    def leave(self, topic: GameTopic | DeskTopic, bell: Bell) -> None:
        """Listen no more."""
        with self._lock:
            topic.bells = tuple(one for one in topic.bells if one is not bell)
            if topic.bells:
                return
            if isinstance(topic, GameTopic):
                if self._games.get(topic.game) is topic:
                    del self._games[topic.game]
            elif self._players.get(topic.player) is topic:
                del self._players[topic.player]
            self._quiet_since = time.monotonic()

    @contextmanager
    def player(self, player: str, bell: Bell) -> Iterator[DeskTopic]:
        """Listen for a player: ``bell`` rings at news of any of its games. Raises `StoreUnavailable`, `Closed`."""
        with self._lock:
            self._follow()
            topic = self._players.get(player)
            if topic is None:
                inbox = self._store.keys.inbox(self._store.keys.partition(player))
                topic = self._players[player] = DeskTopic(player, self._cursors[inbox])
            topic.bells = (*topic.bells, bell)
        try:
            yield topic
        finally:
            self.leave(topic, bell)

    def listeners(self) -> int:
        """How many bells there are."""
        with self._lock:
            topics: list[_Topic] = [*self._games.values(), *self._players.values()]
            return sum(len(topic.bells) for topic in topics)

    # --- the log

    def _follow(self) -> None:
        """See that the thread follows the log from here on. Holding the lock."""
        if self._stopping():
            raise Closed("the server is stopping")
        if self._thread is not None:
            return
        self._cursors = tails(self._store.wire, self._streams)
        self._check_at = time.monotonic() + CHECK_SECONDS
        self._thread = Thread(target=self._run, name="hub", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        patience = Backoff(0.05, 1.0, apart=True)
        while not self._is_done():
            try:
                replies = read_behind(self._store.wire, self._cursors, BLOCK_MS, 1_000)
                heard = self._tell(replies)
                self._check()
                patience.succeed()
            except StoreUnavailable:
                # listeners wait on; when the store answers again, each game is read whatever the feeds say
                self._check_at = 0.0
                self._pause.wait(patience.fail())
            else:
                if replies:
                    self._pause.wait(PAUSE_SECONDS if heard else ELSEWHERE_SECONDS)

    def _is_done(self) -> bool:
        with self._lock:
            topics: list[_Topic] = [*self._games.values(), *self._players.values()]
            if self._stopping():
                for topic in topics:
                    topic.fail(Closed("the server is stopping"))
                self._thread = None
                return True
            if not topics and time.monotonic() - self._quiet_since > LINGER_SECONDS:
                self._thread = None
                return True
        return False

    def _tell(self, replies: Sequence[tuple[bytes, Sequence[Any]]]) -> bool:
        """Take in what was read. Returns whether anybody listens to any of it."""
        games: set[str] = set()
        inboxes: list[tuple[str, Sequence[Any]]] = []
        for stream, raw in replies:
            if stream in self._feeds:
                games.update(pointer.game for pointer in read_pointers(raw))
                self._cursors[stream.decode()] = raw[-1][0]
            else:
                inboxes.append((stream.decode(), raw))
        heard = self.refresh(games)
        for inbox, raw in inboxes:
            with self._lock:
                # where a topic begins is this cursor: both change in one step
                for entry in read_entries(raw):
                    desk = self._players.get(entry.player)
                    if desk is not None:
                        desk.add(entry)
                        heard = True
                self._cursors[inbox] = raw[-1][0]
        return heard

    def _check(self) -> None:
        if time.monotonic() >= self._check_at:
            self.refresh(list(self._games))
            self._check_at = time.monotonic() + CHECK_SECONDS

    def refresh(self, games: Collection[str]) -> bool:
        """Read what is new of those games that are listened to, all in one round trip. Returns whether any is."""
        with self._lock:
            topics = [topic for game in games if (topic := self._games.get(game)) and topic.begun]
        heard = bool(topics)
        while topics:
            # each one's own last event is read again: where it is gone, the store has lost what was told
            found = self._store.read_many([(topic.game, topic.table.seq - 1) for topic in topics])
            topics = [topic for topic, entries in zip(topics, found, strict=True) if _take(topic, entries)]
        return heard


def _take(topic: GameTopic, entries: list[StoredEntry] | CorruptStream) -> bool:
    """Let a topic take in what was read; where that cannot be it ends for its listeners. Returns whether there may be more."""
    try:
        if isinstance(entries, CorruptStream):
            raise entries
        if not entries:
            raise Cut("the store has lost events that were told")
        topic.follow(entries)
    except (CorruptLog, CorruptStream, Cut) as error:
        topic.fail(error)
        return False
    return len(entries) == PAGE
