"""``hearts verify`` and ``hearts legal``: game records and proof files, checked offline."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from typing import IO, Any, Final

import click
import msgspec

from domain.record import replay
from domain.refusals import Malformed
from services.audit import Receipt
from services.bulk import How, Judged, judge_all
from services.integrity import Kept, KeptCheckpoint, WrongEvidence, read_kept_checkpoint, read_kept_receipt
from services.interrupts import Interrupted, interruptible
from services.keylist import KeyList, read_key_list
from services.outputs import is_terminal, require_output
from services.printable import file_name, printable, printable_line
from services.record_files import (
    FAULTY,
    HOLDS,
    UNREADABLE,
    Unreadable,
    Wanted,
    judge_proof,
    open_file,
    read_file,
    until_broken,
    verdict_line,
    waiting_line,
)

BAR_BYTES: Final = 4 * 1024 * 1024
"""A file shorter than this is done before a progress bar could be read."""


LARGEST_EVIDENCE: Final = 1024 * 1024
"""Bytes of a receipt or checkpoint that is read."""


class CouldNotRun(click.ClickException):
    """What was to be checked could not be looked at."""

    exit_code = UNREADABLE


class FileToRead(click.File):
    """A file of bytes; ``-`` is standard input, which may be closed."""

    def __init__(self) -> None:
        super().__init__("rb")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        try:
            return super().convert(value, param, ctx)
        except RuntimeError:
            self.fail("standard input is closed", param, ctx)


class Evidence(click.File):
    """A file of something that a reader kept, read by ``read``; ``what`` it is."""

    def __init__(self, what: str, read: Callable[[bytes], Any]) -> None:
        super().__init__("rb")
        self._what, self._read = what, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        with super().convert(value, param, ctx) as file:
            data = file.read(LARGEST_EVIDENCE + 1)
        if len(data) > LARGEST_EVIDENCE:
            self.fail(f"a {self._what} is not longer than {LARGEST_EVIDENCE} bytes", param, ctx)
        try:
            return self._read(data)
        except Malformed as error:
            self.fail(printable_line(f"the {self._what} cannot be read: {error}"), param, ctx)


FILES: Final = click.argument("files", nargs=-1, required=True, type=FileToRead(), metavar="FILE...")


def public_key(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """A callback for an option that takes a public key in hex."""
    if text is not None and not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise click.BadParameter(f"{text!r:.80} is no public key: that is 64 digits of hex")
    return None if text is None else text.lower()


def _seat_keys(context: click.Context, parameter: click.Parameter, pairs: tuple[str, ...]) -> dict[int, str]:
    found: dict[int, str] = {}
    for pair in pairs:
        seat, equals, key = pair.partition("=")
        if not equals or not re.fullmatch("[0-9]{1,2}", seat) or int(seat) in found:
            raise click.BadParameter(f"{pair!r:.80} is not SEAT=HEX, each seat once, as 0=1f...")
        found[int(seat)] = public_key(context, parameter, key) or ""
    return found


@click.command()
@FILES
@click.option("--json", "as_json", is_flag=True, help="One JSON object a record or proof file, on one line.")
@click.option("-q", "--quiet", is_flag=True, help="Tell only what does not hold, and at the end how many do.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes that judge the records of a file of many: at best as many as there are cores.",
)
@click.option(
    "--server-key",
    metavar="HEX",
    callback=public_key,
    help="The server's public key, as you got it elsewhere than from this file: the one that it had when the game was opened, or "
    "with --server-keys an earlier one.",
)
@click.option(
    "--server-keys",
    type=Evidence("list of keys", read_key_list),
    help="The server's list of keys, the answer of /v1/log/keys as JSON: what follows in it from your --server-key is the server's too.",
)
@click.option(
    "--receipt",
    "receipts",
    type=Evidence("receipt", read_kept_receipt),
    multiple=True,
    help="A receipt that you kept: the answer to one of your moves, or its receipt alone, as JSON; may be repeated.",
)
@click.option(
    "--checkpoint",
    "checkpoints",
    type=Evidence("checkpoint", read_kept_checkpoint),
    multiple=True,
    help="A checkpoint of the server's log that you kept: the answer of /v1/log/checkpoint or /v1/log/proof; may be repeated.",
)
@click.option(
    "--seat-key",
    "seat_keys",
    metavar="SEAT=HEX",
    multiple=True,
    callback=_seat_keys,
    help="The public key that a seat, from 0 on, signs its moves with, as you got it from its player; may be repeated.",
)
@click.option(
    "--rerun-bots",
    is_flag=True,
    help="Let the house's bots of a proof file decide again: claim B, which must come to the same moves.",
)
def verify(
    files: tuple[IO[bytes], ...],
    as_json: bool,
    quiet: bool,
    jobs: int,
    server_key: str | None,
    server_keys: KeyList | None,
    receipts: tuple[Receipt, ...],
    checkpoints: tuple[KeptCheckpoint, ...],
    seat_keys: dict[int, str],
    rerun_bots: bool,
) -> None:
    """Check game records and proof files; - is standard input.

    A FILE is a record (hearts-record/1), many of them, one a line, or a proof file (hearts-audit/1). It may be of any size,
    and come through a pipe.

    A record is held to the rules. Of a proof file four claims are judged: F, the deals were fixed before play; I, nothing was
    altered; R, every move was legal and every score follows; B, the house's bots decided as they say. What you kept or know
    from elsewhere takes the place of the server's word: receipts and checkpoints, which go with one proof file, of their own
    game, and keys.

    Exit status 0: nothing fails; 1: something does; 2: something could not be read, the options do not go
    together, or the output cannot be written.
    """
    if not quiet:
        require_output()
    kept = Kept(receipts, checkpoints, server_keys)
    if server_keys is not None and server_key is None:
        raise click.UsageError(
            "a list of keys shows nothing without one of them that you got elsewhere: --server-key"
        )
    if len(files) > 1 and (receipts or checkpoints):
        raise click.UsageError("receipts and checkpoints go with one proof file")
    totals = [0, 0, 0]
    wanted = Wanted(server_key, seat_keys, kept, rerun_bots)
    try:
        with interruptible():
            for file in files:
                _verify_file(file, How(file_name(file.name), as_json, quiet), jobs, wanted, totals)
    except Interrupted as stopped:
        _sum_up(totals)
        click.echo("interrupted; nothing is said of the rest", err=True)
        raise SystemExit(128 + stopped.signum) from None
    if quiet:
        _sum_up(totals)
    raise SystemExit(max((status for status in (HOLDS, FAULTY, UNREADABLE) if totals[status]), default=HOLDS))


def _sum_up(totals: Sequence[int]) -> None:
    holds, faulty, unread = (totals[status] for status in (HOLDS, FAULTY, UNREADABLE))
    click.echo(f"{holds} hold, {faulty} do not, {unread} could not be read", err=True)


def _verify_file(file: IO[bytes], how: How, jobs: int, wanted: Wanted, totals: list[int]) -> None:
    """Tell of everything in a file, and count it in ``totals``."""
    try:
        opened = open_file(file)
        if opened.kind == "proof":
            _verify_proof(*next(opened.texts), opened.file, how, wanted, totals)
            return
        if wanted.kept.receipts or wanted.kept.checkpoints:
            raise Unreadable(1, "a receipt or a checkpoint is of a proof file, and this is a record")
        if wanted.server_key is not None or wanted.seat_keys:
            raise Unreadable(1, "a key is of a proof file, and this is a record")
        if wanted.rerun_bots:
            raise Unreadable(
                1, "the bots' decisions can be made again from a proof file, and this is a record"
            )
    except Unreadable as error:
        click.echo(f"{how.name}: {error}", err=True)
        totals[UNREADABLE] += 1
        return
    broken: list[Unreadable] = []
    _verify_records(file, judge_all(until_broken(opened.texts, broken), how, jobs), totals)
    for one in broken:
        click.echo(f"{how.name}: {one}", err=True)
        totals[UNREADABLE] += 1


def _verify_records(file: IO[bytes], judgements: Generator[Judged], totals: list[int]) -> None:
    try:
        with _progress(file) as advance, closing(judgements):
            for judged in judgements:
                click.echo(judged.out, nl=False)
                click.echo(judged.err, nl=False, err=True)
                for status, count in enumerate(judged.counts):
                    totals[status] += count
                advance(judged.size)
    except BrokenProcessPool as error:
        raise CouldNotRun("a process that judges was ended; nothing is said of the rest") from error


def _verify_proof(
    number: int, first: bytes, file: IO[bytes], how: How, wanted: Wanted, totals: list[int]
) -> None:
    with _progress(file, verdicts_follow=True) as advance:
        try:
            report = judge_proof(number, first, file, wanted, advance)
        except WrongEvidence as error:
            raise click.UsageError(printable_line(str(error))) from error
    totals[HOLDS if report.ok else FAULTY] += 1
    if how.quiet and report.ok:
        return
    if how.as_json:
        click.echo(msgspec.json.encode(report))
    else:
        click.echo(f"{how.name}: game {printable(report.game)}, {report.events} events")
        for claim in report.claims:
            click.echo(f"  {printable_line(claim.line)}")


@contextmanager
def _progress(file: IO[bytes], *, verdicts_follow: bool = False) -> Iterator[Any]:
    """Something to be told of bytes that are done: a bar on a terminal that verdicts do not go to meanwhile, else nothing."""
    try:
        size = os.fstat(file.fileno()).st_size
    except OSError:
        size = 0
    between = is_terminal(sys.stdout) and not verdicts_follow
    if size < BAR_BYTES or between or not is_terminal(sys.stderr):
        yield lambda _: None
        return
    name = printable(click.format_filename(file.name, shorten=True))
    with click.progressbar(length=size, label=name, file=sys.stderr) as bar:
        yield bar.update


@click.command()
@FILES
def legal(files: tuple[IO[bytes], ...]) -> None:
    """Show who is to act in a game record and what may be played; - is standard input."""
    require_output()
    status = HOLDS
    for file in files:
        name = file_name(file.name)
        for line, what in read_file(file):
            if isinstance(what, Unreadable):
                click.echo(f"{name}: {what}", err=True)
                status = UNREADABLE
                continue
            verdict = replay(what)
            text = verdict_line(verdict, what.seats)
            if verdict.ok and verdict.phase != "over":
                text = waiting_line(verdict, what.seats)
            click.echo(f"{name}:{line}: {text}")
            status = max(status, HOLDS if verdict.ok else FAULTY)
    raise SystemExit(status)
