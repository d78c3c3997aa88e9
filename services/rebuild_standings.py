"""The rebuild of the standings: a fold of all finished games beside the one that is read, compared and read in its place.

The folds and the switch are `services.standings_fold`'s; it is held here until it was compared. The order of the finished
games is a fact of its own, which no log tells: games that are missing are entered behind the others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import msgspec

from domain.variants import FAMILIES
from services.rebuild_kinds import Compared, Folded, ask, pairs
from services.rebuild_work import FOLDED_AT_ONCE, Progress, Report, each, jobs_of
from services.refold import refold
from services.standings_fold import Finished, Ledger, finished_of
from services.versions import Lease, Superseded
from services.wire import StoreError
from services.wiring import Services

STANDINGS: Final = "standings"
_PAGE: Final = 1000
_TRIES: Final = 20
"""How often folds that move on while they are compared are compared again."""


class RebuildStandings:
    """One rebuild of the standings."""

    def __init__(self, house: Services, *, jobs: int | None = None, progress: Progress | None = None) -> None:
        self._house, self._jobs = house, jobs
        self._progress = progress or Progress()
        self._wire, self._keys = house.store.wire, house.keys
        self._ledger = Ledger(self._wire, house.keys)

    def run(self, *, compare_only: bool = False) -> Report:
        """Make the fold, compare it, and have it read, unless it is to be compared only.

        Broken off it leaves what is read as it is. Raises `Superseded` where another rebuild is at work or takes its
        place, `StoreUnavailable`, `BrokenProcessPool`.
        """
        lease = Lease(self._wire, self._keys, STANDINGS)
        try:
            self._ledger.begin()
            fold = self._ledger.begin(hold=True)
            report = Report(projection=STANDINGS, version=fold)
            try:
                self._run(report, lease, compare_only=compare_only)
            finally:
                if not report.switched:
                    self._ledger.give_up(fold)
            return report
        finally:
            lease.release()

    def clean(self) -> int:
        """Drop what a rebuild that was killed has left. Returns how many folds. Raises as `run` does."""
        lease = Lease(self._wire, self._keys, STANDINGS)
        try:
            held = self._wire.call("HGET", self._keys.standings_state, "held")
            return int(held is not None and self._ledger.give_up(int(held)))
        finally:
            lease.release()

    # --- inside

    def _run(self, report: Report, lease: Lease, *, compare_only: bool) -> None:
        found = Compared()
        finished = self._finished(report, lease)
        missing = self._judge_entries(finished, report, found)
        if not compare_only:
            self._ledger.enter(sorted(missing, key=lambda game: (game.at, game.game)))
        entered = int(self._wire.call("XLEN", self._keys.standings_games))
        self._progress.begin("finished games folded", entered)
        while done := self._advance(report.version):
            self._progress.step(done, 0)
            lease.hold()
        self._compare(report.version, found)
        report.differing, report.differences = found.count, found.differences
        if not compare_only:
            if not self._ledger.switch(report.version):
                raise Superseded("another fold of the standings has begun")
            report.switched = True

    def _advance(self, fold: int) -> int:
        done = self._ledger.advance(fold)
        if done is None:
            raise Superseded("another fold of the standings has begun")
        return done

    def _finished(self, report: Report, lease: Lease) -> dict[str, Finished]:
        """The games of the log that count, as their events say."""
        games = [*self._house.store.games()]
        self._progress.begin("games folded", len(games))
        began, found = time.monotonic(), dict[str, Finished]()
        pieces = [games[at : at + FOLDED_AT_ONCE] for at in range(0, len(games), FOLDED_AT_ONCE)]
        jobs = jobs_of(len(games)) if self._jobs is None else self._jobs
        with closing(each(self._house, pieces, _fold, jobs)) as done:
            for one in done:
                report.take(one)
                found |= {game.game: game for game in one.finished}
                self._progress.step(one.games, one.events)
                lease.hold()
        report.seconds = time.monotonic() - began
        return found

    def _judge_entries(
        self, finished: Mapping[str, Finished], report: Report, found: Compared
    ) -> list[Finished]:
        """Hold the entries to the games. Returns the games that are not entered and were over when the entries were read."""
        missing = dict(finished)
        for entry, game in self._entries():
            if game is None:
                report.stay += found.add(f"entry {entry} of the finished games", {"it": "cannot be read"}, {})
                continue
            right = missing.pop(game.game, None)
            # of one that ended meanwhile, or cannot be folded, nothing is known here
            if right is not None and right != game:
                fields = msgspec.to_builtins(game), msgspec.to_builtins(right)
                report.stay += found.add(f"entry of game {game.game}", *fields)
            elif right is None and game.game in finished:
                report.stay += found.add(
                    f"entry of game {game.game}", {"entered": "twice"}, {"entered": "once"}
                )
        if not self._house.projections.lag():
            for one in missing:
                found.add(f"game {one}", {"entered": False}, {"entered": True})
        return [*missing.values()]

    def _entries(self) -> Iterator[tuple[str, Finished | None]]:
        after = b"-"
        while page := self._wire.call("XRANGE", self._keys.standings_games, after, "+", "COUNT", _PAGE):
            for entry, fields in page:
                try:
                    yield entry.decode(), msgspec.json.decode(fields[1], type=Finished)
                except (msgspec.MsgspecError, IndexError, UnicodeDecodeError):
                    yield entry.decode(), None
            after = b"(" + page[-1][0]

    def _compare(self, fold: int, found: Compared) -> None:
        """Hold the fold that is read to the new one, when both have all games that there are."""
        for _ in range(_TRIES):
            folds, ats = self._ledger.place()
            if folds.next != fold:
                raise Superseded("another fold of the standings has begun")
            versions = [self._read(one) for one in folds]
            if not any(self._advance(one) for one in folds) and self._ledger.place() == (folds, ats):
                for who in dict.fromkeys([*versions[0], *versions[1]]):
                    found.add(f"player {who}", *(version.get(who, {}) for version in versions))
                return
        raise StoreError("games end faster than the standings can be compared; try again when less is played")

    def _read(self, fold: int) -> dict[str, dict[str, Any]]:
        """What a fold says of each player, by names of fields."""
        boards = [
            ("ZRANGE", self._keys.standings_board(fold, family), 0, -1, "WITHSCORES") for family in FAMILIES
        ]
        flat, *lines = ask(self._wire, [("HGETALL", self._keys.standings_players(fold)), *boards])
        found = {who.decode(errors="replace"): _shown(kept) for who, kept in pairs(flat).items()}
        for family, line in zip(FAMILIES, lines, strict=True):
            for who, score in pairs(line).items():
                found.setdefault(who.decode(errors="replace"), {})[f"board of {family}"] = float(score)
        return found


def _fold(house: Services, games: Sequence[str]) -> Folded:
    done = refold(house.store, house.projections, games)
    finished = tuple(game for one in done.found if (game := finished_of(one.table)) is not None)
    return Folded(len(games), done.events, done.failed, finished=finished)


def _shown(kept: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(kept, type=dict[str, Any])
        families = found.pop("families", {})
        return found | {f"in {family}": known for family, known in families.items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, AttributeError):
        return {"standing": "it cannot be read"}
