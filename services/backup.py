"""A backup of a house, taken while it runs: whatever does not follow from something else, in one file.

Each part is copied after what it is spoken of in, so that the copy holds together though the house goes on: the last
checkpoint that was signed, then the transparency log, the finished games, all games, and last the players and the keys. So
every leaf has its game, and every game its players. Read models, snapshots, feeds and due sets are folded again from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import redis

from services.archive import Archive
from services.backup_file import (
    FORMAT,
    BackupWriter,
    Ended,
    Game,
    Head,
    Kept,
    Leaves,
    RawEntry,
    Secret,
    Summary,
    check_backup,
)
from services.entries import PAGE, CorruptStream, seq_of
from services.keys import Keys
from services.translog import CorruptTransparencyLog
from services.whole_files import beside, place_new, written_whole
from services.wire import Wire
from services.wiring import Services

KEPT_PATTERNS: Final = (
    Keys.player("*"),
    Keys.tokens("*"),
    Keys.token("*"),
    Keys.opened("*"),
)
"""The keys of players, found by these."""
KEPT_TEMPLATES: Final = frozenset(
    ("player", "tokens", "token", "opened", "parked", "archive", "log_signed", "server_key_now")
)
"""The templates of all keys that are copied as they are."""
READERS: Final = {"string": "GET", "hash": "HGETALL", "set": "SMEMBERS"}
"""What reads a key of each type as a whole."""
_TRIES: Final = 3
"""A game may move into the archive, or out of it, while it is read."""

Tell = Callable[[str], None]
"""Is told what could not be copied, a sentence each."""


def write_backup(house: Services, path: Path, tell: Tell) -> Summary:
    """Write a backup of a house to a new file, for its user alone, and read it again before it has its name.

    What is damaged in the store is told, and copied as it is. Raises `FileExistsError`, `OSError`, `BadBackup` where what
    was written is not what is read, `StoreUnavailable`, `KeyMissing`.
    """
    with written_whole(path, place=place_new) as file:
        writer = BackupWriter(file)
        for record in _records(house, tell):
            writer.add(record)
        writer.end()
        file.flush()
        return check_backup(beside(path))


def _records(house: Services, tell: Tell) -> Iterator[Head | Secret | Leaves | Ended | Game | Kept]:
    wire, settings = house.store.wire, house.settings
    yield Head(FORMAT, house.clock(), house.keys.partitions, house.key.first.public)
    with suppress(FileNotFoundError):
        yield Secret("signed", settings.signed_path.read_bytes())
    yield from _kept(wire, house.clock(), [Keys.log_signed, Keys.archive])
    yield from _leaves(house, tell)
    yield from _ended(house)
    copier = _Copier(house, tell)
    for game in house.store.games():
        found = copier.copy(game)
        if found is not None:
            yield found
    for pattern in KEPT_PATTERNS:
        for page in wire.scan(pattern, PAGE):
            yield from _kept(wire, house.clock(), [key.decode() for key in page])
    yield from _kept(wire, house.clock(), [house.keys.parked(p) for p in range(house.keys.partitions)])
    yield from _kept(wire, house.clock(), [Keys.server_key_now])
    yield Secret("key", settings.key_path.read_bytes())


def _leaves(house: Services, tell: Tell) -> Iterator[Leaves]:
    tree, page = house.log.tree, list[tuple[str, str, int, bytes]]()
    try:
        for _, leaf in tree.every_leaf():
            page.append(tuple(leaf))  # type: ignore[arg-type]
            if len(page) == PAGE:
                yield Leaves(page)
                page = []
    except CorruptTransparencyLog as error:
        tell(f"of the transparency log what comes before this is in the backup: {error}")
    if page:
        yield Leaves(page)


def _ended(house: Services) -> Iterator[Ended]:
    """The finished games in the order of the standings."""
    for page in _pages(house.store.wire, Keys.standings_games):
        known = [fields[1] for _, fields in page]
        yield Ended([(_id_of(one), one) for one in known])


class _Id(msgspec.Struct):
    game: str


def _id_of(known: bytes) -> bytes:
    try:
        return msgspec.json.decode(known, type=_Id).game.encode()
    except msgspec.MsgspecError:
        return b""


class _Copier:
    """Copies games, be they in the store or in the archive."""

    def __init__(self, house: Services, tell: Tell) -> None:
        self._keys, self._wire, self._clock, self._tell = house.keys, house.store.wire, house.clock, tell
        place = house.settings.archive_place
        self._archive = None if place is None else Archive(place, self._wire)

    def copy(self, game: str) -> Game | None:
        """A game as it is now; none where there is none any more."""
        try:
            return self._copy(game)
        except redis.ResponseError as error:  # one of its keys is none of ours
            self._tell(f"game {game} is not in the backup: {error}")
            return None

    def _copy(self, game: str) -> Game | None:
        # the answers before the events that they speak of
        answers, left = self._wire.pipeline(
            [("HGETALL", self._keys.idempotency(game)), ("PTTL", self._keys.idempotency(game))]
        )
        expires = self._clock() + left if left > 0 else 0
        entries, why = self._entries(game)
        if not entries:
            return None
        first, block = _seq(entries[0]), b""
        if first > 1 and why is None:
            try:
                block = self._block(game, first)
            except CorruptStream as error:
                why = error.why
        if why is not None:
            self._tell(f"game {game} is damaged, and is in the backup as it is: {why}")
        return Game(game, entries, block, first if block else 0, answers if expires else [], expires)

    def _entries(self, game: str) -> tuple[list[RawEntry], str | None]:
        """The entries of a stream, and what is wrong with their ids."""
        entries: list[RawEntry] = []
        for _ in range(_TRIES):
            entries = [entry for page in _pages(self._wire, self._keys.stream(game)) for entry in page]
            if not entries or [entry for entry, _ in entries] == [
                b"%d-0" % (_seq(entries[0]) + at) for at in range(len(entries))
            ]:
                return entries, None
        return entries, "its events are not in a row"

    def _block(self, game: str, first: int) -> bytes:
        if self._archive is None:
            raise CorruptStream(
                game, 1, "it is in the archive, and HEARTS_ARCHIVE does not say where that is"
            )
        return self._archive.block(game, first)


def _seq(entry: RawEntry) -> int:
    try:
        return seq_of("", entry[0])
    except CorruptStream:
        return 0


def _pages(wire: Wire, stream: str) -> Iterator[list[Any]]:
    after = b"-"
    while page := wire.call("XRANGE", stream, after, "+", "COUNT", PAGE):
        yield page
        after = b"(" + page[-1][0]


def _kept(wire: Wire, now: int, keys: Sequence[str]) -> Iterator[Kept]:
    """The keys as they are ``now`` (Unix ms), those left out that are not there (any more)."""
    kinds = [kind.decode() for kind in wire.pipeline([("TYPE", key) for key in keys])]
    there = [(key, kind) for key, kind in zip(keys, kinds, strict=True) if kind in READERS]
    values = wire.pipeline([(READERS[kind], key) for key, kind in there])
    left = wire.pipeline([("PTTL", key) for key, _ in there])
    for (key, kind), value, ms in zip(there, values, left, strict=True):
        whole = value if isinstance(value, list) else [] if value is None else [value]
        if whole:
            yield Kept(key, kind, whole, now + ms if ms > 0 else 0)
