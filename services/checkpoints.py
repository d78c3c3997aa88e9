"""What the server tells of its transparency log: signed checkpoints, and what is in the log, at the size of one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from services.audit import KeyMissing, Signer
from services.keylist import key_links
from services.leaves import Leaf
from services.log_edge import LogEdge
from services.merkle import verify_consistency, verify_inclusion
from services.notes import Checkpoint, SignedCheckpoint, sign_checkpoint, verifier_key
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

    A checkpoint is signed by every key that games name, for a game is proved by the one that it names first, and a watcher
    of the log relies on the newest; that of a game's proof file by the game's first key alone.

    Methods raise `StoreUnavailable`, `KeyMissing`, and `CorruptTransparencyLog` unless they say otherwise.
    """

    def __init__(self, tree: TransparencyLog, ring: Signer, origin: str, memory: Path | None = None) -> None:
        """``memory`` is a file that keeps what was signed last, beside what the store has of it."""
        self.tree = tree
        self.origin = origin or f"hearts-house/{ring.first.public[:ORIGIN_KEY_DIGITS]}"
        self._edge = LogEdge(tree, ring, self.origin, memory)
        self._ring = ring

    @property
    def verifier_key(self) -> str:
        """The first key of the checkpoints, as readers of signed notes take it."""
        return verifier_key(self.origin, self._ring.first.public)

    def checkpoint(self, size: int | None = None, server_key: str | None = None) -> str:
        """The checkpoint of the log as it is, or of its first ``size`` leaves, signed by every key or by one."""
        size = self._edge.now() if size is None else size
        keys = self._ring.all() if server_key is None else (self._ring.of(server_key),)
        note = sign_checkpoint(Checkpoint(self.origin, size, self._edge.root(size)), keys)
        self._edge.keep(size, note)
        return note

    def signed(self) -> list[tuple[str, SignedCheckpoint]]:
        """The last checkpoints that were signed, each with the place that it stands in."""
        return self._edge.kept()

    def forget_signed(self) -> None:
        """Forget what was signed: the log as it is counts as the first one."""
        self._edge.forget()

    def keys(self) -> list[dict[str, str | None]]:
        """The entries of the published list of keys."""
        return key_links(self._ring.all())

    def inclusion(self, leaf: bytes, index: int, size: int) -> Inclusion:
        """The path to a leaf. Raises ValueError where it is not among the first ``size``."""
        path = self.tree.inclusion(index, size)
        if not verify_inclusion(leaf, index, size, path, self._edge.root(size)):
            raise CorruptTransparencyLog(
                f"the path to leaf {index} of the transparency log does not lead to it: it was changed"
            )
        return Inclusion(leaf.hex(), index, size, tuple(one.hex() for one in path))

    def consistency(self, first: int, second: int) -> list[bytes]:
        """The path from one size to a later one. Raises ValueError unless 0 < ``first`` <= ``second``."""
        path = self.tree.consistency(first, second)
        if not verify_consistency(first, second, path, self._edge.root(first), self._edge.root(second)):
            raise CorruptTransparencyLog(
                f"the path from {first} to {second} leaves of the transparency log shows nothing: it was changed"
            )
        return path

    def has(self, game: str) -> bool:
        """Whether there is a leaf of a game; none is where the log was spoilt, as in `prove`."""
        try:
            return bool(self.tree.of_game(game))
        except CorruptTransparencyLog:
            return False

    def prove(
        self, leaves: Sequence[Leaf], server_key: str | None = None, size: int | None = None
    ) -> LogProof | None:
        """A checkpoint, now or of a ``size``, and the inclusion of those of ``leaves`` that it covers; none where it covers none.

        With the first ``server_key`` of a game it is signed by that alone, as in a proof file.

        Of a log that was spoilt, or under a key that is not here, nothing is shown, and the error is logged: a game's proof file is worth having without it.
        """
        try:
            return self.show(leaves, server_key, size)
        except CorruptTransparencyLog:
            LOG.exception("the transparency log shows nothing; `hearts log verify` tells more")
            return None
        except KeyMissing as error:  # as an event tells that was changed by hand
            LOG.error("the transparency log shows nothing of a game: %s", error)
            return None

    def show(
        self, leaves: Sequence[Leaf], server_key: str | None = None, size: int | None = None
    ) -> LogProof | None:
        """`prove`, for who wants to know what is wrong: raises where nothing can be shown."""
        hashes = [leaf.hash for leaf in leaves]
        found = list(zip(hashes, self.tree.find(hashes), strict=True))
        if size is None and any(index is not None for _, index in found):
            size = self._edge.now()
        covered = [(leaf, index) for leaf, index in found if index is not None and index < (size or 0)]
        if not covered or size is None:
            return None
        return LogProof(
            self.checkpoint(size, server_key),
            tuple(self.inclusion(leaf, index, size) for leaf, index in covered),
        )
