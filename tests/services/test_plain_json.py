"""Lines are read strictly: what two readers could read differently is refused, in words; all else is read as what it is."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given

from domain import events as e
from domain import kernel
from domain.refusals import CorruptLog, Malformed
from services.codec import CODEC
from services.plain_json import NotPlain, read_plain
from services.proof import read_proof
from services.published import is_numbered, read_all_published, read_published
from tests.support.games import steady
from tests.support.lexical import (
    BYTES,
    FIRST,
    LINES,
    NUMBER,
    READ,
    REFUSED,
    Change,
    lines_of,
    relined,
    rewritings,
    rewritten,
)
from tests.support.proofs import claim, report_of

EVENTS = lines_of()[1:-3]
WAYS = [True, False] if kernel.AVAILABLE else [False]
"""Whether the kernel is there."""


def all_at_once(lines: list[bytes], first: int = 1) -> list[e.Event] | None:
    """Lines as they are read many at a time."""
    return read_all_published(first, lines, b"\n".join(lines))


@pytest.fixture(params=WAYS, ids=lambda compiled: "kernel" if compiled else "plain")
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel, and as if it were not there."""
    monkeypatch.setattr(kernel, "AVAILABLE", request.param)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", REFUSED)
def test_what_readers_could_read_differently_is_refused_in_words(name: str) -> None:
    """Given an event so written, with chain and receipt to fit, then I holds, R fails there, and F is not shown."""
    change, words = REFUSED[name]
    report = report_of(rewritten(NUMBER, change))
    assert ("fails", NUMBER, words) == (
        claim(report, "R").status,
        claim(report, "R").event,
        claim(report, "R").detail,
    )
    assert ("not shown", "holds") == (claim(report, "F").status, claim(report, "I").status)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("change", [*BYTES.values()], ids=[*BYTES])
def test_what_is_no_utf_8_is_refused(change: Change) -> None:
    """Also where it stands in a field that nobody knows."""
    report = report_of(rewritten(NUMBER, change))
    assert (NUMBER, "an event is UTF-8, and this is not") == (
        claim(report, "R").event,
        claim(report, "R").detail,
    )


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("change", [*READ.values()], ids=[*READ])
def test_however_else_an_event_is_written_it_is_read(change: Change) -> None:
    """Given an event written otherwise, but clearly, then it is the same event, and the file holds."""
    assert report_of(rewritten(NUMBER, change)).ok
    line = EVENTS[NUMBER - 1]
    assert CODEC.decode(line) == read_published(change(line))


@pytest.mark.parametrize("change", [*FIRST.values()], ids=[*FIRST])
def test_the_first_event_is_held_to_it_down_to_its_rules(change: Change) -> None:
    """A rule that stands twice would be played by one reader and not by another."""
    report = report_of(rewritten(1, change))
    assert ("fails", 1) == (claim(report, "R").status, claim(report, "R").event)


@pytest.mark.parametrize("name", LINES)
def test_so_are_the_lines_that_are_no_events(name: str) -> None:
    """Header, heads and receipt: the line is named."""
    count = len(lines_of())
    at, _ = LINES[name]
    with pytest.raises(Malformed, match=rf"^line {at % count + 1}: "):
        read_proof(relined(name))


@given(rewritings())
@steady(600)
def test_many_lines_at_once_are_read_only_where_each_may_be_read(found: tuple[int, bytes]) -> None:
    """Given a line spoilt in its writing, what is read at once, by the kernel or without, is what the line is read as alone."""
    number, line = found
    try:
        alone: e.Event | None = read_published(line) if is_numbered(number, line) else None
    except CorruptLog:
        alone = None
    for available in WAYS:
        with patch.object(kernel, "AVAILABLE", available):
            together = all_at_once([line], number)
        assert together in (None, [alone])


@given(rewritings())
@steady(600)
def test_what_the_kernel_calls_plain_is_plain(found: tuple[int, bytes]) -> None:
    """It may say less than `read_plain`, and never more."""
    number, line = found
    if kernel.are_plain(line, number):
        fields = read_plain(line)
        assert number == fields["n"]
        assert not fields.keys() & {"hidden", "v"}
        assert is_numbered(number, line)


def test_what_the_house_writes_is_read_at_once() -> None:
    """All events together, from any of them on, but for a wrong number."""
    events = [CODEC.decode(line) for line in EVENTS]
    assert events == all_at_once([*EVENTS])
    assert events[8:] == all_at_once([*EVENTS[8:]], 9)
    assert all_at_once([*EVENTS], 2) is None


def test_the_kernel_reads_no_further_than_the_end() -> None:
    """Given a line cut anywhere, then it is not plain; the bytes behind the cut would make it so."""
    line = EVENTS[NUMBER - 1]
    whole = b"\n".join(EVENTS)
    assert kernel.AVAILABLE == kernel.are_plain(whole, 1)
    assert not any(kernel.are_plain(line[:at], NUMBER) for at in range(len(line)))
    for odd in (whole + b"\n", b"\n" + whole, whole.replace(b"\n", b"\n\n", 1), b""):
        assert not kernel.are_plain(odd, 1)


@pytest.mark.parametrize("text", [b"", b" ", b"{", b'"', b"\\", b'"\\', b"tru", b"1 2", b"nan"])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    """Without an error of the program."""
    with pytest.raises(NotPlain, match="it is no JSON"):
        read_plain(text)
