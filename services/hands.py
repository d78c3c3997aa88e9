"""The events of a proof file, read from its lines and cut into hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from domain import events as e
from domain.refusals import CorruptLog, Malformed
from services.faults import Failed
from services.published import is_numbered, read_all_published, read_published

LONGEST_HAND: Final = 16 * 1024 * 1024
"""Bytes of the events up to the end of a hand. Those of a hand of eleven are some 20,000; what came before the first deal
and seats that go to the bot and back come on top."""
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
        events = read_all_published(first, lines, together)
        return self._read_each(first, lines) if events is None else events

    def _read_each(self, first: int, lines: Sequence[bytes]) -> list[Any]:
        found: list[Any] = []
        try:
            for number, line in enumerate(lines, first):
                found.append(_read_event(number, line))
        except Failed as failed:
            self.fault = failed
        return found


def _read_event(number: int, line: bytes) -> e.Event:
    if not is_numbered(number, line):
        raise Failed(number, "it is not numbered in order")
    try:
        return read_published(line)
    except CorruptLog as error:
        raise Failed(number, str(error), str(error.__cause__ or "")) from error


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
