"""Events read many at a time are those read one by one, faults included; hands end where their cards are known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import events as e
from services.codec import CODEC
from services.faults import Failed
from services.hands import EventReader, Hands, _read_event
from tests.support.games import steady
from tests.support.proofs import played

LINES = [CODEC.encode(event, seq)[0] for seq, event in enumerate(played("bbbb").events, 1)]


def by_pieces(lines: list[bytes], size: int) -> tuple[list[Any], tuple[int, str] | None]:
    """The events of lines that come so many at a time, and the first fault."""
    reader, found = EventReader(), []
    for at in range(0, len(lines), size):
        some = lines[at : at + size]
        found += reader.read(some, b"\n".join(some))
    return found, None if reader.fault is None else (reader.fault.event, str(reader.fault))


def one_by_one(lines: list[bytes]) -> tuple[list[Any], tuple[int, str] | None]:
    """The same, each line read for itself."""
    found: list[Any] = []
    try:
        for number, line in enumerate(lines, 1):
            found.append(_read_event(number, line))
    except Failed as failed:
        return found, (failed.event, str(failed))
    return found, None


SPOILS = {
    "left out": lambda lines, at: lines.__delitem__(at),
    "doubled": lambda lines, at: lines.insert(at, lines[at]),
    "empty": lambda lines, at: lines.insert(at, b""),
    "space before": lambda lines, at: lines.__setitem__(at, b" " + lines[at]),
    "space behind": lambda lines, at: lines.__setitem__(at, lines[at] + b" "),
    "carriage return": lambda lines, at: lines.__setitem__(at, lines[at] + b"\r"),
    "two in a line": lambda lines, at: lines.__setitem__(at, lines[at] + lines[at]),
    "a list behind": lambda lines, at: lines.__setitem__(at, lines[at] + b"[]"),
    "cut": lambda lines, at: lines.__setitem__(at, lines[at][:-1]),
    "a brace too many": lambda lines, at: lines.__setitem__(at, lines[at] + b"}"),
    "no UTF-8": lambda lines, at: lines.__setitem__(at, lines[at][:-1] + b',"x":"\xff"}'),
    "half a character": lambda lines, at: lines.__setitem__(at, lines[at][:-1] + b',"x":"\xc3"}'),
    "other letters": lambda lines, at: lines.__setitem__(at, lines[at][:-1] + ',"x":"é"}'.encode()),
    "unknown name": lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"t":"', b'"t":"un')),
    "no such field": lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"at":', b'"it":')),
    "wrong field": lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"at":', b'"at":"x","x":')),
    "a version": lambda lines, at: lines.__setitem__(at, lines[at][:-1] + b',"v":2}'),
    "a zero": lambda lines, at: lines.__setitem__(at, lines[at].replace(b'{"n":', b'{"n":0')),
    "nested": lambda lines, at: lines.__setitem__(at, lines[at][:-1] + b',"x":' + b"[" * 5000 + b"]" * 5000 + b"}"),
}  # fmt: skip
"""What might be wrong with the line at an index."""


@pytest.mark.parametrize("spoil", SPOILS)
def test_many_at_a_time_are_read_as_one_by_one(spoil: str) -> None:
    """Given a line spoiled where numbers get longer, or anywhere, then events, fault and words are the same."""
    for at in (0, 1, 8, 9, 50, 98, 99, len(LINES) - 1):
        lines = list(LINES)
        SPOILS[spoil](lines, at)
        expected = one_by_one(lines)
        for size in (1, 9, 10, 64, 1000):
            assert expected == by_pieces(lines, size)


@given(st.integers(1, 12_000), st.integers(1, 3000))
@steady(50)
def test_numbers_of_any_length_are_read(count: int, size: int) -> None:
    """Lines are numbered on across pieces and powers of ten; one number wrong is the fault."""
    lines = [b'{"n":%d,"t":"seat_left","at":0,"seat":1}' % number for number in range(1, count + 1)]
    assert by_pieces(lines, size) == ([e.SeatLeft(at=0, seat=1)] * count, None)
    lines[count // 2] = lines[count // 2].replace(b'{"n":', b'{"n":1')
    assert by_pieces(lines, size) == (
        [e.SeatLeft(at=0, seat=1)] * (count // 2),
        (count // 2 + 1, "it is not numbered in order"),
    )


@given(st.integers(1, 300))
@steady(30)
def test_hands_are_cut_where_they_end_however_the_events_come(size: int) -> None:
    """Each piece ends with a score or the game's end; together they are all events."""
    events = list(played("bbbb").events)
    hands, found = Hands(), []
    for at in range(0, len(events), size):
        found += [list(hand) for hand in hands.add(events[at : at + size], 1)]
    assert [type(hand[-1]) for hand in found] == [e.HandScored, e.HandScored, e.GameEnded]
    assert [event for hand in found for event in hand] == events
    assert not hands.rest()
    assert not [one for hand in found for one in hand[:-1] if isinstance(one, e.HandScored)]
