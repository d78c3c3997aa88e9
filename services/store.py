"""The event log: streams of bytes in a Redis or Valkey server. Knows nothing of events or of Hearts.

One script appends, all or nothing: it looks up the idempotency key, checks the expected seq, adds the
events, the feed pointer and the due entry, and keeps the answer under the key. A stale writer is answered
with the entries it missed. Layout and keys: docs/design.md, "The log", and `services.keys`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import redis

from services.keys import STREAMS_PATTERN, Keys, game_of_stream
from services.scripts import APPEND, CLAIM, SETTLE
from services.wire import HiredisMissing, StoreError, StoreUnavailable, Wire, connect

__all__ = [
    "DAY_MS",
    "PAGE",
    "Append",
    "Appended",
    "CorruptStream",
    "Entry",
    "Gap",
    "HiredisMissing",
    "Missed",
    "Once",
    "PartitionMismatch",
    "Replayed",
    "Seq",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "connect",
    "fix_partitions",
]

Seq: TypeAlias = int
"""Place of an event in its game, from 1; 0 is the place before the first."""

Entry: TypeAlias = tuple[Seq, bytes, bytes]
"""Seq, public bytes, secret bytes (empty where an event has no secret).

A plain tuple: a named one costs 400 ns an entry more, and loading a game reads hundreds.
"""

PAGE = 1000
"""Entries that one command reads at most; also the most that a stale writer is answered with at once."""

DAY_MS = 24 * 60 * 60 * 1000
"""How long an idempotency key is remembered (docs/spec/http.md)."""


class PartitionMismatch(StoreError):
    """The store was made with another number of partitions than the one asked for."""

    def __init__(self, stored: int, wanted: int) -> None:
        self.stored, self.wanted = stored, wanted
        super().__init__(
            f"this store was made with {stored} partitions and keeps them for life; "
            f"it cannot be used with {wanted} (HEARTS_PARTITIONS)"
        )


class CorruptStream(StoreError):
    """A game's stream holds what this module never writes. `seq` is the first entry that is wrong."""

    def __init__(self, game: str, seq: Seq, why: str) -> None:
        self.game, self.seq, self.why = game, seq, why
        super().__init__(f"game {game}, event {seq}: {why}")


class Gap(StoreError):
    """A writer expects an event that the stream does not hold: the writer knows more than the store.

    Its state comes from a lost tail or another store; it must forget it and load the game anew.
    """

    def __init__(self, game: str, expected: Seq, last: Seq) -> None:
        self.game, self.expected, self.last = game, expected, last
        super().__init__(f"game {game}: event {expected} is not in the store, whose last is {last}")


class Once(NamedTuple):
    """An idempotency key (`field`, one game's) and the answer to keep under it for 24 hours."""

    field: bytes
    answer: bytes


class Append(NamedTuple):
    """Events to be added to a game, as `Store.append` takes them."""

    game: str
    expected: Seq
    entries: Sequence[tuple[bytes, bytes]]
    now: int
    due: int | None
    once: Once | None = None
    snapshot: bytes = b""
    of_bots: bool = False


class Appended(NamedTuple):
    """The events are in the log; `last` is the seq of the last one."""

    last: Seq


class Missed(NamedTuple):
    """Nothing was written: these entries follow the expected one, at most PAGE of them, oldest first."""

    entries: list[Entry]


class Replayed(NamedTuple):
    """Nothing was written: the idempotency key was used before, and this was kept under it."""

    answer: bytes


def fix_partitions(client: redis.Redis, wanted: int) -> int:
    """Fix the number of partitions of a new store; of an old one, check it. Returns the number.

    Raises PartitionMismatch when the store was made with another.
    """
    wire = Wire(client)
    wire.call("SET", Keys.partitions_key, wanted, "NX")
    stored = int(wire.call("GET", Keys.partitions_key))
    if stored != wanted:
        raise PartitionMismatch(stored, wanted)
    return stored


class Store:
    """The log of all games. Every method raises StoreUnavailable when the server does not answer."""

    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self.client, self.keys = client, keys
        self.wire = Wire(client)
        self.watch: Callable[[float], None] | None = None
        """Told the seconds that each append has taken at the server and on the way, where somebody wants to know."""

    def append(
        self,
        game: str,
        expected: Seq,
        entries: Sequence[tuple[bytes, bytes]],
        *,
        now: int,
        due: int | None,
        once: Once | None = None,
        snapshot: bytes = b"",
        of_bots: bool = False,
    ) -> Appended | Missed | Replayed:
        """Add events (public bytes, secret bytes or b"") behind event `expected`, all or none of them.

        `now` and `due` are Unix ms; `due` is when somebody must act in this game next and replaces what
        was due before, None: nothing is due. `once` is looked up before `expected` is checked, and only
        kept when the events are. A `snapshot` is of the game after these events and takes the place of the
        one before. `of_bots` says that nobody but bots plays, so that what is due can wait for others.

        Raises Gap when the stream does not hold event `expected`, CorruptStream when it cannot be
        continued, ValueError when there is nothing to append.
        """
        args = _args(Append(game, expected, entries, now, due, once, snapshot, of_bots))
        try:
            code, value = self._run_append(game, args)
        except redis.ResponseError as error:
            raise CorruptStream(game, expected + 1, str(error)) from error
        if code == 0:
            return Appended(value)
        if code == 1:
            return Replayed(value)
        if code == 2:
            return Missed(_entries(game, expected, value))
        raise Gap(game, expected, value)

    def append_each(self, wanted: Sequence[Append]) -> list[bool]:
        """Add events to several games, in one round trip and with one write to disk; each as `append` does.

        False where the events of a game may not have been added, or were added and it is not known: `append` tells.
        """
        calls = [(self.keys.of_append(one.game), _args(one)) for one in wanted]
        try:
            return [code == 0 for code, _ in self.wire.run_each(APPEND, calls)]
        except redis.ResponseError:  # one of them was refused, and the others may have been carried out
            return [False] * len(wanted)

    def _run_append(self, game: str, args: Sequence[Any]) -> Any:
        if self.watch is None:
            return self.wire.run(APPEND, self.keys.of_append(game), args)
        began = time.perf_counter()
        try:
            return self.wire.run(APPEND, self.keys.of_append(game), args)
        finally:
            self.watch(time.perf_counter() - began)

    def read(self, game: str, after: Seq = 0, upto: Seq | None = None) -> list[Entry]:
        """The entries after `after` and up to `upto`, oldest first. Raises CorruptStream."""
        key, end = self.keys.stream(game), "+" if upto is None else upto
        found: list[Entry] = []
        while True:
            page = _entries(game, after, self.wire.call("XRANGE", key, after + 1, end, "COUNT", PAGE))
            found += page
            if len(page) < PAGE:
                return found
            after = page[-1][0]

    def read_many(self, wanted: Sequence[tuple[str, Seq]]) -> list[list[Entry] | CorruptStream]:
        """At most PAGE entries behind each game's seq, oldest first, or what is wrong with them; in one round trip."""
        replies = self.wire.pipeline(
            [("XRANGE", self.keys.stream(game), after + 1, "+", "COUNT", PAGE) for game, after in wanted]
        )
        found: list[list[Entry] | CorruptStream] = []
        for (game, after), reply in zip(wanted, replies, strict=True):
            try:
                found.append(_entries(game, after, reply))
            except CorruptStream as error:
                found.append(error)
        return found

    def load(self, game: str, recent: int) -> tuple[bytes, list[Entry]]:
        """The game's snapshot and the entries after it; b"" and all entries where there is none.

        A snapshot counts only when the event it was taken after is among the `recent` last ones that the stream
        holds. One round trip where it does, or where the game is no longer than that. Raises CorruptStream.
        """
        newest, snapshot = self.wire.pipeline(self._newest(game, recent))
        found = _loaded(game, newest, snapshot)
        return (b"", self.read(game)) if found is None else found

    def load_each(self, games: Sequence[str], recent: int) -> list[tuple[bytes, list[Entry]] | None]:
        """`load` for several games, in one round trip; None for one of which that does not tell enough, or what is wrong."""
        commands = [command for game in games for command in self._newest(game, recent)]
        try:
            replies = self.wire.pipeline(commands)
        except redis.ResponseError:
            return [None] * len(games)
        found: list[tuple[bytes, list[Entry]] | None] = []
        for game, newest, snapshot in zip(games, replies[::2], replies[1::2], strict=True):
            try:
                found.append(_loaded(game, newest, snapshot))
            except CorruptStream:
                found.append(None)
        return found

    def _newest(self, game: str, recent: int) -> list[tuple[Any, ...]]:
        stream = ("XREVRANGE", self.keys.stream(game), "+", "-", "COUNT", recent)
        return [stream, ("GET", self.keys.snapshot(game))]

    def last(self, game: str) -> Seq:
        """The seq of the game's last entry, 0 where there is none."""
        reply = self.wire.call("XREVRANGE", self.keys.stream(game), "+", "-", "COUNT", 1)
        return int(reply[0][0].split(b"-")[0]) if reply else 0

    def games(self) -> Iterator[str]:
        """The ids of all games, in no order. Those that are opened meanwhile may be left out."""
        cursor, told = b"0", set()
        while True:
            cursor, found = self.wire.call("SCAN", cursor, "MATCH", STREAMS_PATTERN, "COUNT", PAGE)
            for game in map(game_of_stream, found):
                if game not in told:  # SCAN may give a key twice
                    told.add(game)
                    yield game
            if cursor == b"0":
                return

    def recall(self, game: str, field: bytes, now: int) -> bytes | None:
        """What was kept under an idempotency key, None when it was not used or has expired (Unix ms)."""
        kept = self.wire.call("HGET", self.keys.idempotency(game), field)
        expiry, _, answer = (kept or b"0:").partition(b":")
        return answer if int(expiry) > now else None

    def claim_due(self, partition: int, now: int, lease_ms: int, limit: int) -> list[str]:
        """At most `limit` games that are due at `now` (Unix ms), earliest first.

        Each is leased: due again at now + lease_ms, unless an append or `settle` says otherwise. So what
        a killed worker had claimed comes back by itself.
        """
        games = self.wire.run(CLAIM, (self.keys.due(partition),), (now, now + lease_ms, limit))
        return [game.decode() for game in games]

    def settle(self, game: str, leased_until: int, due: int | None) -> bool:
        """Give up a claim without an append: nothing is due, or only at `due` (Unix ms).

        `leased_until` is the `now + lease_ms` of the claim. False, and nothing changed, when the lease
        was over or an append has said since what is due.
        """
        key = self.keys.due(self.keys.partition(game))
        return bool(self.wire.run(SETTLE, (key,), (game, leased_until, "" if due is None else due)))

    def next_due(self, partition: int) -> int | None:
        """When the partition's earliest game is due, Unix ms; None when none is."""
        return _score(self.wire.call("ZRANGE", self.keys.due(partition), 0, 0, "WITHSCORES"))

    def dues(self) -> dict[int, int]:
        """When the earliest game of each partition is due, Unix ms; partitions without any left out."""
        every = range(self.keys.partitions)
        replies = self.wire.pipeline([("ZRANGE", self.keys.due(p), 0, 0, "WITHSCORES") for p in every])
        scores = {p: _score(reply) for p, reply in zip(every, replies, strict=True)}
        return {p: score for p, score in scores.items() if score is not None}


def _args(wanted: Append) -> list[Any]:
    """What the script of an append is given. Raises ValueError where there is nothing to append."""
    game, expected, entries, now, due, once, snapshot, of_bots = wanted
    if not entries or expected < 0:
        raise ValueError(f"an append takes at least one event and a seq from 0, not {expected}")
    field, answer = once or (b"", b"")
    args: list[Any] = [game, expected, now, "" if due is None else due, field]
    args.append(b"%d:%b" % (now + DAY_MS, answer))
    args.append(b"%d:%b" % (expected + len(entries), snapshot) if snapshot else b"")
    args.append("1" if of_bots else "")
    for pair in entries:
        args += pair
    return args


def _loaded(game: str, newest: list[Any], snapshot: bytes | None) -> tuple[bytes, list[Entry]] | None:
    """What `Store.load` returns, by the last entries, newest first; None where all entries are needed."""
    if not newest:
        return b"", []
    newest = newest[::-1]
    seq, _, data = (snapshot or b"0:").partition(b":")
    for place, (entry, _) in enumerate(newest):
        if data and entry == seq + b"-0":
            return data, _entries(game, int(seq), newest[place + 1 :])
    return (b"", _entries(game, 0, newest)) if newest[0][0] == b"1-0" else None


def _score(reply: list[bytes]) -> int | None:
    return int(float(reply[1])) if reply else None


_IDS = [b"%d-0" % seq for seq in range(2048)]
"""Entry ids by seq. Comparing a page with a slice of it is the cheapest way to check every id."""


def _entries(game: str, after: Seq, reply: list[Any]) -> list[Entry]:
    """A reply's entries, which must be those from `after` + 1 on without a hole."""
    end = after + 1 + len(reply)
    ids = _IDS[after + 1 : end] if end <= len(_IDS) else [b"%d-0" % seq for seq in range(after + 1, end)]
    got = [entry for entry, _ in reply]
    if got != ids:
        wrong = next(i for i, (entry, wanted) in enumerate(zip(got, ids, strict=True)) if entry != wanted)
        raise CorruptStream(game, after + 1 + wrong, f"the stream has entry {got[wrong].decode()} here")
    try:
        public = [fields[1] for _, fields in reply]
        hidden = [fields[3] if len(fields) == 4 else b"" for _, fields in reply]
    except IndexError:
        public, hidden = [], []
    if len(public) != len(reply) or not {fields[0] for _, fields in reply} <= {b"p"}:
        wrong = next(i for i, (_, fields) in enumerate(reply) if fields[0] != b"p")
        raise CorruptStream(game, after + 1 + wrong, f"unknown field {reply[wrong][1][0].decode()}")
    return list(zip(range(after + 1, end), public, hidden, strict=True))
