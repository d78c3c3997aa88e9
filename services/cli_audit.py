"""``hearts audit``: games of the store held to everything that the server knows of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import click
import msgspec

from services.audit import Receipt
from services.audit_batch import Outcome, audit_game, audit_in_processes
from services.audit_fan import AuditFan
from services.cli_log import house_or_status_2
from services.cli_records import CouldNotRun, Evidence
from services.inspection import AuditReport
from services.integrity import read_kept_receipt
from services.interrupts import Interrupted, interruptible
from services.keyscheck import KeysCheck, KeysReport
from services.logcheck import LogReport, check_log
from services.outputs import is_terminal, require_output
from services.printable import printable, printable_line
from services.record_files import FAULTY, HOLDS, UNREADABLE
from services.standings_check import StandingsCheck, StandingsReport
from services.wiring import Services

FEW: Final = 10
"""So many games by name are audited at once, without asking anybody."""
_CLAIMS: Final = ("F", "I", "R", "B")


class DateParam(click.DateTime):
    """A date, perhaps with a time; what is none is told by examples."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r:.80} is no date as 2026-03-01 or 2026-03-01T12:00:00", param, ctx)


class Told(NamedTuple):
    """How reports are told."""

    as_json: bool
    quiet: bool


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option(
    "--all", "every", is_flag=True, help="Every game of the store, live and finished, instead of GAME."
)
@click.option(
    "--since",
    type=DateParam(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]),
    metavar="DATE",
    help="Every game in which something has happened since then: 2026-03-01, or 2026-03-01T12:00:00, in UTC; instead of GAME.",
)
@click.option(
    "--receipt",
    "receipts",
    type=Evidence("receipt", read_kept_receipt),
    multiple=True,
    help="A file with a receipt that a player sent you: is the event in the store the one that was signed, and by which "
    "key? Audits the game that it is of, where no GAME is named; may be repeated.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    help="Processes of this command that do the work, instead of the audit workers.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object a game, on one line; with --all three more, of the keys of the store, of the log and of the standings.",
)
@click.option("-q", "--quiet", is_flag=True, help="Tell only what is wrong, and at the end how many hold.")
def audit(
    games: tuple[str, ...],
    every: bool,
    since: datetime | None,
    receipts: tuple[Receipt, ...],
    jobs: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Verify games of the store: events, rules, deals, bots, secrets, snapshots, read models and the transparency log.

    This is for whoever runs the server, on its own store and with its key; `hearts verify` is for everybody else.

    GAME is a game's id: name some, or say --all or --since. Up to 10 by name are looked at by this command itself; more are
    handed to the audit workers, which `hearts up` and `hearts worker audits` run. Where there are none, this command does
    the work, as it does for what a worker leaves undone. Exit status 0: all hold; 1: something is wrong; 2: something could not be looked at, whatever else is wrong, or the output
    cannot be written.
    """
    if not quiet:
        require_output()
    named = _check_options(games, every, since, receipts)
    told, tally = Told(as_json, quiet), [0, 0, 0]
    shared: tuple[KeysReport, LogReport, StandingsReport] | None = None
    try:
        with house_or_status_2(known=True) as house, interruptible():
            if named is not None and len(named) <= FEW and jobs is None:
                found: Iterator[Outcome] = _by_name(house, named, receipts)
                _go_through(found, told, tally, _no_bar)
            else:
                with _bar(house, named, told) as advance:
                    chosen = named if named is not None else _chosen(house, since, advance)
                    with closing(_outcomes(house, chosen, jobs, quiet)) as many:
                        _go_through(many, told, tally, advance)
            if every:
                shared = (
                    KeysCheck(house.store.wire, house.keys).run(),
                    check_log(house.log, house.key.held),
                    StandingsCheck(house.store.wire, house.keys, house.tables.load).run(),
                )
    except Interrupted as stopped:
        _sum_up(tally, to_stderr=True)
        click.echo("interrupted; nothing is said of the other games", err=True)
        sys.exit(128 + stopped.signum)
    if shared is not None:
        _tell_shared(*shared, told)
    if quiet or not as_json:
        _sum_up(tally, to_stderr=as_json or quiet)
    tally[FAULTY] += shared is not None and not all(one.ok for one in shared)
    sys.exit(max((status for status in (HOLDS, FAULTY, UNREADABLE) if tally[status]), default=HOLDS))


def _check_options(
    games: Sequence[str], every: bool, since: datetime | None, receipts: Sequence[Receipt]
) -> list[str] | None:
    """The games that are named, or meant by the receipts; none where they are all, or those since a date."""
    if receipts and (every or since is not None):
        raise click.UsageError(
            "--receipt goes with the games it is of or that are named, without --all or --since"
        )
    named = list(dict.fromkeys([*games, *([] if games else [one.game for one in receipts])]))
    if bool(named) + every + (since is not None) != 1:
        raise click.UsageError("name games, or say --all or --since, one of the three")
    for one in receipts:
        if one.game not in named:
            raise click.UsageError(
                printable_line(f"the receipt is of game {one.game:.64}, which is not named")
            )
    if len(named) > FEW and receipts:
        raise click.UsageError(f"with receipts, at most {FEW} games at a time")
    return named or None


# --- which games, and who audits them


def _chosen(house: Services, since: datetime | None, advance: Callable[[int], object]) -> Iterator[str]:
    """The games of the store, as they are found; ``advance`` is told of those that are passed over."""
    start = None if since is None else int(since.replace(tzinfo=UTC).timestamp() * 1000)
    for game in house.auditor.games():
        if start is None or house.auditor.last_at(game) >= start:
            yield game
        else:
            advance(1)


def _by_name(house: Services, games: Sequence[str], receipts: Sequence[Receipt]) -> Iterator[Outcome]:
    for game in games:
        yield audit_game(house.auditor, game, [one for one in receipts if one.game == game])


def _outcomes(house: Services, games: Iterable[str], jobs: int | None, brief: bool) -> Generator[Outcome]:
    """The outcomes of many games: by processes of this command, or by the workers of the queue."""
    if jobs == 1:
        for game in games:
            yield audit_game(house.auditor, game, brief=brief)
    elif jobs is not None:
        try:
            yield from audit_in_processes(games, jobs, brief=brief)
        except BrokenProcessPool as error:
            raise CouldNotRun(
                "a process that audits was ended; nothing is said of the other games"
            ) from error
    else:
        fan = AuditFan(house.auditor, house.audits, brief=brief, tell=_say)
        workers = fan.workers()
        if workers:
            _say(f"{workers} audit worker{'' if workers == 1 else 's'} can help")
        else:
            _say("no audit worker serves the queue: this command does the work (-j N: in N processes)")
        with closing(fan.outcomes(games)) as found:
            yield from found


def _say(sentence: str) -> None:
    click.echo(printable_line(sentence), err=True)


# --- telling


def _go_through(
    outcomes: Iterable[Outcome], told: Told, tally: list[int], advance: Callable[[int], object]
) -> None:
    for one in outcomes:
        tally[_status(one)] += 1
        _tell(one, told)
        advance(1)


def _status(outcome: Outcome) -> int:
    if outcome.why:
        return UNREADABLE
    foreign = outcome.report is not None and any(one.status == "foreign" for one in outcome.report.receipts)
    return FAULTY if not outcome.ok else UNREADABLE if foreign else HOLDS


def _sum_up(tally: Sequence[int], *, to_stderr: bool) -> None:
    holds, faulty, unread = (tally[status] for status in (HOLDS, FAULTY, UNREADABLE))
    rest = f", {unread} could not be looked at" if unread else ""
    click.echo(
        f"{holds} {'game holds' if holds == 1 else 'games hold'}, {faulty} do not{rest}", err=to_stderr
    )


def _no_bar(_: int) -> None:
    """Nobody wants to know how far it is."""


@contextmanager
def _bar(house: Services, named: Sequence[str] | None, told: Told) -> Iterator[Callable[[int], object]]:
    """Something to be told of games that are done: a bar on a terminal that the reports do not go to."""
    if not is_terminal(sys.stderr) or (is_terminal(sys.stdout) and not told.quiet):
        yield _no_bar
        return
    length = len(named) if named is not None else house.auditor.count()
    with click.progressbar(length=length, label="games", file=sys.stderr, show_pos=True) as bar:
        yield bar.update


def _tell(outcome: Outcome, told: Told) -> None:
    if outcome.why:
        _say(outcome.why)
    report = outcome.report
    if report is None or (told.quiet and outcome.ok and not report.receipts):
        return
    if told.as_json:
        click.echo(msgspec.json.encode(report))
        return
    _tell_report(report)


def _tell_shared(keys: KeysReport, log: LogReport, standings: StandingsReport, told: Told) -> None:
    """What was found of what all games have in common."""
    ranked = f"{standings.games} finished games, {standings.players} players and bots"
    parts: list[tuple[str, KeysReport | LogReport | StandingsReport, str, str, str]] = [
        ("keys", keys, "keys", "hold", f"{keys.keys} keys"),
        ("log", log, "transparency log", "holds", f"{log.leaves} leaves"),
        ("standings", standings, "standings", "hold", ranked),
    ]
    for name, report, title, verb, size in parts:
        if told.quiet and report.ok:
            continue
        if told.as_json:
            click.echo(msgspec.json.encode({name: report}))
            continue
        plain = "DOES NOT HOLD" if verb == "holds" else "DO NOT HOLD"
        click.echo(f"{title}: {verb if report.ok else plain}; {size}")
        for problem in report.problems:
            click.echo(f"  {printable_line(problem)}")


def _tell_report(report: AuditReport) -> None:
    state: Any = report.status if report.settled else f"{report.status}, not all of it projected yet"
    verdict = "holds" if report.ok else "DOES NOT HOLD"
    click.echo(f"game {printable(report.game, 64)}: {verdict}; {state}, {report.seq} events")
    for claim in report.claims:
        click.echo(f"  {printable_line(claim.line)}")
    for receipt in report.receipts:
        click.echo(f"  {printable_line(receipt.line)}")
    first = {(claim.name, claim.event) for claim in report.claims if claim.status == "fails"}
    for problem in report.problems:
        if problem.check != "receipt" and (problem.check, problem.event) not in first:
            click.echo(f"  {printable_line(problem.line)}")
