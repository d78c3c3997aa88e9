"""The event log: streams of bytes in a Redis or Valkey server. Knows nothing of events or of Hearts.

One script appends, all or nothing: it looks up the idempotency key, checks the expected seq, adds the
events, the feed pointer and the due entry, and keeps the answer under the key. A stale writer is answered
with the entries it missed. Layout and keys: docs/design.md, "The log", and `services.keys`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import redis

from services.cluster import Client, wire_of
from services.entries import (
    DAY_MS,
    PAGE,
    Append,
    Appended,
    Archived,
    CorruptStream,
    Entry,
    Gap,
    Missed,
    Once,
    Replayed,
    Seq,
    append_args,
    entries_of,
    live_answer,
    loaded,
    seq_of,
)
from services.keys import STREAMS_PATTERN, Keys, game_of_stream
from services.scripts import APPEND, CLAIM, HELD, RESTORE, SETTLE, TRIM
from services.short import shortened
from services.wire import HiredisMissing, StoreError, StoreUnavailable, connect

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
    "RestoreUnfinished",
    "Seq",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "connect",
    "fix_partitions",
]


class PartitionMismatch(StoreError):
    """The store was made with another number of partitions than the one asked for."""

    def __init__(self, stored: int, wanted: int) -> None:
        self.stored, self.wanted = stored, wanted
        super().__init__(
            f"this store was made with {stored} partitions and keeps them for life; "
            f"it cannot be used with {wanted} (HEARTS_PARTITIONS)"
        )


RESTORING: Final = b"restoring "
"""What stands before the digest of a backup in the place of the number of partitions, until all of it is restored."""


class RestoreUnfinished(StoreError):
    """A backup is being put into the store, or that was broken off."""

    def __init__(self) -> None:
        super().__init__(
            "a backup is being restored into this store; where that was broken off, call `hearts restore` with the same file"
        )


def fix_partitions(client: Client, wanted: int) -> int:
    """Fix the number of partitions of a new store; of an old one, check it. Returns the number.

    Raises PartitionMismatch when the store was made with another, RestoreUnfinished, StoreError where it does not tell.
    """
    wire = wire_of(client)
    wire.call("SET", Keys.partitions_key, wanted, "NX")
    told: bytes = wire.call("GET", Keys.partitions_key)
    if told.startswith(RESTORING):
        raise RestoreUnfinished
    if not told.isdigit():
        raise StoreError(f"{Keys.partitions_key} holds {told!r:.60}, and should hold a number")
    stored = int(told)
    if stored != wanted:
        raise PartitionMismatch(stored, wanted)
    return stored


class Store:
    """The log of all games. Every method raises StoreUnavailable when the server does not answer.

    Of a game in the ``archive`` the stream has its last events alone. Those before come from there, for whoever reads.
    What is written counts as kept when so many ``replicas`` have it; else StoreUnavailable is raised, and it may be kept.
    """

    def __init__(
        self, client: Client, keys: Keys, archive: Archived | None = None, replicas: int = 0
    ) -> None:
        self.client, self.keys = client, keys
        self.wire = wire_of(client, replicas)
        self._archive = archive
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
        args = append_args(Append(game, expected, entries, now, due, once, snapshot, of_bots))
        try:
            code, value = self._run_append(game, args)
        except redis.ResponseError as error:
            raise CorruptStream(game, expected + 1, str(error)) from error
        if code == 0:
            return Appended(value)
        if code == 1:
            return Replayed(value)
        if code == 2:
            return Missed(self._behind(game, expected, value))
        if value >= expected:  # the event is there, in the archive
            return Missed(self.read(game, expected)[:PAGE])
        raise Gap(game, expected, value)

    def append_each(self, wanted: Sequence[Append]) -> list[bool]:
        """Add events to several games, in one round trip and with one write to disk; each as `append` does.

        False where the events of a game may not have been added, or were added and it is not known: `append` tells.
        """
        calls = [(self.keys.of_append(one.game), append_args(one)) for one in wanted]
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

    def read(self, game: str, after: Seq = 0, upto: Seq | None = None, *, fresh: bool = False) -> list[Entry]:
        """The entries after `after` and up to `upto`, oldest first. Raises CorruptStream.

        What is archived may be as it was a minute ago, unless it is to be `fresh`.
        """
        end = "+" if upto is None else f"{upto}-0"
        found: list[Entry] = []
        while True:
            reply = self._ask(game, "XRANGE", after + 1, end, "COUNT", PAGE)
            if not reply and upto is not None and after < upto:
                return found + self._before(game, after, upto, fresh)
            found += self._behind(game, after, reply, fresh)
            if len(reply) < PAGE:
                return found
            after = found[-1][0]

    def read_many(self, wanted: Sequence[tuple[str, Seq]]) -> list[list[Entry] | CorruptStream]:
        """At most PAGE entries behind each game's seq, oldest first, or what is wrong with them; in one round trip."""
        replies = self.wire.pipeline(
            [("XRANGE", self.keys.stream(game), after + 1, "+", "COUNT", PAGE) for game, after in wanted]
        )
        found: list[list[Entry] | CorruptStream] = []
        for (game, after), reply in zip(wanted, replies, strict=True):
            try:
                found.append(self._behind(game, after, reply)[:PAGE])
            except CorruptStream as error:
                found.append(error)
        return found

    def _ask(self, game: str, command: str, *args: Any) -> list[Any]:
        """The entries of a stream that a command gives."""
        try:
            reply: list[Any] = self.wire.call(command, self.keys.stream(game), *args)
        except redis.ResponseError as error:
            raise CorruptStream(game, 1, f"it is no stream: {error}") from error
        return reply

    def _behind(self, game: str, after: Seq, reply: list[Any], fresh: bool = False) -> list[Entry]:
        """The entries from `after` + 1 on, of which the stream gave the last."""
        if self._archive is None or not reply or reply[0][0] == b"%d-0" % (after + 1):
            return entries_of(game, after, reply)
        first = seq_of(game, reply[0][0])
        entries = self._archive.fetch(game, first) if fresh else self._archive(game, first)
        rest = entries_of(game, first - 1, reply)
        if entries[-1] != rest[0]:
            raise CorruptStream(game, first, "the archive ends with another event than the store has here")
        return entries[after:-1] + rest

    def _before(self, game: str, after: Seq, upto: Seq, fresh: bool) -> list[Entry]:
        """The entries up to `upto`, none of which is in the stream."""
        first = self.first(game)
        if self._archive is None or first <= upto:
            return []
        return (self._archive.fetch(game, first) if fresh else self._archive(game, first))[after:upto]

    def first(self, game: str) -> Seq:
        """The seq of the first entry that is in the stream, 1 unless the game is in the archive; 0 where there is none."""
        reply = self._ask(game, "XRANGE", "-", "+", "COUNT", 1)
        return seq_of(game, reply[0][0]) if reply else 0

    def load(self, game: str, recent: int) -> tuple[bytes, list[Entry]]:
        """The game's snapshot and the entries after it; b"" and all entries where there is none.

        A snapshot counts only when the event it was taken after is among the `recent` last ones that the stream
        holds. One round trip where it does, or where the game is no longer than that. Raises CorruptStream.
        """
        newest, snapshot = self.wire.pipeline(self._newest(game, recent))
        found = loaded(game, newest, snapshot)
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
                found.append(loaded(game, newest, snapshot))
            except CorruptStream:
                found.append(None)
        return found

    def _newest(self, game: str, recent: int) -> list[tuple[Any, ...]]:
        stream = ("XREVRANGE", self.keys.stream(game), "+", "-", "COUNT", recent)
        return [stream, ("GET", self.keys.snapshot(game))]

    def last(self, game: str) -> Seq:
        """The seq of the game's last entry, 0 where there is none."""
        reply = self._ask(game, "XREVRANGE", "+", "-", "COUNT", 1)
        return int(reply[0][0].split(b"-")[0]) if reply else 0

    def games(self) -> Iterator[str]:
        """The ids of all games, in no order. Those that are opened meanwhile may be left out."""
        told = set()
        for found in self.wire.scan(STREAMS_PATTERN, PAGE):
            for game in map(game_of_stream, found):
                if game is not None and game not in told:  # SCAN may give a key twice
                    told.add(game)
                    yield game

    def recall(self, game: str, field: bytes, now: int) -> bytes | None:
        """What was kept under an idempotency key, None when it was not used or has expired (Unix ms)."""
        return live_answer(self.wire.call("HGET", self.keys.idempotency(game), field), now)

    def hold(self, game: str, last: Seq) -> None:
        """See that the replicas have event ``last``, which an earlier command has written that may not have waited for them.

        Raises StoreUnavailable where they have not, or the event is gone. Nothing is asked where no replica is needed.
        """
        keys = (self.keys.stream(game), self.keys.idempotency(game))
        if self.wire.replicas and not self.wire.run(HELD, keys, (last,)):
            raise StoreUnavailable(f"the store has lost event {last} of game {game:.60}")

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

    def trim(self, game: str, last: Seq) -> bool:
        """Take a game, whose last event is `last`, out of the store, as it is in the archive. False where it went on."""
        partition = self.keys.partition(game)
        keys = (self.keys.stream(game), self.keys.snapshot(game), self.keys.finished(partition))
        return bool(self.wire.run(TRIM, keys, (game, last)))

    def restore(self, game: str, before: Sequence[Entry], now: int) -> bool:
        """Put the events of an archived game that stand `before` those in its stream there; it counts as finished `now`.

        That is Unix ms. False where the stream begins with another event than the one behind them.
        """
        args: list[Any] = [game, len(before) + 1, now]
        for seq, public, hidden in before:
            args += shortened(seq, public), hidden
        keys = (self.keys.stream(game), self.keys.finished(self.keys.partition(game)))
        return bool(self.wire.run(RESTORE, keys, args))

    def next_due(self, partition: int) -> int | None:
        """When the partition's earliest game is due, Unix ms; None when none is."""
        return _score(self.wire.call("ZRANGE", self.keys.due(partition), 0, 0, "WITHSCORES"))

    def dues(self) -> dict[int, int]:
        """When the earliest game of each partition is due, Unix ms; partitions without any left out."""
        every = range(self.keys.partitions)
        replies = self.wire.pipeline([("ZRANGE", self.keys.due(p), 0, 0, "WITHSCORES") for p in every])
        scores = {p: _score(reply) for p, reply in zip(every, replies, strict=True)}
        return {p: score for p, score in scores.items() if score is not None}


def _score(reply: list[bytes]) -> int | None:
    return int(float(reply[1])) if reply else None
