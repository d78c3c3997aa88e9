"""What the server tells of its transparency log: signed checkpoints, and what is in the log, at the size of one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from services.audit import Signer
from services.leaves import Leaf
from services.notes import Checkpoint, sign_checkpoint, verifier_key
from services.translog import CorruptTransparencyLog, TransparencyLog

LOG: Final = logging.getLogger(__name__)

ORIGIN_KEY_DIGITS: Final = 16
"""Digits of the server's key in the name that a log has where it was given none."""


class Inclusion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """That the leaf with this hash (hex) is in the tree of ``size`` leaves, at ``index``."""

    leaf: str
    index: int
    size: int
    path: tuple[str, ...]
    """Hashes in hex, nearest to the leaf first."""


class LogProof(NamedTuple):
    """Leaves in the log and the signed checkpoint (a note) that shows them."""

    checkpoint: str
    inclusions: tuple[Inclusion, ...]


class PublicLog:
    """The transparency log as the owner of the keys publishes it under ``origin``; empty: a name made of the first key.

    A game is proved by the key that it names first, so checkpoints are signed by every key that games may name.

    Methods raise `StoreUnavailable`, and `CorruptTransparencyLog` unless they say otherwise.
    """

    def __init__(self, tree: TransparencyLog, ring: Signer, origin: str) -> None:
        self.tree = tree
        self.origin = origin or f"hearts-house/{ring.first.public[:ORIGIN_KEY_DIGITS]}"
        self._ring = ring

    @property
    def verifier_key(self) -> str:
        """The first key of the checkpoints, as readers of signed notes take it."""
        return verifier_key(self.origin, self._ring.first.public)

    def checkpoint(self, size: int | None = None) -> str:
        """The signed checkpoint of the log as it is, or of its first ``size`` leaves."""
        size = self.tree.size() if size is None else size
        return sign_checkpoint(Checkpoint(self.origin, size, self.tree.root(size)), self._ring.all())

    def inclusion(self, leaf: bytes, index: int, size: int) -> Inclusion:
        """The path to a leaf. Raises ValueError where it is not among the first ``size``."""
        path = self.tree.inclusion(index, size)
        return Inclusion(leaf.hex(), index, size, tuple(one.hex() for one in path))

    def has(self, game: str) -> bool:
        """Whether there is a leaf of a game; none is where the log was spoilt, as in `prove`."""
        try:
            return bool(self.tree.of_game(game))
        except CorruptTransparencyLog:
            return False

    def prove(self, leaves: Sequence[Leaf], size: int | None = None) -> LogProof | None:
        """A checkpoint, now or of a ``size``, and the inclusion of those of ``leaves`` that it covers; none where it covers none.

        Of a log that was spoilt nothing is shown, and the error is logged: a game's proof file is worth having without it.
        """
        try:
            return self._prove(leaves, size)
        except CorruptTransparencyLog:
            LOG.exception("the transparency log shows nothing; `hearts log verify` tells more")
            return None

    def _prove(self, leaves: Sequence[Leaf], size: int | None) -> LogProof | None:
        hashes = [leaf.hash for leaf in leaves]
        found = list(zip(hashes, self.tree.find(hashes), strict=True))
        if size is None and any(index is not None for _, index in found):
            size = self.tree.size()
        covered = [(leaf, index) for leaf, index in found if index is not None and index < (size or 0)]
        if not covered or size is None:
            return None
        return LogProof(
            self.checkpoint(size), tuple(self.inclusion(leaf, index, size) for leaf, index in covered)
        )
