"""The events of a proof file, read from its lines and cut into hands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from domain import events as e
from domain.refusals import CorruptLog, Malformed
from services.codec import CODEC
from services.faults import Failed

LONGEST_HAND: Final = 16 * 1024 * 1024
"""Bytes of the events up to the end of a hand. Those of a hand of eleven are some 20,000; what came before the first deal
and seats that go to the bot and back come on top."""
_UNREAD: Final = re.compile(r"(an event|\w+) cannot be read: (.*)", re.DOTALL)
_WHERE: Final = re.compile(r"at `\$\.(\w+)")
_MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
_ENDS: Final = frozenset((e.HandScored, e.GameEnded))
"""With these a hand ends, and its cards are known."""


class EventReader:
    """Reads the lines of a game in order, as many at a time as they come."""

    def __init__(self) -> None:
        self._number = 0
        self.fault: Failed | None = None
        """The first line that is no event in its place; what comes after it is not read."""

    def read(self, lines: Sequence[bytes], together: bytes) -> list[Any]:
        """The events of the next lines, up to the first fault. ``together`` is the lines joined by line ends."""
        if self.fault is not None:
            return []
        first = self._number + 1
        self._number += len(lines)
        if _is_numbered(first, lines, together):
            try:
                together.decode()  # msgspec passes over what it does not know, whatever its bytes
                events = CODEC.decode_lines(together)
                if len(events) == len(lines):
                    return events
            except (CorruptLog, UnicodeDecodeError):
                pass  # once more, one by one, for the first fault and its words
        return self._read_each(first, lines)

    def _read_each(self, first: int, lines: Sequence[bytes]) -> list[Any]:
        found: list[Any] = []
        try:
            for number, line in enumerate(lines, first):
                found.append(_read_event(number, line))
        except Failed as failed:
            self.fault = failed
        return found


def _is_numbered(first: int, lines: Sequence[bytes], together: bytes) -> bool:
    """Whether each line is an object without white space around it, and begins with its number.

    `_read_event` asks the same of each line; this is three times as quick.
    """
    starts = b""
    at = 0
    while at < len(lines):
        # up to the next number of more digits
        upto = min(len(lines), 10 ** len(str(first + at)) - first)
        start = b'{"n":%d,"t":'
        size = len(start % (first + at))
        starts = (start * (upto - at)) % tuple(range(first + at, first + upto))
        if b"".join([line[:size] for line in lines[at:upto]]) != starts:
            return False
        at = upto
    return together.count(b"}\n") == len(lines) - 1 and together.endswith(b"}")


def _read_event(number: int, line: bytes) -> e.Event:
    if not line.startswith(b'{"n":%d,"t":' % number) or line.strip() != line:
        raise Failed(number, "it is not numbered in order")
    try:
        if not line.isascii():
            line.decode()
        return CODEC.decode(line)
    except CorruptLog as error:
        raise Failed(number, in_words(str(error)), str(error)) from error
    except UnicodeDecodeError as error:
        raise Failed(number, "an event is UTF-8, and this is not", str(error)) from error


def in_words(why: str) -> str:
    """Why an event cannot be read, as `services.codec` says it, in words for who knows nothing of the program.

    ``api/web/verify-reading.js`` has the same.
    """
    unread = _UNREAD.fullmatch(why)
    if unread is None:
        return why
    name, what = unread.groups()
    if name == "an event":
        return "an event is a JSON object, and this is none"
    where, missing = _WHERE.search(what), _MISSING.match(what)
    if where is not None:
        return f"{name} has not what it must have ({where[1]})"
    return f"{name} lacks what it must have ({missing[1]})" if missing else why


class Hands:
    """Cuts events that come bit by bit into hands, each of which ends with a `hand_scored` or `game_ended`."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        """The hand that has not ended yet."""
        self._size = 0
        self._count = 0

    def add(self, events: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
        """The hands that end in the next ``events``, of ``size`` bytes.

        Raises `Malformed`, with the number of the line in the file, where one is longer than `LONGEST_HAND`.
        """
        start = 0
        for at, kind in enumerate(map(type, events), 1):
            if kind in _ENDS:
                yield [*self._open, *events[start:at]]
                self._open, self._size, start = [], 0, at
        self._open += events[start:]
        self._size += size
        self._count += len(events)
        if self._size > LONGEST_HAND and not start:
            raise Malformed(
                f"line {self._count + 1}: {self._size} bytes of events without the end of a hand, and"
                f" {LONGEST_HAND} are the most"
            )

    def rest(self) -> Sequence[Any]:
        """The hand that has not ended."""
        return self._open
