"""The partition feeds, seen by their readers: the projector's consumer groups and the sweep.

Each append leaves one pointer in its partition's feed: which game, its last seq, what is due. Delivery is
at least once; a reader folds only what is newer than it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import redis

from services.cluster import Client, wire_of
from services.keys import Keys
from services.wire import Wire

_COUNTED = 1000
"""Entries that are read at once where a server cannot tell how many there are."""

_ALL = 1_000_000
"""More than one consumer ever has pending: XPENDING wants a number."""


class Pointer(NamedTuple):
    """One append: the feed entry's id, the game, its last seq then, and when something is due (Unix ms).

    `of_bots` where something is due and nobody but bots plays there.
    `deliveries` counts how often the entry has been handed out, this time included; a crash of the reader
    counts, so what kills its reader each time can be told and set aside.
    """

    id: bytes
    game: str
    seq: int
    due: int | None
    deliveries: int = 1
    of_bots: bool = False


Batch = dict[int, list[Pointer]]
"""Pointers by partition, oldest first; partitions without any are left out."""


class Feed:
    """All feeds of a store. Every method raises StoreUnavailable when the server does not answer."""

    def __init__(self, client: Client, keys: Keys) -> None:
        self.wire = wire_of(client)
        self._keys = keys
        self._feeds = [keys.feed(p) for p in range(keys.partitions)]
        self._partition = {feed.encode(): p for p, feed in enumerate(self._feeds)}

    def ensure_group(self, group: str) -> None:
        """Make a consumer group in every feed, from its beginning, where there is none yet."""
        for feed in self._feeds:  # not in one pipeline: a refusal is expected where the group exists
            try:
                self.wire.call("XGROUP", "CREATE", feed, group, "0", "MKSTREAM")
            except redis.ResponseError:
                self._must_have(feed, group)

    def _must_have(self, feed: str, group: str) -> None:
        names = [_fields(info)[b"name"] for info in self.wire.call("XINFO", "GROUPS", feed)]
        if group.encode() not in names:
            raise redis.ResponseError(f"group {group} cannot be made in {feed}")

    def point(self, game: str, seq: int) -> None:
        """Point its readers at a game once more, as far as event ``seq``."""
        feed = self._feeds[self._keys.partition(game)]
        self.wire.call("XADD", feed, "*", "g", game, "n", seq)

    def appends(self) -> int:
        """How many pointers have ever been added, which is how many appends there were, about."""
        there = self.wire.pipeline([("EXISTS", feed) for feed in self._feeds])
        begun = [feed for feed, exists in zip(self._feeds, there, strict=True) if exists]
        told = self.wire.pipeline([("XINFO", "STREAM", feed) for feed in begun])
        return sum(int(_fields(info).get(b"entries-added", 0)) for info in told)

    def read_group(self, group: str, consumer: str, block_ms: int, count: int) -> Batch:
        """New pointers for a consumer, at most `count` of a partition; waits `block_ms` when there are none.

        They stay pending until `ack`.
        """
        head = ("XREADGROUP", "GROUP", group, consumer, "COUNT", count)
        return self._batch(self.wire.read_streams(head, dict.fromkeys(self._feeds, ">"), block_ms))

    def claim_stale(self, group: str, consumer: str, min_idle_ms: int, count: int = 1000) -> Batch:
        """Take over pointers that another consumer was given `min_idle_ms` ago and has not acknowledged.

        At most about `count` of a partition; each tells how often it has been handed out.
        """
        batch: Batch = {}
        cursors = dict.fromkeys(range(len(self._feeds)), b"0-0")
        while cursors:
            asked = list(cursors)
            replies = self.wire.pipeline(
                [
                    ("XAUTOCLAIM", self._feeds[p], group, consumer, min_idle_ms, cursors[p], "COUNT", count)
                    for p in asked
                ]
            )
            for p, reply in zip(asked, replies, strict=True):
                found = batch.setdefault(p, [])
                found += read_pointers(reply[1])
                cursors[p] = reply[0]
                if reply[0] == b"0-0" or len(found) >= count:
                    del cursors[p]
        return self._with_deliveries(group, consumer, {p: found for p, found in batch.items() if found})

    def _with_deliveries(self, group: str, consumer: str, batch: Batch) -> Batch:
        commands = [
            ("XPENDING", self._feeds[p], group, found[0].id, found[-1].id, _ALL, consumer)
            for p, found in batch.items()
        ]
        for (p, found), reply in zip(batch.items(), self.wire.pipeline(commands), strict=True):
            times = {entry: int(deliveries) for entry, _, _, deliveries in reply}
            batch[p] = [pointer._replace(deliveries=times.get(pointer.id, 1)) for pointer in found]
        return batch

    def ack(self, partition: int, group: str, ids: Iterable[bytes]) -> int:
        """Acknowledge pointers as dealt with. Returns how many were pending."""
        acknowledged = list(ids)
        if not acknowledged:
            return 0
        return int(self.wire.call("XACK", self._feeds[partition], group, *acknowledged))

    def heads(self) -> dict[int, bytes]:
        """The last entry's id of every feed: the cursors from which `follow` sees only what is new."""
        return dict(enumerate(tails(self.wire, self._feeds).values()))

    def follow(self, cursors: dict[int, bytes], block_ms: int, count: int = 1000) -> Batch:
        """Pointers behind `cursors`, waiting `block_ms` when there are none, without a group.

        `cursors` (partition -> entry id, from `heads`) are moved to the last pointer returned.
        """
        streams = {self._feeds[p]: cursor for p, cursor in cursors.items()}
        batch = self._batch(read_behind(self.wire, streams, block_ms, count))
        cursors.update({p: found[-1].id for p, found in batch.items()})
        return batch

    def trim(self, partition: int) -> int:
        """Drop the pointers that every group has dealt with. Returns how many went.

        A feed that no group reads yet is left alone. Safe beside readers: a group only moves forward.
        """
        feed = self._feeds[partition]
        safe = [_oldest_needed(_fields(info), self.wire, feed) for info in self._groups(feed)]
        if not safe:
            return 0
        least = min(safe, key=lambda entry: tuple(int(part) for part in entry.split(b"-")))
        return int(self.wire.call("XTRIM", feed, "MINID", "=", least))

    def lag(self, group: str) -> int:
        """Pointers that the group has not dealt with yet: not delivered, or not acknowledged."""
        total = 0
        for feed in self._feeds:
            for info in self._groups(feed):
                fields = _fields(info)
                if fields[b"name"] == group.encode():
                    behind = fields.get(b"lag")
                    if behind is None:  # a server does not know after some deletions, or is too old to
                        behind = self._count_after(feed, fields[b"last-delivered-id"])
                    total += int(behind) + int(fields[b"pending"])
        return total

    def _groups(self, feed: str) -> Sequence[Any]:
        try:
            groups: Sequence[Any] = self.wire.call("XINFO", "GROUPS", feed)
        except redis.ResponseError as error:
            if "no such key" in str(error):
                return []
            raise
        return groups

    def _count_after(self, feed: str, entry: bytes) -> int:
        total = 0
        while True:
            page = self.wire.call("XRANGE", feed, b"(" + entry, "+", "COUNT", _COUNTED)
            total += len(page)
            if len(page) < _COUNTED:
                return total
            entry = page[-1][0]

    def _batch(self, reply: Sequence[Any]) -> Batch:
        return {self._partition[feed]: read_pointers(entries) for feed, entries in reply}


def tails(wire: Wire, streams: Sequence[str]) -> dict[str, bytes]:
    """The id of the last entry of each stream, from which `read_behind` sees only what is new."""
    replies = wire.pipeline([("XREVRANGE", stream, "+", "-", "COUNT", 1) for stream in streams])
    return {stream: reply[0][0] if reply else b"0-0" for stream, reply in zip(streams, replies, strict=True)}


def read_behind(wire: Wire, cursors: Mapping[str, bytes], block_ms: int, count: int) -> Sequence[Any]:
    """Pairs of a stream and its raw entries behind its cursor, those streams left out that have none.

    At most ``count`` of a stream; waits ``block_ms`` where no stream has any.
    """
    return wire.read_streams(("XREAD", "COUNT", count), cursors, block_ms)


def read_pointers(entries: Sequence[Any]) -> list[Pointer]:
    """The pointers of raw feed entries."""
    # an entry that was trimmed while it was pending has no fields, or is left out, by version
    return [_pointer(entry, fields) for entry, fields in entries if fields]


def _pointer(entry: bytes, fields: Sequence[bytes]) -> Pointer:
    due = int(fields[5]) if len(fields) >= 6 else None
    return Pointer(entry, fields[1].decode(), int(fields[3]), due, of_bots=len(fields) == 8)


def _fields(flat: Sequence[Any]) -> dict[bytes, Any]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _oldest_needed(group: dict[bytes, Any], wire: Wire, feed: str) -> bytes:
    """The first entry that a group still needs; one that it has dealt with where it needs none."""
    if group[b"pending"]:
        oldest: bytes | None = wire.call("XPENDING", feed, group[b"name"])[1]
        if oldest:
            return oldest
    last: bytes = group[b"last-delivered-id"]
    return last
