"""Hands that OpenSpiel has played, judged by our rules: the same turns, the same legal cards, the same points.

`make_openspiel` has recorded them. OpenSpiel counts 26 less the points of a seat.
"""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from domain.cards import distinct_cards, format_cards, mask_of, parse_card, parse_cards
from domain.record import parse_record, replay
from domain.rules import find_opener, legal_plays, trick_winner
from domain.ruleset import terms_of
from domain.state import HandState
from domain.variants import ruleset_of

FILE: Final = Path(__file__).with_name("openspiel.ndjson.z")
CYCLES: Final = {"none": [0], "left": [1], "right": [-1], "across": [2]}


@cache
def recorded() -> list[dict[str, Any]]:
    """The hands."""
    return [msgspec.json.decode(line) for line in zlib.decompress(FILE.read_bytes()).splitlines()]


def rules_of(hand: dict[str, Any]) -> dict[str, Any]:
    """OpenSpiel's flags as a rule set."""
    flags = hand["flags"]
    rules: dict[str, Any] = {"variant": "custom", "pass_cycle": CYCLES[hand["direction"]]}
    if not flags.get("no_pts_on_first_trick", True):
        rules["trick1_ban"] = []
    rules["breakers"] = ["H", "QS"] if flags.get("qs_breaks_hearts", True) else ["H"]
    if not flags.get("must_break_hearts", True):
        rules["breakers"] = []
    if flags.get("can_lead_hearts_instead_of_qs"):
        rules["qs_hearts_lead"] = "any"
    if flags.get("jd_bonus"):
        rules["points"] = {"H": 1, "QS": 13, "JD": -10}
    if flags.get("avoid_all_tricks_bonus"):
        rules["no_trick_points"] = -5
    return rules


def test_every_flag_was_played() -> None:
    """Each choice of flags has hands with a moon and hands without, and each way to pass."""
    flags = {str(hand["flags"]) for hand in recorded()}
    assert len(flags) == 8
    moons = {str(hand["flags"]) for hand in recorded() if sorted(hand["returns"])[:3] == [0, 0, 0]}
    assert moons == flags
    assert {hand["direction"] for hand in recorded()} == set(CYCLES)


@pytest.mark.parametrize("part", range(8))
def test_turns_and_legal_cards_are_the_same(part: int) -> None:
    """At every play of every hand."""
    for hand in recorded()[part::8]:
        terms = terms_of(ruleset_of(rules_of(hand)))
        table = HandState(
            1, terms.pass_offset(1), 0, [mask_of(parse_cards(text)) for text in hand["deal"]], 0
        )
        if hand["pass"] is not None:
            table.passes = [mask_of(parse_cards(text)) for text in hand["pass"]]
            table.exchange()
        table.lead_with(*find_opener(terms, table))
        for seat, legal, card in zip(hand["turns"], hand["legal"], hand["plays"], strict=True):
            assert (seat, legal) == (
                table.turn,
                format_cards(distinct_cards(legal_plays(terms, table))),
            )
            table.lay(parse_card(card), terms.breakers)
            if table.turn < 0:
                table.take(trick_winner(terms, table.leader, table.trick), terms, [])


@pytest.mark.parametrize("part", range(8))
def test_points_are_the_same(part: int) -> None:
    """Moons, the jack of diamonds and seats without a trick included."""
    for hand in recorded()[part::8]:
        dealt: dict[str, Any] = {"deal": hand["deal"], "plays": hand["plays"]}
        if hand["pass"] is not None:
            dealt["pass"] = hand["pass"]
        record = {
            "format": "hearts-record/1",
            "rules": rules_of(hand),
            "seats": ["north", "east", "south", "west"],
            "hands": [dealt],
        }
        verdict = replay(parse_record(record))
        assert verdict.ok
        assert verdict.points == [[26 - value for value in hand["returns"]]]
