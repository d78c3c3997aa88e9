"""What is in a backup, and the file that it lies in: records one after the other, compressed, and a digest of them at the end.

A file without that end, or with another digest, is no backup. It does not depend on the server that the house had, on its
version, or on how many nodes it had.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

import msgspec

from domain.refusals import HeartsError
from services.keys import Keys

FORMAT: Final = 1
"""Of the records; one of a higher number was written by a newer program."""
MOST_BYTES: Final = 1 << 30
"""Of one record: a damaged length is not believed."""
_LENGTH_BYTES: Final = 4
_LEVEL: Final = 6


class BadBackup(HeartsError):
    """A file is no backup, or not a whole one, or one that cannot be used here; and why."""


class _Record(msgspec.Struct, array_like=True, tag=str.lower):
    """One record; its kind is its first field."""


RawEntry = tuple[bytes, list[bytes]]
"""An entry of a stream as the server gives it: its id, and names and values of its fields in turn."""


class Head(_Record):
    """The first record: of which house this is a backup, and from when on what happened may not be in it."""

    format: int
    at: int
    """When it was begun, ms since 1970 UTC."""
    partitions: int
    server_key: str
    """The first public key, hex."""


class Secret(_Record):
    """A file from the folder of the server's key: ``key``, or ``signed``, what was signed last of the transparency log."""

    name: str
    data: bytes


class Leaves(_Record):
    """The next leaves of the transparency log: game, kind, seq, head."""

    leaves: list[tuple[str, str, int, bytes]]


class Ended(_Record):
    """The next finished games as the standings know them, in the order in which they are folded: id, what is known of it."""

    games: list[tuple[bytes, bytes]]


class Game(_Record):
    """A game: the entries of its stream, and before them, where it is archived, its block of so many events.

    ``answers`` are those under idempotency keys, names and values in turn, until ``expires`` (Unix ms).
    """

    game: str
    entries: list[RawEntry]
    block: bytes
    archived: int
    answers: list[bytes]
    expires: int


class Kept(_Record):
    """A key of the store that is neither a game nor a fold: its type, what it holds, when it expires (Unix ms; 0: never)."""

    key: str
    kind: str
    value: list[bytes]
    expires: int


class End(_Record):
    """The last record: how much there is before it, and the SHA-256 of that."""

    games: int
    events: int
    archived: int
    leaves: int
    players: int
    digest: bytes


AnyRecord = Head | Secret | Leaves | Ended | Game | Kept | End
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(AnyRecord).decode


class Summary(NamedTuple):
    """What a backup has, as its first and last records say."""

    head: Head
    end: End


class BackupWriter:
    """Writes records to a file that is open, and counts them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=_LEVEL, mtime=0)
        self._digest = sha256()
        self._counts = dict.fromkeys(("games", "events", "archived", "leaves", "players"), 0)

    def add(self, record: AnyRecord) -> None:
        """Write a record. Raises `OSError`."""
        self._count(record)
        self._put(record)

    def end(self) -> None:
        """Write the last record, by which the file is a backup. Raises `OSError`."""
        self._put(End(**self._counts, digest=self._digest.digest()))
        self._file.close()

    def _count(self, record: AnyRecord) -> None:
        counts = self._counts
        if isinstance(record, Game):
            counts["games"] += 1
            counts["archived"] += bool(record.archived)
            counts["events"] += events_of(record)
        elif isinstance(record, Leaves):
            counts["leaves"] += len(record.leaves)
        elif isinstance(record, Kept):
            counts["players"] += record.key.startswith(Keys.player(""))

    def _put(self, record: AnyRecord) -> None:
        data = _encode(record)
        data = len(data).to_bytes(_LENGTH_BYTES) + data
        self._digest.update(data)
        self._file.write(data)


def events_of(game: Game) -> int:
    """How many events a game in a backup has: its last entry is in the block already, where there is one."""
    return len(game.entries) + max(0, game.archived - 1)


def read_backup(path: Path) -> Iterator[AnyRecord]:
    """The records of a backup in order, `Head` first. Raises `BadBackup` where it is none, or damaged, and `OSError`.

    That one is whole is known at its end alone: what must not be begun with half of one asks `check_backup` before.
    """
    digest = sha256()
    try:
        with gzip.open(path) as file:
            first = True
            while True:
                so_far = digest.digest()
                record = _next(cast("BinaryIO", file), digest)
                if first and not isinstance(record, Head):
                    raise BadBackup(f"{path} is no backup of a house")
                if isinstance(record, Head) and record.format > FORMAT:
                    raise BadBackup(f"{path} was written by a newer version (format {record.format})")
                first = False
                if isinstance(record, End) and (record.digest != so_far or file.read(1)):
                    raise BadBackup(f"{path} is damaged: its digest is another")
                yield record
                if isinstance(record, End):
                    return
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadBackup(f"{path} is no backup, or damaged: {error}") from error
    except EOFError as error:
        raise BadBackup(f"{path} is cut short") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadBackup(f"{path} is no backup of a house, or damaged: {error}") from error


def _next(file: BinaryIO, digest: Any) -> AnyRecord:
    length = file.read(_LENGTH_BYTES)
    size = int.from_bytes(length)
    data = file.read(size) if len(length) == _LENGTH_BYTES and size <= MOST_BYTES else b""
    if size > MOST_BYTES:
        raise BadBackup(f"a record of {size} bytes cannot be")
    if len(length) < _LENGTH_BYTES or len(data) < size:
        raise EOFError
    digest.update(length + data)
    record: AnyRecord = _decode(data)
    return record


def check_backup(path: Path) -> Summary:
    """Read a backup from its first byte to its last. Raises `BadBackup`, `OSError`."""
    records = read_backup(path)
    head = next(records)
    assert isinstance(head, Head)
    end = None
    for record in records:
        end = record
    assert isinstance(end, End)
    return Summary(head, end)
