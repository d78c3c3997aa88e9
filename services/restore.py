"""A backup put into an empty house: keys and archive, the log and all games; the rest is folded by the house when it starts.

Until all is there the store says in the place of its number of partitions that it is being restored, so that no process
works with half of a house. Who is broken off begins again with the same file: each step sets what is to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from domain.refusals import CorruptLog, Malformed
from services.archive import Archive
from services.audit import load_keys
from services.backup import KEPT_TEMPLATES, Tell
from services.backup_file import (
    AnyRecord,
    BadBackup,
    Ended,
    Game,
    Kept,
    Leaves,
    Secret,
    Summary,
    check_backup,
    events_of,
    read_backup,
)
from services.cluster import Client, wire_of
from services.entries import PAGE, CorruptStream, entries_of
from services.feed import Feed
from services.folded import follow
from services.key_types import template_of
from services.keys import EVERY_PATTERN, Keys
from services.leaves import Leaf
from services.notes import read_checkpoint
from services.owed import next_due
from services.sealed import unpack
from services.settings import Settings
from services.short import shortened
from services.standings_fold import Finished, Ledger
from services.store import RESTORING
from services.token_forms import id_of
from services.translog import TransparencyLog
from services.whole_files import create_whole

_WRITERS: Final[dict[str, str]] = {"string": "SET", "hash": "HSET", "set": "SADD"}


class NotEmpty(BadBackup):
    """The house that a backup is to be put into is not empty, and nothing of it was changed."""


def restore_backup(
    settings: Settings, client: Client, path: Path, clock: Callable[[], int], tell: Tell
) -> Summary:
    """Put a backup into the empty house of the settings, with the store of ``client``.

    Told, a sentence each, is what of it is damaged, or may be missing. Raises `BadBackup` and `NotEmpty` before anything is
    written, `KeyFileError`, `OSError`, `StoreUnavailable`, `ArchiveUnavailable`; who is broken off calls it once more.
    """
    summary = check_backup(path)
    if settings.partitions != summary.head.partitions:
        raise BadBackup(
            f"the backup is of a house of {summary.head.partitions} partitions: HEARTS_PARTITIONS={summary.head.partitions}"
        )
    restorer = _Restorer(settings, client, summary, clock, tell)
    restorer.require_room(path)
    restorer.begin()
    for record in read_backup(path):
        restorer.put(record)
    restorer.end()
    return summary


class _Restorer:
    """Puts the records of a backup where they belong."""

    def __init__(
        self, settings: Settings, client: Client, summary: Summary, clock: Callable[[], int], tell: Tell
    ) -> None:
        self._settings, self._summary, self._clock, self._tell = settings, summary, clock, tell
        self._keys = Keys(summary.head.partitions)
        self._wire = wire_of(client)
        self._feed = Feed(client, self._keys)
        self._log, self._ledger = TransparencyLog(self._wire), Ledger(self._wire, self._keys)
        place = settings.archive_place
        self._archive = None if place is None else Archive(place, self._wire)
        self._mark = RESTORING + summary.end.digest.hex()[:32].encode()
        self._games: set[str] = set()
        self._tokens: set[bytes] = set()
        """Ids of tokens that their players can see and end."""

    # --- before and after

    def require_room(self, path: Path) -> None:
        """See that nothing would be written over. Raises `NotEmpty`, `KeyFileError`."""
        told = self._wire.call("GET", Keys.partitions_key)
        if told != self._mark:
            found = any(self._wire.scan(EVERY_PATTERN, PAGE))
            if told is not None or found:
                raise NotEmpty(
                    "the store is not empty: restore into one that no house has been started on"
                    if not (told or b"").startswith(RESTORING)
                    else "another backup is being restored into this store: begin anew with an empty one"
                )
        mark = None
        for record in read_backup(path):
            if isinstance(record, Secret) and record.name == "key":
                self._require_key(record.data)
            elif isinstance(record, Kept) and record.key == Keys.archive:
                mark = record.value[0]
        if self._archive is not None and not self._archive.is_free_for(mark):
            raise NotEmpty(f"{self._archive.place} is the archive of another store")

    def _require_key(self, data: bytes) -> None:
        """See that a key file that is there has the keys of the backup."""
        path, wanted = self._settings.key_path, data.split()
        if not path.exists():
            return
        if load_keys(path)[0].public != self._summary.head.server_key:
            raise NotEmpty(f"{path} holds another server's key")
        if path.read_bytes().split()[: len(wanted)] != wanted:
            raise NotEmpty(f"{path} lacks keys that the backup has, or has others")

    def begin(self) -> None:
        """Say that the store is being restored."""
        self._wire.call("SET", Keys.partitions_key, self._mark)
        self._wire.call("SET", Keys.server_key, self._summary.head.server_key)

    def end(self) -> None:
        """Say that all is there."""
        self._wire.call("SET", Keys.partitions_key, self._keys.partitions)

    # --- records

    def put(self, record: AnyRecord) -> None:
        """Put a record where it belongs."""
        if isinstance(record, Secret):
            self._put_file(record)
        elif isinstance(record, Leaves):
            self._log.add([Leaf(game, kind, seq, head) for game, kind, seq, head in record.leaves])  # type: ignore[arg-type]
        elif isinstance(record, Ended):
            self._ledger.enter(list(self._finished(record)))
        elif isinstance(record, Game):
            self._put_game(record)
        elif isinstance(record, Kept):
            self._put_kept(record)

    def _put_file(self, record: Secret) -> None:
        path = self._settings.key_path if record.name == "key" else self._settings.signed_path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if record.name == "signed" and path.exists() and path.read_bytes() != record.data:
            self._tell(_signed_since(path, self._summary.end.leaves))
        create_whole(path, record.data)

    def _finished(self, record: Ended) -> Iterator[Finished]:
        for game, known in record.games:
            try:
                yield msgspec.json.decode(known, type=Finished)
            except msgspec.MsgspecError:
                self._tell(
                    f"what the standings know of game {game.decode()!r} cannot be read, and is left out"
                )

    def _put_kept(self, record: Kept) -> None:
        found = template_of(record.key)
        if found is None or found[0].name not in KEPT_TEMPLATES or found[0].type != record.kind:
            self._tell(f"the key {record.key:.200} is none of a backup, and is left out")
            return
        if record.key == Keys.archive and self._archive is None:
            return  # all games are put into the store
        value = self._usable(record)
        if value and not 0 < record.expires <= self._clock():
            self._replace(record.key, [(_WRITERS[record.kind], record.key, *value)], record.expires)
        if record.key == Keys.archive and self._archive is not None:
            self._archive.adopt()

    def _usable(self, record: Kept) -> list[bytes]:
        """What of a key to restore, whose parts were copied one after the other: no token that its player could not end."""
        if record.key.startswith(Keys.opened("")):
            return [game for game in record.value if game.decode() in self._games]
        if record.key.startswith(Keys.tokens("")):
            self._tokens.update(record.value[::2])
        elif record.key.startswith(Keys.token("")):
            digest = record.key.removeprefix(Keys.token(""))
            return record.value if id_of(digest).encode() in self._tokens else []
        return record.value

    def _put_game(self, record: Game) -> None:
        game, entries = record.game, record.entries
        self._games.add(game)
        try:
            before = unpack(record.block)[: record.archived - 1] if record.block else []
            whole = before + entries_of(game, len(before), entries)
            state = follow(game, None, whole).state
            due = None if record.archived else next_due(state, self._clock())
        except (CorruptLog, CorruptStream) as error:
            self._tell(f"game {game} cannot be folded: {error}")
            before, due = [], None
        if record.block and self._archive is not None:
            self._archive.write(game, record.archived, record.block)
            before = []
        stream, answers = self._keys.stream(game), self._keys.idempotency(game)
        adds = [_add(stream, *one) for one in before]
        adds += [("XADD", stream, entry, *fields) for entry, fields in entries]
        self._replace(stream, adds)
        if record.expires > self._clock():
            self._replace(answers, [("HSET", answers, *record.answers)], record.expires)
        if due is not None:
            self._wire.call("ZADD", self._keys.due(self._keys.partition(game)), due, game)
        self._feed.point(game, max(1, events_of(record)))

    def _replace(self, key: str, commands: Iterable[tuple[Any, ...]], expires: int = 0) -> None:
        """Let a key hold this alone, until it expires (Unix ms; 0: never)."""
        ends = [("PEXPIREAT", key, expires)] if expires else []
        self._wire.pipeline([("DEL", key), *commands, *ends])


def _add(stream: str, seq: int, public: bytes, hidden: bytes) -> tuple[Any, ...]:
    return ("XADD", stream, f"{seq}-0", "p", shortened(seq, public), *(("s", hidden) if hidden else ()))


def _signed_since(path: Path, leaves: int) -> str:
    """What a file that tells what was signed last says of a log that has so many leaves now."""
    try:
        size = read_checkpoint(path.read_text()).checkpoint.size
    except (Malformed, UnicodeDecodeError):
        return f"{path} holds no checkpoint, and is left as it is"
    if size <= leaves:
        return f"{path} is left as it is: what it says was signed is in the backup"
    return (
        f"{path} says that a log of {size:,} leaves was signed, and the backup has {leaves:,}: {size - leaves:,} locks and "
        "ends of games are missing, and the server signs no log before `hearts log checkpoint --anew`"
    )
