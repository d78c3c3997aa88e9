"""Moving finished games from the store into the archive, and back.

A game is held to the transparency log, sealed, judged as anybody would judge its proof file, written, read back and compared with the store to the byte;
only then does its stream shrink to its last event. Whoever dies on the way leaves a file that the next one writes again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Final

from domain.refusals import CorruptLog, HeartsError
from services.archive import Archive, ArchiveUnavailable
from services.codec import CODEC
from services.folded import follow
from services.hidden_parts import secret_problems
from services.leaves import find_leaves
from services.logcheck import leaf_problems
from services.owed import next_due
from services.proof import read_proof
from services.sealed import proof_text, seal
from services.store import CorruptStream, Entry, Store
from services.tables import UnknownGame
from services.translog import CorruptTransparencyLog, TransparencyLog
from services.verdicts import verify_proof

HOUR_MS: Final = 3_600_000
LOOK_SECONDS: Final = 5.0
"""How often it is looked whether the archive can be used, at most."""
_PAGE: Final = 16
"""Games that are looked for at a time."""

log = logging.getLogger(__name__)


class NotArchived(HeartsError):
    """A game cannot be moved into the archive, or out of it, and stays where it is; and why."""


class Archiver:
    """Moves the games of a store into its archive, and back. Every method raises `StoreUnavailable` where one cannot be used."""

    def __init__(
        self, store: Store, archive: Archive, log: TransparencyLog, hours: int, clock: Callable[[], int]
    ) -> None:
        self._store, self._archive, self._log, self._hours, self._clock = store, archive, log, hours, clock
        self._told = False
        self._look_at = 0.0
        self._why: str | None = None
        self.place = archive.place
        """Where the archive is."""

    def check(self) -> None:
        """See that the archive can be used, and is the store's. Raises `ArchiveUnavailable`."""
        self._archive.check()

    def hindrance(self) -> str | None:
        """Why the archive cannot be used, none where it can; as it was at most `LOOK_SECONDS` ago."""
        if time.monotonic() >= self._look_at:
            try:
                self.check()
                self._why = None
            except ArchiveUnavailable as error:
                self._why = str(error)
            self._look_at = time.monotonic() + LOOK_SECONDS
        return self._why

    def adopt(self) -> bool:
        """Make the place of the settings the store's archive, wherever that was. False where it is already."""
        return self._archive.adopt()

    # --- what is to be moved

    def waiting(self) -> int:
        """Games that are over and not in the archive."""
        keys = self._store.keys
        return sum(self._store.wire.pipeline([("ZCARD", keys.finished(p)) for p in range(keys.partitions)]))

    def ripe(self) -> list[int]:
        """The partitions that have games which have been over for long enough; none where only `archive` moves games."""
        if not self._hours:
            return []
        keys = self._store.keys
        every = range(keys.partitions)
        found = self._store.wire.pipeline(
            [("ZCOUNT", keys.finished(p), "-inf", self._clock() - self._hours * HOUR_MS) for p in every]
        )
        return [partition for partition, count in zip(every, found, strict=True) if count]

    def games(self, partition: int, hours: int | None = None) -> Iterator[str]:
        """The games of a partition that have been over for so many hours, by default for as long as the settings say.

        The longest first, each once.
        """
        key, told = self._store.keys.finished(partition), set[str]()
        latest = self._clock() - (self._hours if hours is None else hours) * HOUR_MS
        while True:
            page = self._store.wire.call("ZRANGEBYSCORE", key, "-inf", latest, "LIMIT", 0, len(told) + _PAGE)
            fresh = [game for game in (one.decode() for one in page) if game not in told]
            if not fresh:
                return
            told.update(fresh)
            yield from fresh

    # --- moving

    def work(self, partition: int, seconds: float, pause: Callable[[], bool] = lambda: False) -> int:
        """Archive ripe games of a partition until the time is over or ``pause`` says so. Returns how many.

        One that cannot be archived is told in the log, and tried again after as long as a finished game waits. So is an
        archive that cannot be used, once until it can be.
        """
        began, moved = time.monotonic(), 0
        for game in self.games(partition):
            if time.monotonic() - began > seconds or pause():
                break
            try:
                moved += self.archive(game)
                self._told = False
            except ArchiveUnavailable as error:
                if not self._told:
                    log.warning("finished games stay in the store: %s", error)
                self._told = True
                break
            except (NotArchived, UnknownGame) as why:
                log.error("game %s cannot be archived: %s", game, why)
                self._put_off(game)
        return moved

    def archive(self, game: str) -> bool:
        """Move a game into the archive. False where it is there. Raises `UnknownGame`, `NotArchived`."""
        try:
            entries = self._store.read(game, fresh=True)
            if not entries:
                self._forget(game)
                raise UnknownGame(f"there is no game {game:.60}")
            last = len(entries)
            if last == 1 or self._store.first(game) == last:
                self._forget(game)
                return False
            self._archive.write(game, last, self._seal(game, entries))
            if self._archive.fetch(game, last) != entries:
                raise NotArchived("what was written is not what is read")
        except (CorruptLog, CorruptStream, CorruptTransparencyLog) as error:
            raise NotArchived(str(error)) from error
        if not self._store.trim(game, last):
            raise NotArchived("it has gone on meanwhile")
        return True

    def restore(self, game: str) -> bool:
        """Move a game back into the store; its file is dropped. False where it is there. Raises `UnknownGame`, `NotArchived`."""
        first = self._store.first(game)
        if not first:
            raise UnknownGame(f"there is no game {game:.60}")
        if first == 1:
            return False
        self._archive.check()
        try:
            entries = self._store.read(game, fresh=True)
            follow(game, None, entries)
            self._judge(game, entries)
        except (CorruptLog, CorruptStream, CorruptTransparencyLog) as error:
            raise NotArchived(str(error)) from error
        moved = self._store.restore(game, entries[: first - 1], self._clock())
        if moved:
            self._archive.drop(game, first)
        return moved

    def _seal(self, game: str, entries: list[Entry]) -> bytes:
        """The block of a game that may leave the store. Raises `NotArchived`, `CorruptLog`."""
        state = follow(game, None, entries).state
        if state.phase != "over":
            raise NotArchived("it is not over")
        if state.sealed or next_due(state, self._clock()) is not None:
            raise NotArchived(
                "something is to come: its hands are sealed until other tables have played them"
            )
        return self._judge(game, entries)

    def _judge(self, game: str, entries: list[Entry]) -> bytes:
        """The block of a game whose events are those that were played. Raises `NotArchived`, `CorruptLog`."""
        wanted, places = find_leaves(game, entries), self._log.of_game(game)
        for problem in leaf_problems(game, places, wanted):
            raise NotArchived(problem)
        if len(places) < len(wanted):
            raise NotArchived("the transparency log does not have all of its leaves yet")
        bare = CODEC.decode_all([(seq, public, b"") for seq, public, _ in entries])
        for seq, why in secret_problems(list(CODEC.decode_all(entries)), list(bare)):
            raise NotArchived(f"at event {seq} {why}")
        block = seal(entries)
        report = verify_proof(read_proof(proof_text(block)))
        if not report.ok:
            failed = next(claim for claim in report.claims if claim.status == "fails")
            raise NotArchived(f"its proof does not hold: {failed.line}")
        return block

    def _put_off(self, game: str) -> None:
        key = self._store.keys.finished(self._store.keys.partition(game))
        self._store.wire.call("ZADD", key, "XX", self._clock(), game)

    def _forget(self, game: str) -> None:
        """It is in the archive, or nowhere."""
        self._store.wire.call("ZREM", self._store.keys.finished(self._store.keys.partition(game)), game)
