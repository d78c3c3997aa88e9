"""The events of a proof file, read from its lines and cut into hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from domain import events as e
from domain.refusals import CorruptLog
from services.codec import CODEC
from services.faults import Failed

_ENDS = (e.HandScored, e.GameEnded)
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
        raise Failed(number, str(error)) from error
    except UnicodeDecodeError as error:
        raise Failed(number, f"an event is no UTF-8: {error}") from error


def cut_hands(events: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """``events`` hand by hand: each piece ends with a `hand_scored` or `game_ended`, but perhaps the last."""
    start = 0
    for at, event in enumerate(events, 1):
        if type(event) in _ENDS:
            yield events[start:at]
            start = at
    if start < len(events):
        yield events[start:]
