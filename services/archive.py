"""The archive: finished games as sealed files, in a folder or at any address that fsspec knows.

A file is named by its game and the seq of its last event, so that one which was written is never written over. What is in
it is `services.sealed`'s business; who moves games here is `services.archiver`.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol
from zlib import crc32

from domain.refusals import CorruptLog
from services.sealed import unpack
from services.store import CorruptStream, Entry, Seq
from services.wire import StoreUnavailable

KEPT_ENTRIES: Final = 20_000
"""Events of archived games that a process keeps: who reads one page of a game reads the next."""
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*(::[a-z][a-z0-9+.-]*)*://", re.IGNORECASE)

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_address(place: str) -> bool:
    """Whether a place is an address for fsspec, and no folder."""
    return _ADDRESS.match(place) is not None


class ArchiveUnavailable(StoreUnavailable):
    """The archive cannot be read or written now; what is in it is part of the store."""


class Files(Protocol):
    """Where blocks are kept. What keeps a method from its work is an OSError."""

    def write(self, name: str, block: bytes) -> None:
        """Keep a block; it is there whole, and stays when the power fails, or not at all."""

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
        path = self._path / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(block)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        for folder in (path.parent, self._path):
            _sync(folder)

    def read(self, name: str) -> bytes:
        """A block. Raises FileNotFoundError."""
        return (self._path / name).read_bytes()

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
    """The archive at a place: a folder, or an address for fsspec. Every method raises `ArchiveUnavailable` where it cannot be used.

    Safe for threads.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        self._files: Files = Remote(place) if is_address(place) else Folder(Path(place))
        self._kept: OrderedDict[str, list[Entry]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, game: str, last: Seq) -> list[Entry]:
        """The events of a game up to that seq. Raises `CorruptStream` where the archive does not have them."""
        name = file_name(game, last)
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        entries = self.fetch(game, last)
        with self._lock:
            self._kept[name] = entries
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > KEPT_ENTRIES:
                self._kept.popitem(last=False)
        return entries

    def fetch(self, game: str, last: Seq) -> list[Entry]:
        """The same, read anew."""
        name = file_name(game, last)
        try:
            entries = unpack(self._files.read(name))
        except FileNotFoundError as error:
            raise CorruptStream(
                game, 1, f"events 1 to {last - 1} are archived, and there is no {name}"
            ) from error
        except CorruptLog as error:
            raise CorruptStream(game, 1, f"{name} of the archive is damaged: {error}") from error
        except OSError as error:
            raise self._unusable(error) from error
        if len(entries) != last:
            raise CorruptStream(game, 1, f"{name} of the archive has {len(entries)} events")
        return entries

    def write(self, game: str, last: Seq, block: bytes) -> None:
        """Keep a sealed game."""
        try:
            self._files.write(file_name(game, last), block)
        except OSError as error:
            raise self._unusable(error) from error

    def drop(self, game: str, last: Seq) -> None:
        """Keep a game no longer; nothing where it is not there."""
        try:
            self._files.drop(file_name(game, last))
        except OSError as error:
            raise self._unusable(error) from error
        with self._lock:
            self._kept.pop(file_name(game, last), None)

    def _unusable(self, error: OSError) -> ArchiveUnavailable:
        return ArchiveUnavailable(f"the archive cannot be used: {error}")


def file_name(game: str, last: Seq) -> str:
    """Where the sealed game of ``last`` events is, below the archive's place; 256 folders keep each of them short.

    Raises `CorruptStream` for an id that no game has, which might lead elsewhere.
    """
    if _ID.fullmatch(game) is None:
        raise CorruptStream(game, 1, "no game has such an id")
    return f"{crc32(game.encode()) % 256:02x}/{game}-{last}.ndjson.gz"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
