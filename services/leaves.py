"""The leaves that a game adds to the transparency log: one at its lock, one at its end (``docs/spec/audit.md`` 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from domain.shuffle import genesis_head, hash_parts, next_head
from services.merkle import leaf_hash

Kind = Literal["lock", "end"]
KINDS: Final[tuple[Kind, ...]] = ("lock", "end")

_KIND_OF: Final[dict[bytes, Kind]] = {b"game_locked": "lock", b"game_ended": "end"}
_LONGEST_START: Final = 40
"""Number and name of an event that adds a leaf stand in so many of its first bytes."""


class Leaf(NamedTuple):
    """That ``game`` was locked, or ended, by event ``seq``, with this head of its chain."""

    game: str
    kind: Kind
    seq: int
    head: bytes

    @property
    def hash(self) -> bytes:
        """The leaf's hash in the tree."""
        parts = (self.game.encode(), self.kind.encode(), str(self.seq).encode(), self.head)
        return leaf_hash(hash_parts("hearts/v1/leaf", *parts))


def leaf_kind(seq: int, public: bytes) -> Kind | None:
    """Which leaf the event ``seq``, stored as these bytes, adds; none for most."""
    if b'"game_' not in public[:_LONGEST_START]:
        return None
    start = b'{"n":%d,"t":"' % seq
    name = public[len(start) : _LONGEST_START].partition(b'"')[0]
    return _KIND_OF.get(name) if public.startswith(start) else None


def find_leaves(
    game: str, entries: Sequence[tuple[int, bytes, bytes]], head: bytes | None = None
) -> list[Leaf]:
    """The leaves of stored ``entries``, which follow an event with this head, or are the game's first ones."""
    kinds = {seq: kind for seq, public, _ in entries if (kind := leaf_kind(seq, public)) is not None}
    if not kinds:
        return []  # most often: nothing is hashed
    found = []
    head = genesis_head(game) if head is None else head
    for seq, public, _ in entries:
        head = next_head(head, public)
        if seq in kinds:
            found.append(Leaf(game, kinds[seq], seq, head))
    return found
