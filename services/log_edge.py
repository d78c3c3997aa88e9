"""The roots of the transparency log that this server vouches for, followed leaf by leaf.

The hashes of the tree stand in the store, where somebody may change them, and a root that was signed cannot be taken
back: watchers would tell of a fork. So a root is worked out from the leaves, of which a process keeps the right edge, held
to the hashes in the store, and shown to continue the last one that was signed. That one stands in the store as a signed
note, which only who has the key can write, so that a new process has to read no more than the leaves since.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

import redis

from domain.refusals import Malformed
from services.audit import Signer
from services.keys import Keys
from services.merkle import grow, join, pieces, verify_consistency
from services.notes import SignedCheckpoint, read_checkpoint
from services.translog import PAGE, CorruptTransparencyLog, TransparencyLog
from services.wire import StoreUnavailable


class LogEdge:
    """The right edge of a log, as far as this process has followed it. Safe for threads.

    Every method raises `StoreUnavailable`, and `CorruptTransparencyLog` where the log is not the one that was signed.
    """

    def __init__(self, tree: TransparencyLog, ring: Signer) -> None:
        self._tree, self._ring = tree, ring
        self._size, self._frontier = 0, list[bytes]()
        self._begun = False
        self._kept = 0
        """Leaves of the log of which the store has a note, as far as this process knows."""
        self._lock = Lock()

    def root(self, size: int) -> bytes:
        """The root of the first ``size`` leaves. Raises `KeyMissing` as the first `read_kept` does."""
        with self._lock:
            if not self._begun:
                self._begin()
            if size > self._size:
                self._follow(size)
            found = join(self._frontier)
            return found if size == self._size else self._earlier(size, found)

    def keep(self, size: int, note: str) -> None:
        """Keep the note of ``size`` leaves that was signed, where it is the latest; a store that takes nothing keeps none."""
        if size > self._kept:
            with suppress(StoreUnavailable):
                self._tree.wire.call("SET", Keys.log_signed, note)
                self._kept = size

    def read_kept(self) -> SignedCheckpoint | None:
        """The last checkpoint that this server has signed. Raises `KeyMissing`."""
        return read_kept(self._tree, [key.public for key in self._ring.all()])

    # --- inside

    def _begin(self) -> None:
        """Take up the log where it was signed last."""
        kept = self.read_kept()
        if kept is not None:
            (_, size, root) = kept.checkpoint
            have = self._tree.size()
            if have < size:
                raise CorruptTransparencyLog(
                    f"the transparency log has {have} leaves, and had {size} when it was signed: cut off"
                )
            frontier = self._tree.roots([_range(node) for node in pieces((0, size))])
            if join(frontier) != root:
                raise CorruptTransparencyLog(
                    f"the first {size} leaves of the transparency log are others than were signed: it was changed"
                )
            self._size, self._frontier, self._kept = size, frontier, size
        self._begun = True

    def _follow(self, size: int) -> None:
        """Go on to ``size`` leaves."""
        at, frontier = self._size, self._frontier
        while at < size:
            page = self._tree.leaves(at, min(PAGE, size - at))
            if not page:
                raise CorruptTransparencyLog(f"leaf {at} is not in the transparency log")
            frontier = _grown(at, frontier, [leaf.hash for _, leaf in page])
            at += len(page)
        if join(frontier) != self._tree.root(size):
            raise CorruptTransparencyLog(
                f"what the transparency log keeps of its first {size} leaves does not follow from them: it was changed"
            )
        self._size, self._frontier = size, frontier

    def _earlier(self, size: int, last: bytes) -> bytes:
        """The root of fewer leaves than are known, whose root is ``last``."""
        root = self._tree.root(size)
        if size and not verify_consistency(
            size, self._size, self._tree.consistency(size, self._size), root, last
        ):
            raise CorruptTransparencyLog(
                f"the first {size} leaves of the transparency log do not begin that of {self._size}: it was changed"
            )
        return root


def read_kept(tree: TransparencyLog, server_keys: Sequence[str]) -> SignedCheckpoint | None:
    """The last checkpoint that the server with these keys (hex) has signed, by the store.

    Raises `CorruptTransparencyLog` where it is none, or nobody with such a key has signed it.
    """
    try:
        note = tree.wire.call("GET", Keys.log_signed)
    except redis.ResponseError as error:
        raise CorruptTransparencyLog(str(error)) from error
    if note is None:
        return None
    try:
        kept = read_checkpoint(note.decode())
    except (Malformed, UnicodeDecodeError) as error:
        raise CorruptTransparencyLog(f"{Keys.log_signed} holds no checkpoint: {error}") from error
    if not kept.judge(server_keys):
        raise CorruptTransparencyLog(f"the checkpoint in {Keys.log_signed} is not signed by this server")
    return kept


def _grown(size: int, frontier: Sequence[bytes], leaves: Sequence[bytes]) -> list[bytes]:
    """The hashes of ``pieces((0, size + len(leaves)))``, from those of ``pieces((0, size))``."""
    known = dict(zip(pieces((0, size)), frontier, strict=True)) | dict(grow(size, frontier, leaves))
    return [known[node] for node in pieces((0, size + len(leaves)))]


def _range(node: tuple[int, int]) -> tuple[int, int]:
    level, index = node
    return index << level, (index + 1) << level
