"""The chain of heads of a proof file's events, kept while they are read (``docs/spec/audit.md`` 6)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Final

from domain.shuffle import genesis_head, next_heads
from services.leaves import KINDS, Leaf, leaf_kind

HEAD_DIGITS: Final = 16
"""Digits of each head in the line of heads."""
_BYTES: Final = 32
_SHORT: Final = HEAD_DIGITS // 2
"""Bytes of a head, and of what the line of heads has of it."""
_LEAF: Final = b'"game_'
"""Stands in every event that adds a leaf."""


class Chain:
    """The heads of a game, 32 bytes an event."""

    def __init__(self, game: str) -> None:
        self._game = game
        self._heads = bytearray(genesis_head(game))
        self._leaves = array("Q")
        """By number, then kind, the events that add leaves: most games have two, a hostile file as many as it likes."""
        self.events = 0

    def add(self, lines: Sequence[bytes], together: bytes) -> None:
        """Add the next events; ``together`` are the same bytes in one piece."""
        self._heads += b"".join(next_heads(self.head, lines))
        for at in _lines_with(_LEAF, together):
            seq = self.events + 1 + at
            kind = leaf_kind(seq, lines[at])
            if kind is not None:
                self._leaves.append(seq * len(KINDS) + KINDS.index(kind))
        self.events += len(lines)

    @property
    def head(self) -> bytes:
        """The head of the last event."""
        return bytes(self._heads[-_BYTES:])

    def head_of(self, seq: int) -> bytes:
        """The head of an event that is there; that of 0 is of no event."""
        return bytes(self._heads[seq * _BYTES : (seq + 1) * _BYTES])

    def first_wrong(self, heads: str) -> int | None:
        """The first event whose head is not the one that a file names; none where all are, and no more."""
        told, mine = bytes.fromhex(heads), self._heads
        # all first bytes at once, then all second ones
        if len(told) == self.events * _SHORT and all(
            told[at::_SHORT] == mine[_BYTES + at :: _BYTES] for at in range(_SHORT)
        ):
            return None
        for seq in range(1, self.events + 1):
            if told[(seq - 1) * _SHORT : seq * _SHORT] != mine[seq * _BYTES : seq * _BYTES + _SHORT]:
                return seq
        return self.events

    def leaf(self, digest: str) -> Leaf | None:
        """The leaf with this hash (hex) that one of the events adds."""
        return next((leaf for leaf in self._all_leaves() if leaf.hash.hex() == digest), None)

    def _all_leaves(self) -> Iterator[Leaf]:
        for mark in self._leaves:
            seq, kind = divmod(mark, len(KINDS))
            yield Leaf(self._game, KINDS[kind], seq, self.head_of(seq))


def _lines_with(word: bytes, together: bytes) -> Iterator[int]:
    """Which lines have a word in them, from 0."""
    line, start = 0, 0
    while (at := together.find(word, start)) >= 0:
        line += together.count(b"\n", start, at)
        yield line
        start = together.find(b"\n", at) + 1
        if not start:
            return
        line += 1
