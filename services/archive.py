"""The archive: finished games as sealed files, in a folder or at any address that fsspec knows.

A file is named by its game and the seq of its last event, so that one which was written is never written over. What is in
it is `services.sealed`'s business; who moves games here is `services.archiver`. Store and archive have a mark in common:
a disk that is not mounted, or a wrong place, is not taken for an archive that has lost its games.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol
from zlib import crc32

from domain.refusals import CorruptLog
from services.keys import Keys
from services.sealed import EventChanged, unpack
from services.store import CorruptStream, Entry, Seq
from services.whole_files import create_whole, put_whole, sync_folder
from services.wire import StoreUnavailable, Wire

KEPT_ENTRIES: Final = 20_000
"""Events of archived games that a process keeps: who reads one page of a game reads the next."""
KEPT_SECONDS: Final = 60.0
"""How long it keeps them; after that it sees what has become of their files."""
MARK: Final = "hearts-archive"
"""The file with the mark of an archive."""
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*(::[a-z][a-z0-9+.-]*)*://", re.IGNORECASE)

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_address(place: str) -> bool:
    """Whether a place is an address for fsspec, and no folder."""
    return _ADDRESS.match(place) is not None


class ArchiveUnavailable(StoreUnavailable):
    """The archive cannot be read or written now; what is in it is part of the store."""


class ArchiveDamaged(CorruptStream):
    """The archive does not have, or not whole, the events that the store has not."""


class Files(Protocol):
    """Where blocks are kept. What keeps a method from its work is an OSError."""

    def write(self, name: str, block: bytes) -> None:
        """Keep a block; it is there whole, and stays when the power fails, or not at all."""

    def create(self, name: str, block: bytes) -> None:
        """Keep a block where there is none of this name yet; else do nothing."""

    def read(self, name: str) -> bytes:
        """A block. Raises FileNotFoundError."""

    def drop(self, name: str) -> None:
        """Keep a block no longer; nothing where there is none."""


class Folder:
    """Files in a folder of this machine, made when the first is written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, name: str, block: bytes) -> None:
        """Keep a block, for the house's own eyes."""
        self._put(name, block, put_whole)

    def create(self, name: str, block: bytes) -> None:
        """Keep a block where there is none of this name yet; else do nothing."""
        self._put(name, block, create_whole)

    def _put(self, name: str, block: bytes, put: Callable[[Path, bytes], None]) -> None:
        path = self._path / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        put(path, block)
        sync_folder(self._path)

    def read(self, name: str) -> bytes:
        """A block. Raises FileNotFoundError."""
        # what is no file, such as a pipe, might let its reader wait for ever
        descriptor = os.open(self._path / name, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{name} is no regular file")
            return file.read()

    def drop(self, name: str) -> None:
        """Keep a block no longer; nothing where there is none."""
        (self._path / name).unlink(missing_ok=True)


class Remote:
    """Files at an address that fsspec knows, in a store that keeps a file whole or not at all."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._found: tuple[Any, str] | None = None

    def _place(self, name: str) -> tuple[Any, str]:
        if self._found is None:
            import fsspec

            try:
                system, root = fsspec.core.url_to_fs(self._address)
            except (
                ValueError,
                ImportError,
            ) as error:  # what a scheme needs is not installed, or there is no such one
                raise OSError(f"fsspec cannot use {self._address.partition('://')[0]}://: {error}") from error
            self._found = system, root.rstrip("/")
        system, root = self._found
        return system, f"{root}/{name}"

    def write(self, name: str, block: bytes) -> None:
        """Keep a block."""
        system, path = self._place(name)
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
        system.pipe_file(path, block)

    def create(self, name: str, block: bytes) -> None:
        """Keep a block where there is none of this name yet; else do nothing. Others may come between."""
        system, path = self._place(name)
        if not system.exists(path):
            self.write(name, block)

    def read(self, name: str) -> bytes:
        """A block. Raises FileNotFoundError."""
        system, path = self._place(name)
        return bytes(system.cat_file(path))

    def drop(self, name: str) -> None:
        """Keep a block no longer; nothing where there is none."""
        system, path = self._place(name)
        if system.exists(path):
            system.rm_file(path)


class Archive:
    """The archive of a store at a place: a folder, or an address for fsspec. Safe for threads.

    Every method raises `ArchiveUnavailable` where it cannot be used, and where the place is another than the store's games
    are at.
    """

    def __init__(self, place: str, wire: Wire) -> None:
        self.place = place if is_address(place) else str(Path(place).expanduser().absolute())
        """Where it is."""
        self._wire = wire
        self._files: Files = Remote(place) if is_address(place) else Folder(Path(self.place))
        self._kept: OrderedDict[str, tuple[float, list[Entry]]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, game: str, last: Seq) -> list[Entry]:
        """The events of a game up to that seq, as the archive has or had them in the last minute. Raises `ArchiveDamaged`."""
        name, now = file_name(game, last), time.monotonic()
        with self._lock:
            until, entries = self._kept.get(name, (0.0, []))
            if until > now:
                self._kept.move_to_end(name)
                return entries
        entries = self.fetch(game, last)
        with self._lock:
            self._kept[name] = now + KEPT_SECONDS, entries
            while len(self._kept) > 1 and sum(len(one) for _, one in self._kept.values()) > KEPT_ENTRIES:
                self._kept.popitem(last=False)
        return entries

    def fetch(self, game: str, last: Seq) -> list[Entry]:
        """The events of a game up to that seq, as the archive has them now. Raises `ArchiveDamaged`."""
        name, block = file_name(game, last), self.block(game, last)
        try:
            entries = unpack(block)
        except CorruptLog as error:
            why = f"{name} of the archive is damaged ({error}): put it back from a copy of the archive"
            seq = error.seq if isinstance(error, EventChanged) else 1
            raise ArchiveDamaged(game, seq, why) from error
        if len(entries) != last:
            raise ArchiveDamaged(game, 1, f"{name} of the archive has {len(entries)} events")
        return entries

    def block(self, game: str, last: Seq) -> bytes:
        """The sealed game of so many events, as the archive has it now. Raises `ArchiveDamaged` where it has none."""
        name = file_name(game, last)
        self.check()
        try:
            return self._files.read(name)
        except FileNotFoundError as error:
            raise ArchiveDamaged(
                game,
                1,
                f"events 1 to {last - 1} are not in the store, and the archive has no {name}: "
                "if it ever had, put it back from a copy of the archive",
            ) from error
        except OSError as error:
            raise _unusable(error) from error

    def write(self, game: str, last: Seq, block: bytes) -> None:
        """Keep a sealed game."""
        name = file_name(game, last)
        self.check(begin=True)
        try:
            self._files.write(name, block)
        except OSError as error:
            raise _unusable(error) from error

    def drop(self, game: str, last: Seq) -> None:
        """Keep a game no longer; nothing where it is not there."""
        name = file_name(game, last)
        self.check()
        try:
            self._files.drop(name)
        except OSError as error:
            raise _unusable(error) from error
        with self._lock:
            self._kept.pop(name, None)

    # --- the mark

    def check(self, *, begin: bool = False) -> None:
        """See that this is the archive of the store; a store that has none is given this one where it is to ``begin``."""
        there, wanted = self._mark(), self._wire.call("GET", Keys.archive)
        if wanted is None and begin:
            wanted = self._begin(there)
            there = self._mark()
        if wanted is not None and there != wanted:
            raise ArchiveUnavailable(
                f"{self.place} is not the archive of this store, or not mounted: it "
                + (f"has no file {MARK}" if there is None else "has the mark of another one")
            )

    def adopt(self) -> bool:
        """Make this place the store's archive, wherever that was. False where it is already."""
        there, wanted = self._mark(), self._wire.call("GET", Keys.archive)
        if wanted is not None and there == wanted:
            return False
        if wanted is None:
            self._begin(there)
            return True
        try:
            self._files.write(MARK, wanted)
        except OSError as error:
            raise _unusable(error) from error
        return True

    def is_free_for(self, mark: bytes | None) -> bool:
        """Whether no other store has its archive here than the one with this mark, none where it has no archive."""
        return self._mark() in (None, mark)

    def _begin(self, there: bytes | None) -> bytes:
        """The mark that store and place have from now on."""
        if there is None:
            try:
                self._files.create(MARK, secrets.token_hex(16).encode())
            except OSError as error:
                raise _unusable(error) from error
            there = self._mark()
        self._wire.call("SET", Keys.archive, there or b"", "NX")
        return bytes(self._wire.call("GET", Keys.archive))

    def _mark(self) -> bytes | None:
        try:
            return self._files.read(MARK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(error) from error


def _unusable(error: OSError) -> ArchiveUnavailable:
    return ArchiveUnavailable(f"the archive cannot be used: {error}")


def file_name(game: str, last: Seq) -> str:
    """Where the sealed game of ``last`` events is, below the archive's place; 256 folders keep each of them short.

    Raises `ArchiveDamaged` for an id that no game has, which might lead elsewhere.
    """
    if _ID.fullmatch(game) is None:
        raise ArchiveDamaged(game, 1, "no game has such an id")
    return f"{crc32(game.encode()) % 256:02x}/{game}-{last}.ndjson.gz"
