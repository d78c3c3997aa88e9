"""A proof file with any one byte changed: found by whoever kept a receipt or a checkpoint, and located by the line of heads.

Each byte of a short game of every family. `make bytes` tries every other value of each; here one or two stand for them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain import events as e
from domain.shuffle import genesis_head, next_head
from services.integrity import Kept
from services.proof import read_proof
from tests.support.all_events import all_events, whole_file
from tests.support.all_events import kept_checkpoint as checkpoint_of_all
from tests.support.all_events import kept_receipt as receipt_of_all
from tests.support.byte_changes import (
    FAMILIES,
    changed,
    is_located,
    judge,
    kept_checkpoint,
    kept_receipt,
    line_starts,
    places,
    short_file,
    with_heads_anew,
)

STEP = 5
"""Of the bytes whose change fits in with the rest of the file every so many is taken."""
each_family = pytest.mark.parametrize("family", FAMILIES)


def other_values(at: int, byte: int) -> set[int]:
    """What a byte is changed to: its neighbour, which is most often as plausible, and now and then anything."""
    return {byte ^ 1, *([(byte + at) % 256] if at % 16 == 0 and at % 256 else [])}


@each_family
def test_every_byte_is_found_and_located(family: str) -> None:
    """Given a receipt that was kept, when any byte of the file is changed, then its line or event is named."""
    data, kept = short_file(family), kept_receipt(family)
    assert not judge(data, kept).refused
    missed = []
    for at, line in places(data):
        for to in other_values(at, data[at]):
            found = judge(changed(data, at, to), kept)
            if not found.refused or not is_located(data, at, to, line, found):
                missed.append((at, line, to, found))
    assert [] == missed


@each_family
def test_every_byte_is_found_where_the_heads_are_made_anew(family: str) -> None:
    """Given a receipt, or a checkpoint with the game's end, when a change is worked into the heads, then either finds it."""
    data = short_file(family)
    starts = line_starts(data)
    evidence = (kept_receipt(family), kept_checkpoint(family))
    for kept in evidence:
        assert not judge(with_heads_anew(data), kept).refused
    for at in range(starts[1] + len(family) % STEP, starts[-2], STEP):
        if data[at] == ord("\n"):
            continue  # the lines would be others, which the line of heads tells
        forged = changed(data, at, data[at] ^ 1)
        if forged.count(b"\n") > data.count(b"\n"):
            continue
        forged = with_heads_anew(forged)
        assert [True, True] == [judge(forged, kept).refused for kept in evidence], at


@each_family
def test_every_byte_of_a_receipt_in_the_file_is_found(family: str) -> None:
    """A receipt that stands in the file holds to the letter or not at all."""
    data = short_file(family, receipt=True)
    last = data.count(b"\n")
    assert not judge(data).refused
    for at, line in places(data):
        if line == last:
            found = judge(changed(data, at, data[at] ^ 1))
            assert found.refused, at
            assert is_located(data, at, data[at] ^ 1, line, found), at


@pytest.mark.parametrize("evidence", [receipt_of_all, checkpoint_of_all], ids=["receipt", "checkpoint"])
def test_every_byte_of_a_file_with_all_events_and_lines_counts(evidence: Callable[[], Kept]) -> None:
    """Given rotation, signatures, claim, moon and seats that change, when a byte is changed, then it is found and located."""
    data, kept = whole_file(), evidence()
    held = judge(data, kept)
    assert not held.refused, held
    names = {type(one) for one in all_events().events}
    assert set(e.EVENTS) - names == {e.HandsRevealed}
    missed = []
    for at, line in places(data):
        if at % 7 and b'"t":' in data[:at].rsplit(b"\n", 1)[-1][:12]:
            continue  # of the events a part, of what is signed every byte
        for to in other_values(at, data[at]):
            found = judge(changed(data, at, to), kept)
            if not found.refused or not is_located(data, at, to, line, found):
                missed.append((at, line, to, found))
    assert [] == missed


def test_a_file_made_anew_is_one_that_holds() -> None:
    """The forger of these tests makes no mistake: without evidence nothing is wrong with a file whose heads are made anew."""
    data = short_file("basic")
    at = data.index(b'"hints":true')
    forged = with_heads_anew(data[:at] + data[at:].replace(b'"hints":true', b'"hints":false', 1))
    found = judge(forged)
    assert not found.refused
    assert judge(forged, kept_receipt("basic")).refused
    assert found.report is not None
    head = genesis_head("g-test")
    for line in read_proof(forged).lines:
        head = next_head(head, line)
    assert head.hex() == found.report.head
