"""``hearts rebuild``: a projection made anew from the log, compared with the one that is read, and read in its place."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final

import click
import msgspec

from services.cli_log import house_or_status_2
from services.cli_records import CouldNotRun
from services.interrupts import Interrupted, interruptible
from services.outputs import is_terminal, require_output
from services.printable import printable_line
from services.rebuild import KINDS, Rebuild
from services.rebuild_standings import STANDINGS, RebuildStandings
from services.rebuild_work import Progress, Report
from services.record_files import FAULTY
from services.standings_fold import Ledger
from services.versions import DESKS, GAMES, Versions, is_held
from services.wiring import Services

MEANINGS: Final = {
    GAMES: "the games as they are listed: what is told of each, the lobby by status, each player's games",
    DESKS: "each player's desk: its games, how far it was told of each, whether it is its turn",
    STANDINGS: "ratings and leaderboards: what the finished games say of each player and bot",
}
LONGEST: Final = 120
"""Characters of a value that are shown."""
_TELL_SECONDS: Final = 5.0


@click.command()
@click.argument("projection", required=False, type=click.Choice([*MEANINGS]))
@click.option(
    "--list", "listing", is_flag=True, help="List the projections and their versions, and do nothing."
)
@click.option(
    "--compare",
    is_flag=True,
    help="Make the new version, list what differs, and drop it again: nothing is switched.",
)
@click.option("--drop", is_flag=True, help="Only drop what a rebuild that was killed has left.")
@click.option(
    "--show",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    help="How many differing fields to list.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    help="Processes that do the work.  [default: one for each core, where there are more than a few hundred games]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object: the report, with the fields that differ."
)
def rebuild(
    projection: str | None,
    listing: bool,
    compare: bool,
    drop: bool,
    show: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Make a projection anew from the log and the archive, beside the one that is read, and read it in its place.

    The server goes on meanwhile: what happens is written to both versions. What differs is listed, game by game; then all
    readers are switched in one step, no answer has a part of each, and the old version goes after a minute. Games that cannot be
    folded keep what there was of them, and are set aside (`hearts parked`). A rebuild that is broken off leaves all as it was,
    and is simply begun again. Every process of the house must be of a version that has this command.

    Exit status 0: it is made, or with --compare: nothing differs; 1: with --compare something differs, some games cannot be
    folded, or something differs that this cannot mend; 2: it could not be done, and the old version is read as before.
    """
    require_output()
    if listing == (projection is not None):
        raise click.UsageError("name a projection, or say --list, one of the two")
    if compare and drop:
        raise click.UsageError("--compare or --drop, not both")
    with house_or_status_2(known=True) as house:
        if projection is None:
            for line in _listed(house):
                click.echo(line)
            return
        if drop:
            left = _work(house, projection, None, Progress()).clean()
            click.echo(
                f"{projection}: {left} {'thing' if left == 1 else 'things'} that a rebuild had left dropped"
            )
            return
        report = _run(house, projection, jobs, compare=compare)
    _tell(report, show, as_json=as_json)
    differs = report.differing if compare else report.stay
    sys.exit(FAULTY if differs or report.failed else 0)


def _work(
    house: Services, projection: str, jobs: int | None, progress: Progress
) -> Rebuild | RebuildStandings:
    if projection == STANDINGS:
        return RebuildStandings(house, jobs=jobs, progress=progress)
    return Rebuild(house, KINDS[projection], jobs=jobs, progress=progress)


def _run(house: Services, projection: str, jobs: int | None, *, compare: bool) -> Report:
    with interruptible(), _progress() as progress:
        try:
            return _work(house, projection, jobs, progress).run(compare_only=compare)
        except BrokenProcessPool as error:
            raise CouldNotRun("a process that folds was ended; the old version is read as before") from error
        except Interrupted as stopped:
            click.echo("interrupted; the old version is read as before", err=True)
            sys.exit(128 + stopped.signum)


# --- telling


class _Lines(Progress):
    """Progress as lines on standard error, one every few seconds; on a terminal as one line that changes."""

    def __init__(self) -> None:
        self._on_terminal = is_terminal(sys.stderr)
        self._what, self._of, self._done, self._events = "", 0, 0, 0
        self._began = self._told = 0.0

    def begin(self, what: str, of: int) -> None:
        """See there."""
        self.end()
        self._what, self._of, self._done, self._events = what, of, 0, 0
        self._began = self._told = time.monotonic()

    def step(self, done: int, events: int) -> None:
        """See there."""
        self._done += done
        self._events += events
        now = time.monotonic()
        if now - self._told >= (0.2 if self._on_terminal else _TELL_SECONDS):
            self._told = now
            self._say(now - self._began)

    def end(self) -> None:
        """Leave the line that changes as it is in the end."""
        if self._on_terminal and self._what:
            self._say(time.monotonic() - self._began)
            click.echo(err=True)

    def _say(self, seconds: float) -> None:
        speed = f", {self._events / seconds:,.0f} events/s" if self._events and seconds else ""
        line = f"{self._done:,} of {self._of:,} {self._what}{speed}"
        click.echo(f"\r\x1b[K{line}" if self._on_terminal else line, err=True, nl=not self._on_terminal)


@contextmanager
def _progress() -> Iterator[Progress]:
    lines = _Lines()
    try:
        yield lines
    finally:
        lines.end()


def _tell(report: Report, show: int, *, as_json: bool) -> None:
    if as_json:
        report.differences = report.differences[:show]
        click.echo(msgspec.json.encode(report))
        return
    speed = f", {report.events / report.seconds:,.0f} events/s" if report.seconds else ""
    click.echo(
        f"{report.projection}: {_count(report.games, 'game')}, {_count(report.events, 'event')} folded "
        f"in {report.seconds:.1f} s{speed}"
    )
    for game, why in [*report.failed.items()][:show]:
        click.echo(printable_line(f"  game {game} cannot be folded: {why}"))
    if report.failed:
        click.echo(f"{_count(len(report.failed), 'game')} cannot be folded, and keep what there was of them")
    for one in report.differences[:show]:
        click.echo(
            printable_line(f"  {one.of}: {one.field} is {_short(one.old)}, the log says {_short(one.new)}")
        )
    if len(report.differences) > show:
        click.echo("  and more (--show)")
    click.echo("nothing differs" if not report.differing else f"{_count(report.differing, 'item')} differed")
    if report.stay:
        click.echo(
            f"{report.stay} of them stay: entries of the finished games, which `hearts audit --all` tells of"
        )
    click.echo(
        f"version {report.version} is read now; the old one goes in a minute"
        if report.switched
        else "nothing was switched"
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _short(value: Any) -> str:
    if value is None:
        return "missing"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _listed(house: Services) -> Sequence[str]:
    wire, keys = house.store.wire, house.keys
    lines = []
    for projection, meaning in MEANINGS.items():
        at_work = is_held(wire, keys, projection)
        if projection == STANDINGS:
            live, making = Ledger(wire, keys).place()[0]
            held = wire.call("HGET", keys.standings_state, "held")
            at_work |= held != b"%d" % making  # the projectors make it, and read it when it is done
        else:
            live, making = Versions(wire, keys, projection).state()
        state = f"version {live} is read"
        if making:
            state += f", version {making} {'is being made' if at_work else 'was left unfinished'}"
        lines.append(f"{projection:9}  {meaning}; {state}")
    return lines
