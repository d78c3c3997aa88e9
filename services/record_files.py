"""Files of game records and proof files: told apart, read one text at a time, judged, and put into words."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import IO, Any, Final, Literal, NamedTuple

import msgspec

from domain import kernel
from domain.record import FORMAT, Record, Verdict, parse_record, replay
from domain.refusals import CorruptLog, HeartsError, InvalidRules, Malformed
from services.integrity import Kept
from services.json_keys import find_twice
from services.printable import printable, printable_line
from services.proof import Report
from services.proof_file import FORMAT as PROOF_FORMAT
from services.proof_file import ProofFile, why_no_header
from services.sealed import plain_text
from services.verdicts import verify_file

LARGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of the longest line or record that is read."""
HOLDS, FAULTY, UNREADABLE = 0, 1, 2
"""What a record or file came to: the exit statuses of `hearts verify`."""
NEEDED: Final = ("format", "rules", "seats", "hands")
"""What a record cannot do without."""
GZIP: Final = b"\x1f\x8b"
"""What a file begins with that gzip has compressed."""
PROOF_FAMILY: Final = PROOF_FORMAT.partition("/")[0] + "/"
"""How the formats of proof files begin, whatever their version."""
_BYTE = re.compile(r"\(byte (\d+)\)")


class Unreadable(HeartsError):
    """A line that is no record: its number and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(printable_line(f"line {line}: {why}"))
        self.line = line


class Opened(NamedTuple):
    """What a file holds: records, one a text, or a proof file, of which the one text is the first line.

    Each text comes with the line it begins at. `judge_proof` reads the rest of a proof file.
    """

    kind: Literal["records", "proof"]
    texts: Iterator[tuple[int, bytes]]
    file: IO[bytes]
    """Where the rest of it is read from: what was opened, or what was in it where that is compressed."""


def open_file(file: IO[bytes]) -> Opened:
    """Tell the kind of a file by its first line; the rest is read as its texts are taken. Raises `Unreadable`."""
    whole = _take(file.readline, 1)
    if whole.startswith(GZIP):
        file = _unpacked(file, whole)
        whole = file.readline()
    # editors of some systems write the mark of UTF-8 before all else
    number, first = 1, whole.removeprefix(BOM_UTF8)
    while first and not first.strip():
        number, first = number + 1, _take(file.readline, number + 1)
    if not first:
        raise Unreadable(1, "the file is empty")
    if first.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise Unreadable(1, "the file is UTF-16, and records and proof files are UTF-8")
    kind = _kind(first)
    if isinstance(kind, str) and kind.startswith(PROOF_FAMILY) and kind != PROOF_FORMAT:
        raise Unreadable(
            1,
            f"the file is of the format {kind!r:.40}, and this program reads {PROOF_FORMAT}: is it too old?",
        )
    if kind == PROOF_FORMAT or first.startswith(b'{"n":'):
        # of a proof file every byte counts, as it does for the page /verify
        if why := why_no_header(whole):
            raise Unreadable(1, why)
        return Opened("proof", iter([(number, first)]), file)
    if first.rstrip().endswith(b"}") or len(first) > LARGEST_LINE:
        return Opened("records", _lines(file, number, first), file)
    return Opened("records", iter([(number, first + _take(file.read, number))]), file)


def _unpacked(file: IO[bytes], first: bytes) -> IO[bytes]:
    """What gzip has compressed: a record or proof file, or a sealed game, which is its proof file. Raises `Unreadable`."""
    rest = b""
    while len(rest) <= LARGEST_LINE and (piece := _take(file.read, 1)):
        rest += piece
    try:
        return BytesIO(plain_text(first + rest))
    except CorruptLog as error:
        raise Unreadable(1, f"the file is compressed by gzip, and damaged: {error}") from error


def read_file(file: IO[bytes]) -> Iterator[tuple[int, Record | Unreadable]]:
    """The records of a file, one at a time, each with the line it begins at."""
    try:
        opened = open_file(file)
    except Unreadable as error:
        yield error.line, error
        return
    broken: list[Unreadable] = []
    for number, text in until_broken(opened.texts, broken):
        try:
            if opened.kind == "proof":
                raise Unreadable(number, "a proof file, not a record")
            yield number, read_record(number, text)
        except Unreadable as error:
            yield number, error
    yield from ((one.line, one) for one in broken)


def until_broken(texts: Iterator[tuple[int, bytes]], broken: list[Unreadable]) -> Iterator[tuple[int, bytes]]:
    """The texts up to where the file cannot be read further, which is put into ``broken``."""
    try:
        yield from texts
    except Unreadable as error:
        broken.append(error)


def _take(read: Callable[[int], bytes], number: int) -> bytes:
    """What ``read`` gives of a file, at line ``number``. Raises `Unreadable` where the system cannot read it."""
    try:
        return read(LARGEST_LINE + 1)
    except OSError as error:
        raise Unreadable(number, _unread(error)) from error


def _unread(error: OSError) -> str:
    return f"the file cannot be read here: {error.strerror or error}"


def _kind(line: bytes) -> object:
    try:
        data = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return data.get("format") if isinstance(data, dict) else None


def _lines(file: IO[bytes], number: int, first: bytes) -> Iterator[tuple[int, bytes]]:
    line = first
    while line:
        if line.strip():
            yield number, line
        if len(line) > LARGEST_LINE:
            return
        number, line = number + 1, _take(file.readline, number + 1)


def read_record(number: int, text: bytes) -> Record:
    """The record that is the JSON text, which begins at line ``number``. Raises `Unreadable`."""
    if len(text) > LARGEST_LINE:
        raise Unreadable(number, f"longer than the {LARGEST_LINE} bytes that a record may have")
    try:
        data = msgspec.json.decode(text)
        if answer := _server_answer(data):
            raise Unreadable(number, answer)
        known = isinstance(data, dict) and data.get("format", FORMAT) == FORMAT
        missing = [key for key in NEEDED if known and key not in data]
        if missing:
            raise Unreadable(number, f"the record has no {' and no '.join(map(repr, missing))}")
        if twice := find_twice(text):
            line = number + text[: twice.at].count(b"\n")
            raise Unreadable(line, f"the key {twice.key!r:.60} stands there twice")
        return parse_record(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        at = _BYTE.search(str(error))
        line = number + (text[: int(at[1])].count(b"\n") if at else 0)
        deep = isinstance(error, RecursionError)
        raise Unreadable(line, f"no JSON: {'nested too deeply' if deep else error}") from error
    except (Malformed, InvalidRules) as error:
        raise Unreadable(number, str(error)) from error


def _server_answer(data: Any) -> str:
    """What a server answered in place of the file that it was asked for (RFC 9457); "" where it is no such answer."""
    match data:
        case {"title": str(title), "status": int(status)} if "format" not in data:
            detail = data.get("detail")
            more = f" ({detail})" if isinstance(detail, str) else ""
            return f"this is no file but a server's answer, {status}: {title}{more}"
    return ""


def judge(number: int, text: bytes, *, named: bool) -> tuple[Verdict, Sequence[str]]:
    """The verdict on the record that is the JSON text, and its seats' names where they are wanted. Raises `Unreadable`.

    From the compiled kernel where that is sure of it, else from `domain.record`; they agree.
    """
    verdict = kernel.check_record(text) if len(text) <= LARGEST_LINE else None
    if verdict is None:
        record = read_record(number, text)
        return replay(record), record.seats
    return verdict, kernel.seat_names(text) if named else ()


class Wanted(NamedTuple):
    """What a proof file is held to."""

    server_key: str | None
    """The server's first public key and those of seats, as the reader got them elsewhere."""
    seat_keys: Mapping[int, str]
    kept: Kept
    rerun_bots: bool
    """Whether the bots' decisions are made again."""


def judge_proof(
    number: int, first: bytes, file: IO[bytes], wanted: Wanted, advance: Callable[[int], object]
) -> Report:
    """What a proof file shows whose ``first`` line, in line ``number`` of the file, was read already.

    The rest is read here; ``advance`` is told of bytes as they are done. Raises `Unreadable`.
    """

    def read(size: int) -> bytes:
        try:
            piece = file.read(size)
        except OSError as error:
            raise Unreadable(number, _unread(error)) from error
        advance(len(piece))
        return piece

    advance(len(first))
    try:
        return verify_file(
            ProofFile(read, first),
            wanted.server_key,
            wanted.kept,
            wanted.seat_keys,
            rerun_bots=wanted.rerun_bots,
        )
    except Malformed as error:
        line, _, why = str(error).removeprefix("line ").partition(": ")
        raise Unreadable(number - 1 + int(line), why) from error


def verdict_line(verdict: Verdict, seats: Sequence[str]) -> str:
    """A verdict in one line for people."""
    if not verdict.ok:
        where = "" if verdict.hand is None else f"hand {verdict.hand}"
        if verdict.play is not None:
            where += f", play {verdict.play + 1}"
        legal = f" (legal: {' '.join(verdict.legal)})" if verdict.legal else ""
        return printable_line(f"{where}{': ' if where else ''}{verdict.code}: {verdict.detail}{legal}")
    if verdict.phase == "over":
        names = ", ".join(f"{printable(seats[seat])} (seat {seat})" for seat in verdict.winners or ())
        count = len(verdict.points or ())
        hands = "1 hand" if count == 1 else f"{count} hands"
        return f"holds; over after {hands}, totals {verdict.totals}, won by {names}"
    return f"holds; {waiting_line(verdict, seats)}, totals {verdict.totals}"


def waiting_line(verdict: Verdict, seats: Sequence[str]) -> str:
    """What a game waits for, in words."""
    hand = f"hand {verdict.hand}"
    if verdict.turn is not None:
        who = f"seat {verdict.turn} ({printable(seats[verdict.turn])})"
        if verdict.phase == "moon":
            return f"{hand}: {who} shot the moon and chooses: add or subtract"
        return f"{hand}: {who} to play {' '.join(verdict.legal or ())}"
    return f"{hand}: {'to be dealt' if verdict.phase == 'deal' else 'waiting for the pass'}"
