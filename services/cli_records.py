"""``hearts verify`` and ``hearts legal``: game records and proof files, checked offline."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from typing import IO, Any, Final

import click
import msgspec

from domain.record import FORMAT, Record, Verdict, parse_record, replay
from domain.refusals import HeartsError, InvalidRules, Malformed
from services.proof import FORMAT as PROOF_FORMAT
from services.proof import Report, read_proof, verify_proof

LARGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of the longest line, record or proof file that is read."""
HOLDS, FAULTY, UNREADABLE = 0, 1, 2
NEEDED: Final = ("format", "rules", "seats", "hands")
"""What a record cannot do without."""
_BYTE = re.compile(r"\(byte (\d+)\)")


class Unreadable(HeartsError):
    """A line that is no record: its number and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


Found = tuple[int, Record | Report | Unreadable]
"""The line something begins at, and what it is."""


def read_file(file: IO[bytes], server_key: str | None = None) -> Iterator[Found]:
    """The records of a file, one at a time, or the report on the proof file it is."""
    # editors of some systems write the mark of UTF-8 before all else
    number, first = 1, file.readline(LARGEST_LINE + 1).removeprefix(BOM_UTF8)
    while first and not first.strip():
        number, first = number + 1, file.readline(LARGEST_LINE + 1)
    if not first:
        yield 1, Unreadable(1, "the file is empty")
    elif first.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        yield 1, Unreadable(1, "the file is UTF-16, and records and proof files are UTF-8")
    elif _kind(first) == PROOF_FORMAT:
        yield number, _proof(number, first + file.read(LARGEST_LINE + 1), server_key)
    elif first.rstrip().endswith(b"}") or len(first) > LARGEST_LINE:
        yield from _lines(file, number, first)
    else:
        yield number, _record(number, first + file.read(LARGEST_LINE + 1))


def _kind(line: bytes) -> object:
    try:
        data = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return data.get("format") if isinstance(data, dict) else None


def _lines(file: IO[bytes], number: int, first: bytes) -> Iterator[Found]:
    line = first
    while line:
        if line.strip():
            yield number, _record(number, line)
        if len(line) > LARGEST_LINE:
            return
        number, line = number + 1, file.readline(LARGEST_LINE + 1)


def _record(number: int, text: bytes) -> Record | Unreadable:
    if len(text) > LARGEST_LINE:
        return Unreadable(number, f"longer than the {LARGEST_LINE} bytes that a record may have")
    try:
        data = msgspec.json.decode(text)
        known = isinstance(data, dict) and data.get("format", FORMAT) == FORMAT
        missing = [key for key in NEEDED if known and key not in data]
        if missing:
            return Unreadable(number, f"the record has no {' and no '.join(map(repr, missing))}")
        return parse_record(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        at = _BYTE.search(str(error))
        return Unreadable(number + (text[: int(at[1])].count(b"\n") if at else 0), f"no JSON: {error}")
    except (Malformed, InvalidRules) as error:
        return Unreadable(number, str(error))


def _proof(number: int, data: bytes, server_key: str | None) -> Report | Unreadable:
    if len(data) > LARGEST_LINE:
        return Unreadable(number, f"longer than the {LARGEST_LINE} bytes that a proof file may have")
    try:
        return verify_proof(read_proof(data), server_key)
    except Malformed as error:
        line, _, why = str(error).removeprefix("line ").partition(": ")
        return Unreadable(number - 1 + int(line), why)


def verdict_line(verdict: Verdict, record: Record) -> str:
    """A verdict in one line for people."""
    if not verdict.ok:
        where = "" if verdict.hand is None else f"hand {verdict.hand}"
        if verdict.play is not None:
            where += f", play {verdict.play + 1}"
        legal = f" (legal: {' '.join(verdict.legal)})" if verdict.legal else ""
        return f"{where}{': ' if where else ''}{verdict.code}: {verdict.detail}{legal}"
    if verdict.phase == "over":
        names = ", ".join(f"{record.seats[seat]} (seat {seat})" for seat in verdict.winners or ())
        count = len(verdict.points or ())
        hands = "1 hand" if count == 1 else f"{count} hands"
        return f"holds; over after {hands}, totals {verdict.totals}, won by {names}"
    return f"holds; {waiting_line(verdict, record)}, totals {verdict.totals}"


def waiting_line(verdict: Verdict, record: Record) -> str:
    """What a game waits for, in words."""
    hand = f"hand {verdict.hand}"
    if verdict.turn is not None:
        who = f"seat {verdict.turn} ({record.seats[verdict.turn]})"
        if verdict.phase == "moon":
            return f"{hand}: {who} shot the moon and chooses: add or subtract"
        return f"{hand}: {who} to play {' '.join(verdict.legal or ())}"
    return f"{hand}: {'to be dealt' if verdict.phase == 'deal' else 'waiting for the pass'}"


def _found(paths: tuple[IO[bytes], ...], server_key: str | None) -> Iterator[tuple[str, int, Any]]:
    for file in paths:
        for line, what in read_file(file, server_key):
            yield click.format_filename(file.name), line, what


_FILES = click.argument("files", nargs=-1, required=True, type=click.File("rb"), metavar="FILE...")


def _public_key(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    if text is not None and not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise click.BadParameter(f"{text!r:.80} is no public key: that is 64 digits of hex")
    return None if text is None else text.lower()


@click.command()
@_FILES
@click.option("--json", "as_json", is_flag=True, help="One JSON object a record, on one line.")
@click.option(
    "--server-key",
    metavar="HEX",
    callback=_public_key,
    help="The server's first key, as you got it elsewhere.",
)
def verify(files: tuple[IO[bytes], ...], as_json: bool, server_key: str | None) -> None:
    """Check game records and proof files; - is standard input.

    A FILE is a record (hearts-record/1), many of them, one a line, or a proof file (hearts-audit/1). Exit status 0: all
    hold; 1: one does not; 2: something could not be read as a record.
    """
    status = HOLDS
    for name, line, what in _found(files, server_key):
        if isinstance(what, Unreadable):
            click.echo(f"{name}: {what}", err=True)
            status = UNREADABLE
            continue
        verdict = what if isinstance(what, Report) else replay(what)
        if not verdict.ok:
            status = max(status, FAULTY)
        if as_json:
            click.echo(msgspec.json.encode(verdict))
        elif isinstance(verdict, Report):
            click.echo(f"{name}: game {verdict.game}, {verdict.events} events")
            for claim in verdict.claims:
                click.echo(f"  {claim.line}")
        else:
            click.echo(f"{name}:{line}: {verdict_line(verdict, what)}")
    raise SystemExit(status)


@click.command()
@_FILES
def legal(files: tuple[IO[bytes], ...]) -> None:
    """Show who is to act in a game record and what may be played; - is standard input."""
    status = HOLDS
    for name, line, what in _found(files, None):
        if isinstance(what, Record):
            verdict = replay(what)
            text = verdict_line(verdict, what)
            if verdict.ok and verdict.phase != "over":
                text = waiting_line(verdict, what)
            click.echo(f"{name}:{line}: {text}")
            status = max(status, HOLDS if verdict.ok else FAULTY)
        else:
            why = what if isinstance(what, Unreadable) else "a proof file, not a record"
            click.echo(f"{name}: {why}", err=True)
            status = UNREADABLE
    raise SystemExit(status)
