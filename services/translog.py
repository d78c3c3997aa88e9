"""The transparency log: an append-only Merkle tree (RFC 9162) over the locks and ends of all games.

Each leaf stands in a stream, and the hashes of all complete subtrees in strings beside it, level by level: a leaf costs
some 64 bytes of hashes, and a root or a path some log2(n) reads. Lua cannot hash, so a writer reads size and right edge,
hashes, and writes by a script that checks that the size is still the one it read. Every method raises
`StoreUnavailable` when the server does not answer, and `CorruptTransparencyLog` where the store holds what this module never writes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import redis

from services.keys import Keys
from services.leaves import KINDS, Kind, Leaf
from services.merkle import (
    HASH_BYTES,
    Node,
    Range,
    consistency_ranges,
    grow,
    inclusion_ranges,
    join,
    pieces,
)
from services.wire import Script, StoreError, StoreUnavailable, Wire

CHUNK: Final = 65_536
"""Hashes of one string, so that none grows past 2 MB."""
AT_ONCE: Final = 100
"""Leaves that one call of the script adds."""
PAGE: Final = 1000
"""Leaves that one command reads."""
MOST_TRIES: Final = 256
"""Conflicts after which a writer gives up: each means that another one got through."""

LOG: Final = logging.getLogger(__name__)


class CorruptTransparencyLog(StoreError):
    """The store's copy of the transparency log is not one that this program has written."""


Place = tuple[int, Leaf]
"""The index of a leaf in the log, from 0, and the leaf."""


ADD: Final = Script("""
-- All keys are of one slot.
-- KEYS[1] leaves   KEYS[2] index by hash   KEYS[3] indexes by game and kind   KEYS[4] and on: chunks of hashes
-- ARGV[1] the size that the writer has read   ARGV[2] how many leaves are added, and then for each: its hash,
-- <game>|<kind>, game, kind, seq, head; then for each chunk: where in it, and the bytes
-- Returns {0, those of <game>|<kind> that have a leaf already}   added
--         {1, {}}                                                another writer was first
-- Everything that can fail does so before the first write, or as the first write.
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local size = last[1] and tonumber(string.match(last[1][1], '^%d+')) or 0
if size ~= tonumber(ARGV[1]) then
  return {1, {}}
end
redis.call('HLEN', KEYS[2])
redis.call('HLEN', KEYS[3])
for k = 4, #KEYS do
  redis.call('STRLEN', KEYS[k])
end
local forked, place, count = {}, 3, tonumber(ARGV[2])
for i = 1, count do
  local hash, name, game, kind, seq, head = unpack(ARGV, place, place + 5)
  local index = string.format('%d', size + i - 1)
  redis.call('XADD', KEYS[1], string.format('%d-0', size + i), 'g', game, 'k', kind, 's', seq, 'h', head)
  redis.call('HSET', KEYS[2], hash, index)
  local before = redis.call('HGET', KEYS[3], name)
  if before then
    forked[#forked + 1] = name
    index = before .. ' ' .. index
  end
  redis.call('HSET', KEYS[3], name, index)
  place = place + 6
end
for k = 4, #KEYS do
  redis.call('SETRANGE', KEYS[k], ARGV[place], ARGV[place + 1])
  place = place + 2
end
return {0, forked}
""")


class TransparencyLog:
    """The log of a store, for readers and for any number of writers at once."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    # --- writing

    def add(self, leaves: Sequence[Leaf]) -> int:
        """Add the leaves that are not in the log yet, in this order. Returns how many those were.

        A second leaf of a kind for one game, with another seq or head, is added beside the first one, and logged as an
        error: it proves that the game was forked.
        """
        return sum(self._add(leaves[at : at + AT_ONCE]) for at in range(0, len(leaves), AT_ONCE))

    def _add(self, leaves: Sequence[Leaf]) -> int:
        by_hash = {leaf.hash: leaf for leaf in leaves}
        for _ in range(MOST_TRIES):
            # the size is read first: what is added after that shows in the script
            last, known = self._ask(
                ("XREVRANGE", Keys.log_leaves, "+", "-", "COUNT", 1), ("HMGET", Keys.log_index, *by_hash)
            )
            fresh = [found for found, index in zip(by_hash.items(), known, strict=True) if index is None]
            if not fresh:
                return 0
            code, forked = self._write(_last(last), fresh)
            if code == 0:
                for name in forked:
                    LOG.error("fork: the transparency log has a second leaf for %s", name.decode())
                return len(fresh)
        raise StoreUnavailable("the transparency log is too busy")

    def _write(self, size: int, fresh: Sequence[tuple[bytes, Leaf]]) -> Any:
        frontier = self._hashes(pieces((0, size)))
        keys = [Keys.log_leaves, Keys.log_index, Keys.log_places]
        args: list[Any] = [size, len(fresh)]
        for value, leaf in fresh:
            args += [value, _place_name(leaf.game, leaf.kind), *leaf]
        for level, chunk, at, data in _runs(grow(size, frontier, [value for value, _ in fresh])):
            keys.append(Keys.log_nodes(level, chunk))
            args += [at * HASH_BYTES, data]
        try:
            return self.wire.run(ADD, keys, args)
        except redis.ResponseError as error:
            raise CorruptTransparencyLog(f"the transparency log takes no leaf: {error}") from error

    # --- reading

    def size(self) -> int:
        """How many leaves there are. Raises `CorruptTransparencyLog` where the last ones were cut off."""
        known, last = self._ask(
            ("HLEN", Keys.log_index), ("XREVRANGE", Keys.log_leaves, "+", "-", "COUNT", 1)
        )
        size = _last(last)
        if (
            size < known
        ):  # by the index, which was read first: meanwhile there may be more leaves, and never less
            raise CorruptTransparencyLog(f"the transparency log has {size} leaves, and had {known}: cut off")
        return size

    def leaves(self, start: int, count: int) -> list[Place]:
        """At most ``count`` leaves from index ``start`` on."""
        (reply,) = self._ask(("XRANGE", Keys.log_leaves, start + 1, "+", "COUNT", count))
        found: list[Place] = []
        for index, (entry, fields) in enumerate(reply, start):
            if entry != b"%d-0" % (index + 1):
                raise CorruptTransparencyLog(f"leaf {index} is not in the transparency log")
            found.append((index, _leaf(index, fields)))
        return found

    def every_leaf(self, start: int = 0) -> Iterator[Place]:
        """All leaves from an index on, in order, up to the first that is not there or is none, where it raises."""
        count = PAGE
        while True:
            try:
                page = self.leaves(start, count)
            except CorruptTransparencyLog:
                if count == 1:
                    raise
                count = 1  # those before it are still wanted
                continue
            if not page:
                return
            yield from page
            start += len(page)

    def find(self, hashes: Sequence[bytes]) -> list[int | None]:
        """The index of the leaf of each hash, none where there is no such leaf."""
        if not hashes:
            return []
        (reply,) = self._ask(("HMGET", Keys.log_index, *hashes))
        return [None if index is None else _index(index) for index in reply]

    def places(self, leaves: Sequence[Leaf]) -> list[list[int]]:
        """By leaf, the indexes at which those of its game and kind are looked for."""
        if not leaves:
            return []
        (reply,) = self._ask(
            ("HMGET", Keys.log_places, *(_place_name(leaf.game, leaf.kind) for leaf in leaves))
        )
        return [[] if found is None else [_index(one) for one in found.split()] for found in reply]

    def of_game(self, game: str) -> list[Place]:
        """The leaves of a game, in the order in which they were added."""
        names = [_place_name(game, kind) for kind in KINDS]
        (reply,) = self._ask(("HMGET", Keys.log_places, *names))
        indexes = sorted(_index(one) for found in reply if found is not None for one in found.split())
        replies = self._ask(*(("XRANGE", Keys.log_leaves, index + 1, index + 1) for index in indexes))
        return [
            (index, _leaf(index, page[0][1] if page else ()))
            for index, page in zip(indexes, replies, strict=True)
        ]

    def root(self, size: int) -> bytes:
        """The root of the first ``size`` leaves, of which there are as many."""
        return self.roots([(0, size)])[0]

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """The path that shows leaf ``index`` in the tree of ``size``. Raises ValueError unless it is in it."""
        return self.roots(inclusion_ranges(index, size))

    def consistency(self, first: int, second: int) -> list[bytes]:
        """The path from one size to a later one. Raises ValueError unless 0 < ``first`` <= ``second``."""
        return self.roots(consistency_ranges(first, second))

    def roots(self, ranges: Sequence[Range]) -> list[bytes]:
        """The root over the leaves of each range, which occurs in a tree."""
        nodes = [pieces(one) for one in ranges]
        hashes = iter(self._hashes([node for found in nodes for node in found]))
        return [join([next(hashes) for _ in found]) for found in nodes]

    def level(self, level: int, count: int) -> Iterator[bytes]:
        """The hashes that are kept of the first ``count`` complete subtrees of a level."""
        for start in range(0, count, PAGE):
            yield from self._hashes([(level, at) for at in range(start, min(start + PAGE, count))])

    # --- inside

    def _hashes(self, nodes: Sequence[Node]) -> list[bytes]:
        reads = []
        for level, index in nodes:
            chunk, at = divmod(index, CHUNK)
            start = at * HASH_BYTES
            reads.append(("GETRANGE", Keys.log_nodes(level, chunk), start, start + HASH_BYTES - 1))
        found: list[bytes] = self._ask(*reads)
        for node, value in zip(nodes, found, strict=True):
            if len(value) != HASH_BYTES:
                raise CorruptTransparencyLog(f"the transparency log has lost subtree {node}")
        return found

    def _ask(self, *commands: tuple[Any, ...]) -> list[Any]:
        try:
            return self.wire.pipeline(commands)
        except redis.ResponseError as error:
            raise CorruptTransparencyLog(f"the transparency log cannot be read: {error}") from error


def _place_name(game: str, kind: Kind) -> str:
    return f"{game}|{kind}"


def _index(text: bytes) -> int:
    if not text.isdigit():
        raise CorruptTransparencyLog(f"{text!r:.40} is no index of the transparency log")
    return int(text)


def _last(reply: Sequence[Any]) -> int:
    """The size of the log by its last leaf: an entry's id is one more than its index."""
    return int(reply[0][0].split(b"-")[0]) if reply else 0


def _leaf(index: int, fields: Sequence[bytes]) -> Leaf:
    try:
        _, game, _, kind, _, seq, _, head = fields
        place = KINDS[[one.encode() for one in KINDS].index(kind)]
        if not seq.isdigit() or len(head) != HASH_BYTES:
            raise ValueError
        return Leaf(game.decode(), place, int(seq), head)
    except ValueError as error:
        raise CorruptTransparencyLog(
            f"leaf {index} of the transparency log is none: no game, kind, event and head"
        ) from error


def _runs(nodes: Iterable[tuple[Node, bytes]]) -> Iterator[tuple[int, int, int, bytes]]:
    """Hashes of subtrees as what is to be written: level, chunk, place in it, and the hashes from there on."""
    for (level, chunk), group in groupby(sorted(nodes), key=lambda one: (one[0][0], one[0][1] // CHUNK)):
        (node, value), *others = group
        yield level, chunk, node[1] % CHUNK, b"".join([value, *(one for _, one in others)])
