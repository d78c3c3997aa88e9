"""Faults of a proof file in words for people; what the program said of them stands beside, in JSON alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from domain import events as e
from services.cli_records import verify
from tests.support.proofs import at_of, changed, claim, file_of, played, report_of


def spoilt(old: bytes, new: bytes) -> bytes:
    """A proof file in whose first score something is written otherwise."""
    lines = file_of(played().events).splitlines(keepends=True)
    at = at_of(list(played().events), e.HandScored) + 1
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new, 1)
    return b"".join(lines)


@pytest.mark.parametrize(
    ("old", "new", "words", "cause"),
    [
        (b'"totals"', b'"sums"', "hand_scored lacks what it must have (totals)", "missing required field"),
        (b'"hand":1', b'"hand":null', "hand_scored has not what it must have (hand)", "Expected `int`"),
        (b'"points":[', b'"points":["', "an event is a JSON object, and this is none", "column"),
    ],
)
def test_a_field_that_is_not_there_is_told_in_words(
    old: bytes, new: bytes, words: str, cause: str, tmp_path: Path
) -> None:
    """Given an event that cannot be read, then the line says what it lacks, and the program's own words are the cause in JSON."""
    file = tmp_path / "game.ndjson"
    file.write_bytes(spoilt(old, new))
    told = CliRunner().invoke(verify, [str(file)]).stdout
    number = at_of(list(played().events), e.HandScored) + 1
    assert f"R (rules and score) FAILS at event {number}: {words}\n" in told
    assert "`" not in told
    claims = json.loads(CliRunner().invoke(verify, ["--json", str(file)]).stdout)["claims"]
    assert cause in next(one["cause"] for one in claims if one["name"] == "R")


def test_a_seat_or_card_that_there_is_not_is_told_in_words() -> None:
    """Given an event that names no card, then that is said, and not how the program found out."""
    events = list(played().events)
    number = changed(events, at_of(events, e.CardPlayed), card="XX")
    found = claim(report_of(file_of(events)), "R")
    assert ("fails", number) == (found.status, found.event)
    assert "it names a seat or a card that there is not" == found.detail
    assert "KeyError('XX')" == found.cause
