"""The roots of the transparency log that this server vouches for, followed leaf by leaf.

The hashes of the tree stand in the store, where somebody may change them, and a root that was signed cannot be taken
back: watchers would tell of a fork. So a root is worked out from the leaves, of which a process keeps the right edge, held
to the hashes in the store, and shown to continue the last one that was signed. That one is kept as a signed note twice: in
the store, for all processes of a house, and in a file beside the server key, which who can write to the store alone
cannot put back to an earlier one. A new process has to read no more than the leaves since.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

import redis

from domain.refusals import Malformed
from services.audit import Signer
from services.keys import Keys
from services.merkle import grow, join, pieces, verify_consistency
from services.notes import SignedCheckpoint, read_checkpoint
from services.translog import PAGE, CorruptTransparencyLog, TransparencyLog
from services.whole_files import ANYBODYS, put_whole
from services.wire import StoreUnavailable


class LogEdge:
    """The right edge of a log, as far as this process has followed it. Safe for threads.

    Every method raises `StoreUnavailable`, and `CorruptTransparencyLog` where the log is not the one that was signed.
    """

    def __init__(self, tree: TransparencyLog, ring: Signer, origin: str, memory: Path | None) -> None:
        self._tree, self._ring, self._origin = tree, ring, origin
        self._memory = memory
        """The file beside the server key; none where there is no such place."""
        self._size, self._frontier = 0, list[bytes]()
        self._begun = False
        self._kept = 0
        """Leaves of the log of which there is a note, as far as this process knows."""
        self._lock = Lock()

    def now(self) -> int:
        """How many leaves there are, which are no fewer than this process knows of or were signed. Raises `KeyMissing`."""
        with self._lock:
            if not self._begun:
                self._begin()
            known = self._size
        size = self._tree.size()
        if size < known:
            raise _cut_off(size, known)
        return size

    def root(self, size: int) -> bytes:
        """The root of the first ``size`` leaves. Raises `KeyMissing`."""
        with self._lock:
            if not self._begun:
                self._begin()
            if size > self._size:
                self._follow(size)
            found = join(self._frontier)
            return found if size == self._size else self._earlier(size, found)

    def keep(self, size: int, note: str) -> None:
        """Keep the note of ``size`` leaves that was signed, where it is the latest. A place that takes nothing keeps none."""
        if size <= self._kept:
            return
        with suppress(StoreUnavailable):
            self._tree.wire.call("SET", Keys.log_signed, note)
            self._kept = size
        if self._memory is not None:
            with suppress(OSError):
                put_whole(self._memory, note.encode(), ANYBODYS)

    def kept(self) -> list[tuple[str, SignedCheckpoint]]:
        """The last checkpoints that this server has signed, each with the place it stands in. Raises `KeyMissing`."""
        keys = [key.public for key in self._ring.all()]
        found = [
            (Keys.log_signed, _read_stored(self._tree, keys)),
            (str(self._memory), self._remembered(keys)),
        ]
        return [(place, one) for place, one in found if one is not None]

    def forget(self) -> None:
        """Forget what was signed."""
        with self._lock:
            self._tree.wire.call("DEL", Keys.log_signed)
            if self._memory is not None:
                self._memory.unlink(missing_ok=True)
            self._size, self._frontier, self._begun, self._kept = 0, [], False, 0

    # --- inside

    def _begin(self) -> None:
        """Take up the log where it was signed last."""
        notes = sorted((one.checkpoint for _, one in self.kept()), key=lambda one: one.size)
        if notes:
            *earlier, (_, size, root) = notes
            have = self._tree.size()
            if have < size:
                raise _cut_off(have, size)
            frontier = self._tree.roots([_range(node) for node in pieces((0, size))])
            if join(frontier) != root:
                raise _others(size)
            self._size, self._frontier = size, frontier
            for one in earlier:
                if self._earlier(one.size, root) != one.root:
                    raise _others(one.size)
            # where one place has less than the other, it is told anew
            self._kept = size if len({one.size for one in notes}) == 1 and len(notes) == 2 else 0
        self._begun = True

    def _remembered(self, server_keys: Sequence[str]) -> SignedCheckpoint | None:
        """The note of the file, where it is of this log: under another name it would be another one."""
        if self._memory is None:
            return None
        try:
            found = _read(self._memory.read_bytes(), str(self._memory), server_keys)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CorruptTransparencyLog(
                f"what was signed of the transparency log cannot be read: {error}"
            ) from error
        return found if found.checkpoint.origin == self._origin else None

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


def _cut_off(have: int, had: int) -> CorruptTransparencyLog:
    return CorruptTransparencyLog(
        f"the transparency log has {have} leaves, and had {had} when it was signed: cut off"
    )


def _others(size: int) -> CorruptTransparencyLog:
    return CorruptTransparencyLog(
        f"the first {size} leaves of the transparency log are others than were signed: it was changed"
    )


def _read_stored(tree: TransparencyLog, server_keys: Sequence[str]) -> SignedCheckpoint | None:
    try:
        note: bytes | None = tree.wire.call("GET", Keys.log_signed)
    except redis.ResponseError as error:
        raise CorruptTransparencyLog(str(error)) from error
    return None if note is None else _read(note, Keys.log_signed, server_keys)


def _read(note: bytes, place: str, server_keys: Sequence[str]) -> SignedCheckpoint:
    try:
        kept = read_checkpoint(note.decode())
    except (Malformed, UnicodeDecodeError) as error:
        raise CorruptTransparencyLog(f"{place} holds no checkpoint: {error}") from error
    if not kept.judge(server_keys):
        raise CorruptTransparencyLog(f"the checkpoint in {place} is not signed by this server")
    return kept


def _grown(size: int, frontier: Sequence[bytes], leaves: Sequence[bytes]) -> list[bytes]:
    """The hashes of ``pieces((0, size + len(leaves)))``, from those of ``pieces((0, size))``."""
    known = dict(zip(pieces((0, size)), frontier, strict=True)) | dict(grow(size, frontier, leaves))
    return [known[node] for node in pieces((0, size + len(leaves)))]


def _range(node: tuple[int, int]) -> tuple[int, int]:
    level, index = node
    return index << level, (index + 1) << level
