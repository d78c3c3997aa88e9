"""``hearts audit``: games of the store held to everything that the server knows of them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from domain.refusals import CorruptLog
from services.cli_log import CouldNotRun, house_or_status_2
from services.codec import CODEC
from services.inspection import AuditReport
from services.printable import printable, printable_line
from services.record_files import FAULTY, HOLDS
from services.store import CorruptStream
from services.tables import UnknownGame
from services.wiring import Services


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--all", "every", is_flag=True, help="Every game of the store, live and finished.")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]),
    metavar="DATE",
    help="Every game in which something has happened since then: 2026-03-01, or 2026-03-01T12:00:00, in UTC.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a game, on one line.")
@click.option("-q", "--quiet", is_flag=True, help="Tell only what is wrong, and at the end how many hold.")
def audit(games: tuple[str, ...], every: bool, since: datetime | None, as_json: bool, quiet: bool) -> None:
    """Verify games of the store: events, rules, deals, bots, secrets, snapshots, read models and the transparency log.

    Name games, or take them all, or those since a date. Exit status 0: all hold; 1: something is wrong; 2: something could not
    be looked at.
    """
    if bool(games) + every + (since is not None) != 1:
        raise click.UsageError("name games, or say --all or --since, one of the three")
    held = failed = 0
    with house_or_status_2() as house:
        for report in _reports(house, _chosen(house, games, since)):
            held, failed = held + report.ok, failed + (not report.ok)
            if not (quiet and report.ok):
                _tell(report, as_json)
    if quiet or not as_json:
        click.echo(
            f"{held} {'game holds' if held == 1 else 'games hold'}, {failed} do not", err=as_json or quiet
        )
    sys.exit(FAULTY if failed else HOLDS)


def _chosen(house: Services, games: Sequence[str], since: datetime | None) -> list[str]:
    if games:
        return list(dict.fromkeys(games))
    found = house.auditor.games()
    if since is None:
        return found
    start = int(since.replace(tzinfo=UTC).timestamp() * 1000)
    return [game for game in found if _last_at(house, game) >= start]


def _last_at(house: Services, game: str) -> float:
    """When the last event of a game happened, in ms; of one that cannot be read, which must be looked at, just now."""
    last = house.store.last(game)
    try:
        entries = house.store.read(game, last - 1, last) if last else []
        return CODEC.decode(entries[0][1]).at if entries else math.inf
    except (CorruptLog, CorruptStream):
        return math.inf


def _reports(house: Services, games: Sequence[str]) -> Iterator[AuditReport]:
    """The reports, one game at a time; with a progress bar on a terminal that they do not go to."""
    shown = len(games) > 1 and sys.stderr.isatty() and not sys.stdout.isatty()
    with click.progressbar(games, label="games", file=sys.stderr, hidden=not shown) as bar:
        for game in bar:
            try:
                yield house.auditor.audit(game)
            except UnknownGame as error:
                raise CouldNotRun(printable_line(str(error))) from error


def _tell(report: AuditReport, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(report))
        return
    state: Any = report.status if report.settled else f"{report.status}, not all of it projected yet"
    verdict = "holds" if report.ok else "DOES NOT HOLD"
    click.echo(f"game {printable(report.game, 64)}: {verdict}; {state}, {report.seq} events")
    for claim in report.claims:
        click.echo(f"  {printable_line(claim.line)}")
    first = {(claim.name, claim.event) for claim in report.claims if claim.status == "fails"}
    for problem in report.problems:
        if (problem.check, problem.event) not in first:
            click.echo(f"  {printable_line(problem.line)}")
