"""``hearts arena``: bot against bot over duplicate deals."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec
from click.core import ParameterSource

from domain import kernel
from domain.refusals import HeartsError
from domain.state import State
from services.bot_child import killed_on_interrupt
from services.cli import read_settings
from services.cli_rules import read_changes, read_rules
from services.embedded import EmbeddedStoreError
from services.interrupts import Interrupted, interruptible
from services.outputs import STDOUT, Output, opened_output
from services.printable import printable_line
from services.queue import Queue
from services.retold import Retold
from services.store import StoreUnavailable
from services.wiring import arena_queue
from workers.arena.bots import MOST_BOTS, MOST_PLAYOUTS, read_entrant
from workers.arena.fan import ArenaFan
from workers.arena.figures import Tally
from workers.arena.kept import Kept, UnknownArena, arena_id
from workers.arena.local import play_deals
from workers.arena.match import Dealt, Plan, plan_of
from workers.arena.picture import draw
from workers.arena.report import lost_line, report_of, table_lines
from workers.arena.retell import read_place, replay_match
from workers.arena.seatings import letter

USUAL_DEALS: Final = 200
USUAL_VARIANT: Final = "classic"


OUTPUT: Final = Output()


class Asked(NamedTuple):
    """The options that say what is played."""

    variant: str
    players: int | None
    pairs: tuple[str, ...]
    seed: int
    budget: int | None
    games: bool


class Wanted(NamedTuple):
    """How far it goes, and where results are written."""

    deals: int
    until: float | None
    as_json: Path | None
    svg: Path | None


def _number(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):  # which no range keeps out
        raise click.BadParameter("it is no number")
    return value


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT...")
@click.option(
    "--deals", type=click.IntRange(1, 10_000_000), help=f"How many; {USUAL_DEALS} unless you say so."
)
@click.option("--variant", default=USUAL_VARIANT, show_default=True, help="The rules, see `hearts rules`.")
@click.option("--players", type=int, help="Seats; the variant's usual number where it is left out.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="Change a rule; may be repeated.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="All deals follow from it.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, MOST_PLAYOUTS),
    help="Playouts a decision, of bots that do some and do not say how many.",
)
@click.option(
    "--games", is_flag=True, help="Whole games to the target, not single hands with the totals at 0."
)
@click.option(
    "--until",
    type=click.FloatRange(0.0, 1000.0),
    callback=_number,
    metavar="POINTS",
    help="Stop before, when every difference is known to so many points a hand: half the width of its 95 % interval, "
    "looked at every 50 deals. Off unless you say so.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(1, 256), help="Processes of this command; 1 unless you say so."
)
@click.option(
    "--queue",
    "queued",
    is_flag=True,
    help="Let the arena workers play (`hearts worker arena`), on any machines. What they have played is kept for a week; "
    "called again, with as many deals or more, it is taken up.",
)
@click.option(
    "--resume", metavar="ID", help="Take up an arena of the queue by its id; BOTs are not named then."
)
@click.option("--replay", metavar="SEED:DEAL:SEATING", help="Tell one match move by move, as in 1:17:ABBA.")
@click.option("--record", type=OUTPUT, help="With --replay: write it there as a record too.")
@click.option("--json", "as_json", type=OUTPUT, help="Write the results there as JSON.")
@click.option("--svg", type=OUTPUT, help="Write a picture of the differences there.")
def arena(
    bots: tuple[str, ...], deals: int | None, until: float | None, jobs: int | None, **options: Any
) -> None:
    """Compare bots: they play the same deals from all seats.

    A BOT is a house bot (random, rules, search, level1 to level7), a plug-in by its name, or "stdio:COMMAND", a program
    that speaks hearts-bot/1. With a number it does so many playouts a decision: search:500, level3:500, mybot:500,
    "stdio:500:COMMAND". `hearts bot list` shows house bots and plug-ins, and which of them do playouts.

    Each deal is played in several seatings, so that every bot has every seat of it equally often; the table tells points a
    hand, differences with their 95 % intervals over deals, moons, the time of a move, and answers that were illegal.
    docs/bots.md says what exactly is played and measured.
    """
    with interruptible(), killed_on_interrupt():
        _arena(
            bots,
            Wanted(deals or USUAL_DEALS, until, options["as_json"], options["svg"]),
            deals,
            jobs,
            options,
        )


def _arena(
    bots: tuple[str, ...], wanted: Wanted, deals: int | None, jobs: int | None, options: dict[str, Any]
) -> None:
    asked = Asked(*(options[name] for name in Asked._fields))
    resume, queued = options["resume"], options["queued"] or options["resume"] is not None
    if queued and jobs is not None:
        raise click.UsageError("-j is for this machine, and --queue for the workers: choose")
    if options["record"] and not options["replay"]:
        raise click.UsageError("--record goes with --replay")
    if options["replay"] and (wanted.as_json is not None or wanted.svg is not None):
        raise click.UsageError(
            "--json and --svg are of an arena, and --replay tells one match: --record writes it"
        )
    if wanted.as_json is not None and wanted.as_json == wanted.svg:
        raise click.UsageError("--json and --svg are two files")
    if (resume is None) is not bool(bots):
        raise click.UsageError("name the bots, or say --resume, one of the two")
    if resume is not None:
        _refuse_changes()
    if resume is not None:
        with _queue() as queue:
            plan, before = _recall(queue, resume)
            _run_queued(plan, queue, wanted._replace(deals=deals or before))
        return
    plan = _plan(bots, asked)
    if not kernel.AVAILABLE:
        _say(f"{kernel.NO_KERNEL}: bots that search take some hundred times as long for a playout")
    if options["replay"] is not None:
        _replay(plan, options["replay"], options["record"])
    elif queued:
        with _queue() as queue:
            _run_queued(plan, queue, wanted)
    else:
        _run_here(plan, wanted, jobs or 1)


def _refuse_changes() -> None:
    """An arena that is taken up is played as it was begun."""
    context = click.get_current_context()
    for name in (*Asked._fields, "replay"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "set" if name == "pairs" else name
            raise click.UsageError(f"--{option} does not go with --resume: what is played is known by its id")


def _plan(bots: tuple[str, ...], asked: Asked) -> Plan:
    if not 2 <= len(bots) <= MOST_BOTS:
        raise click.UsageError(f"name 2 to {MOST_BOTS} bots; one may be named twice")
    try:
        entrants = [read_entrant(text, asked.budget) for text in bots]
        rules = read_rules(asked.variant, asked.players, read_changes(asked.pairs))
    except HeartsError as error:
        raise click.UsageError(printable_line(str(error))) from error
    return plan_of(rules, entrants, asked.seed, games=asked.games)


# --- who plays


def _run_here(plan: Plan, wanted: Wanted, jobs: int) -> None:
    try:
        with closing(play_deals(plan, wanted.deals, jobs)) as played:
            _finish(plan, wanted, _tally(plan, wanted, played))
    except BrokenProcessPool as error:
        raise click.ClickException("a process that plays was ended") from error


@contextmanager
def _queue() -> Iterator[Queue]:
    try:
        queue = arena_queue(read_settings())
        queue.wire.call("PING")  # where it does not answer, that is the one thing to say
        yield queue
    except EmbeddedStoreError as error:
        raise click.ClickException(printable_line(str(error))) from error
    except StoreUnavailable as error:
        raise click.ClickException(
            printable_line(f"the queue's server does not answer: {error}; called again, this goes on")
        ) from error
    queue.close()


def _recall(queue: Queue, name: str) -> tuple[Plan, int]:
    try:
        plan, before = Kept(queue.wire, name).recall()
    except (UnknownArena, msgspec.MsgspecError) as error:
        raise click.ClickException(printable_line(f"arena {name:.40}: {error}")) from error
    if arena_id(plan) != name:
        raise click.ClickException(f"arena {name} was begun by another version of this program")
    return plan, before


def _run_queued(plan: Plan, queue: Queue, wanted: Wanted) -> None:
    fan = ArenaFan(plan, queue, tell=_say)
    name = arena_id(plan)
    workers = fan.workers()
    there = len(fan.kept.deals())
    help_ = (
        f"{workers} arena worker{'' if workers == 1 else 's'} can help"
        if workers
        else "no arena worker is there, and this command plays alone until one comes"
    )
    _say(f"arena {name}: {help_}; {there:,} deals are kept from before")
    try:
        with interruptible(), killed_on_interrupt(), closing(fan.played(wanted.deals)) as played:
            tally = _tally(plan, wanted, played)
    except Interrupted as stopped:
        _say(f"interrupted; `hearts arena --resume {name}` goes on")
        sys.exit(128 + stopped.signum)
    _finish(plan, wanted, tally)


def _tally(plan: Plan, wanted: Wanted, played: Generator[Dealt]) -> Tally:
    """Count deals until there are enough."""
    tally = Tally(len(plan.bots))
    with _bar(wanted.deals) as advance:
        for dealt in played:
            tally.add(dealt)
            advance(1)
            if wanted.until is not None and tally.is_precise(wanted.until):
                break
    return tally


@contextmanager
def _bar(length: int) -> Iterator[Callable[[int], object]]:
    """Something to be told of deals that are done: a bar where a terminal shows it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label="deals", file=sys.stderr, show_pos=True) as bar:
        yield bar.update


def _say(sentence: str) -> None:
    click.echo(printable_line(sentence), err=True)


# --- what is told


def _finish(plan: Plan, wanted: Wanted, tally: Tally) -> None:
    """Write the results, and tell them also where that fails, for they may have taken hours."""
    report = report_of(plan, tally, wanted.deals)
    results: list[tuple[Path, bytes]] = []
    if wanted.as_json is not None:
        results.append((wanted.as_json, msgspec.json.encode(report) + b"\n"))
    if wanted.svg is not None:
        results.append((wanted.svg, draw(report).encode()))
    unwritten = [why for path, result in results if (why := _write(path, result))]
    to_stdout = STDOUT in (wanted.as_json, wanted.svg)
    for line in table_lines(report):
        click.echo(printable_line(line), err=to_stdout)
    if unwritten:
        raise click.ClickException(printable_line("; ".join(unwritten)))


def _write(path: Path, result: bytes) -> str:
    """Write a file; why it cannot be, or nothing."""
    try:
        with opened_output(path) as file:
            file.write(result)
    except OSError as error:
        return f"{path}: {error.strerror}"
    return ""


def _replay(plan: Plan, text: str, record: Path | None) -> None:
    try:
        place = read_place(text)
        plan = msgspec.structs.replace(plan, seed=place.seed)
        told = replay_match(plan, place.deal, place.seating)
    except HeartsError as error:
        raise click.UsageError(printable_line(str(error))) from error

    if not told.of_arena:
        _say(
            f"the arena itself does not seat them {place.seating.upper()} in deal {place.deal}: what is told is in no table"
        )

    def names(_: State) -> list[str]:
        return told.names

    for seq, line in Retold(told.events, names).lines():
        click.echo(printable_line(f"{seq:>5}  {line}"), err=record == STDOUT)
    for bot, score in enumerate(told.scores):
        if score.lost:
            _say(lost_line(f"{letter(bot)} {plan.bots[bot]}", score.lost, score.first_lost))
    if record is not None and (why := _write(record, msgspec.json.encode(told.record) + b"\n")):
        raise click.ClickException(printable_line(why))
