"""A projection made anew from the log and the archive, beside the one that is read, and read in its place by one step.

`services.versions` has the versions, `services.rebuild_kinds.Kind` what one projection needs. From the moment the new
version is open the projectors write both; so of each game either they have written what is new, or it was in the log
before it is read here, and the older of the two is never written over the newer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from threading import Event
from typing import Final

from services.keys import PARTITIONED_PATTERN, version_of
from services.overview import retry_parked
from services.projections import Parked
from services.rebuild_desks import RebuildDesks
from services.rebuild_games import RebuildGames
from services.rebuild_kinds import Compared, Folded, How, Kind, Piece
from services.rebuild_work import FOLDED_AT_ONCE, Progress, Report, each, jobs_of
from services.snapshot import fold_hash
from services.store import CorruptStream
from services.tables import UnknownGame
from services.versions import RETIRED_MS, Fence, Making
from services.wiring import Services

KINDS: Final[dict[str, Kind]] = {one.projection: one for one in (RebuildGames(), RebuildDesks())}
SETTLE_SECONDS: Final = 60.0
"""How long the projectors are given to come to where the log was read."""
_LOOK_SECONDS: Final = 0.05
_PAGE: Final = 1000


class Rebuild:
    """One rebuild of one projection."""

    def __init__(
        self, house: Services, kind: Kind, *, jobs: int | None = None, progress: Progress | None = None
    ) -> None:
        self._house, self._kind, self._jobs = house, kind, jobs
        self._progress = progress or Progress()
        self._wire, self._keys = house.store.wire, house.keys

    def run(self, *, compare_only: bool = False) -> Report:
        """Make the version, compare it, and have it read, unless it is to be compared only.

        Broken off it leaves the old version as it is. Raises `Superseded` where another rebuild is at work or takes its
        place, `StoreUnavailable`, `BrokenProcessPool`.
        """
        making = Making(self._wire, self._keys, self._kind.projection)
        try:
            return self._run(making, compare_only=compare_only)
        finally:
            try:
                if not making.ended:
                    self._give_up(making)
            finally:
                making.lease.release()

    def clean(self) -> int:
        """Drop what rebuilds that were killed have left. Returns how many keys. Raises as `run` does."""
        making = Making(self._wire, self._keys, self._kind.projection)
        try:
            making.give_up()
            left = [key for key, version in self._versioned() if version != making.live]
            self._wire.pipeline([("PEXPIRE", key, RETIRED_MS) for key in left])
            return len(left)
        finally:
            making.lease.release()

    # --- inside

    def _run(self, making: Making, *, compare_only: bool) -> Report:
        making.open()
        report = Report(projection=self._kind.projection, version=making.version)
        games, kept = self._survey(making.fence)
        items = self._fold(games, making, report)
        self._kind.carry(self._house, report.failed, sorted(kept), making.fence)
        compared = self._compare(items | kept, making, report)
        report.differing, report.differences = compared.count, compared.differences
        if compare_only:
            self._give_up(making)
        else:
            self._switch(making, compared, report)
        return report

    def _survey(self, fence: Fence) -> tuple[list[str], set[str]]:
        """The games of the log, and the items that the old version has. What other rebuilds have left is dropped."""
        games: dict[str, None] = {}
        items: set[str] = set()
        left: list[bytes] = []
        for key in self._find():
            plain, version = version_of(key.decode(errors="replace"))
            rest = plain.partition("}:")[2]
            if rest.startswith("g:") and not version and rest.isascii():
                games[rest[2:]] = None
            elif rest.startswith(self._kind.marks):
                if version not in fence:
                    left.append(key)
                elif version == fence[0] and rest.startswith(self._kind.marks[0]):
                    items.add(rest.removeprefix(self._kind.marks[0]))
        self._wire.pipeline([("PEXPIRE", key, RETIRED_MS) for key in left])
        return [*games], items

    def _versioned(self) -> Iterator[tuple[bytes, int]]:
        """The keys of all versions of the projection, each with its version."""
        for key in self._find():
            plain, version = version_of(key.decode(errors="replace"))
            if plain.partition("}:")[2].startswith(self._kind.marks):
                yield key, version

    def _find(self) -> Iterator[bytes]:
        for page in self._wire.scan(PARTITIONED_PATTERN, _PAGE):
            yield from page

    def _fold(self, games: Sequence[str], making: Making, report: Report) -> set[str]:
        """Fold all games into the new version. Returns the items that are in it."""
        self._progress.begin("games folded", len(games))
        began, items = time.monotonic(), set[str]()
        pieces = [games[at : at + FOLDED_AT_ONCE] for at in range(0, len(games), FOLDED_AT_ONCE)]
        do = partial(_fold, self._kind, making.fence)
        with closing(each(self._house, pieces, do, self._jobs_of(games))) as done:
            for one in done:
                report.take(one)
                items |= one.items
                self._progress.step(one.games, one.events)
                making.lease.hold()
        report.seconds = time.monotonic() - began
        return items

    def _jobs_of(self, games: Sequence[str]) -> int:
        return jobs_of(len(games)) if self._jobs is None else self._jobs

    def _compare(self, items: set[str], making: Making, report: Report) -> Compared:
        pieces = self._by_partition(items)
        self._progress.begin("partitions compared", len(pieces))
        how, total = How(making.fence, frozenset(report.failed)), Compared()
        do = partial(_compare, self._kind, how)
        with closing(each(self._house, [*pieces.items()], do, self._jobs_of([*items]))) as done:
            for one in done:
                total.join(one)
                self._progress.step(1, 0)
                making.lease.hold()
        self._settle(total, how, making)
        return total

    def _settle(self, total: Compared, how: How, making: Making) -> None:
        """Compare what the old version had not come to, when it has, or when nobody will bring it there."""
        until = time.monotonic() + SETTLE_SECONDS
        while total.behind:
            final = not self._house.projections.lag() or time.monotonic() > until
            pieces, total.behind = self._by_partition(total.behind), []
            for piece in pieces.items():
                if piece[1]:
                    total.join(self._kind.compare(self._house, piece, how._replace(only=True, final=final)))
            making.lease.hold()
            if total.behind:
                Event().wait(_LOOK_SECONDS)

    def _by_partition(self, items: Iterable[str]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {partition: [] for partition in range(self._keys.partitions)}
        for item in sorted(items):
            found[self._keys.partition(item)].append(item)
        return found

    def _switch(self, making: Making, compared: Compared, report: Report) -> None:
        self._kind.before_switch(self._house, compared, making.fence)
        making.switch()
        report.switched = True
        self._kind.after_switch(self._house, compared, making.version)
        self._remark(report)
        left = [key for key, version in self._versioned() if version != making.version]
        self._wire.pipeline([("PEXPIRE", key, RETIRED_MS) for key in left])

    def _give_up(self, making: Making) -> None:
        making.give_up()
        left = [key for key, version in self._versioned() if version == making.version]
        self._wire.pipeline([("UNLINK", key) for key in left])

    def _remark(self, report: Report) -> None:
        """Set aside what cannot be folded, and have tried what was set aside and can be."""
        projections, now, fold = self._house.projections, self._house.clock(), fold_hash().hex()
        marks = projections.parked()
        projections.park(
            {
                game: Parked(seq=self._last(game), why=why, times=1, at=now, fold=fold)
                for game, why in report.failed.items()
                if game not in marks
            }
        )
        for game, mark in marks.items():
            if game not in report.failed and not mark.skipped:
                with suppress(UnknownGame, CorruptStream):
                    retry_parked(self._house, game)

    def _last(self, game: str) -> int:
        try:
            return self._house.store.last(game)
        except CorruptStream:
            return 0


def _fold(kind: Kind, fence: Fence, house: Services, games: Sequence[str]) -> Folded:
    return kind.fold(house, games, fence)


def _compare(kind: Kind, how: How, house: Services, piece: Piece) -> Compared:
    return kind.compare(house, piece, how)
