"""Game records of several hands: uneven deals, moons, and what is written down of a table and read again."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.cards import parse_cards
from domain.game import fold, is_over
from domain.record import replay
from domain.record_format import parse_record, print_record, read_record, record_of
from tests.support.games import random_move
from tests.support.records import moon_record, small_record, spoil
from tests.support.tables import after, dealt, played, small_rules

GIVEN: list[tuple[c.Who, str]] = [("p0", "QS"), (1, "2H"), ("p2", "3H")]
"""What each seat passes, seat 1 being a bot's."""


def verdict_of(record: object) -> dict[str, Any]:
    """What replaying a record says of it."""
    return dict(msgspec.to_builtins(replay(parse_record(record))))


@pytest.mark.parametrize(
    ("deal", "kitty"),
    [
        (["2C 3D 4S 3C", "4D 5S", "4C 5D 6S"], "QS"),
        (["2C 3D 4S QS", "3C 4D 5S", "4C 5D 6S"], ""),
        (["2C 3D", "3C 4D 5S", "4C 5D 6S"], "QS 4S"),
        (["2C 3D 4S 3C 4D 5S", "", "4C 5D 6S"], "QS"),
        (["2C 3D 4S", "3C 4D 5S"], "QS 4C 5D 6S"),
    ],
)
def test_the_whole_deck_in_the_wrong_hands_is_no_deal(deal: list[str], kitty: str) -> None:
    """Each seat is dealt as many cards as the rules say, and the kitty gets no other number."""
    record = spoil(spoil(small_record(), "hands.0.deal", deal), "hands.0.kitty", kitty)
    verdict = verdict_of(record)
    assert ("deal/wrong_cards", 1) == (verdict["code"], verdict["hand"])


def test_after_a_moon_nobody_is_to_act() -> None:
    """A record that ends with a finished hand tells neither a turn nor cards, whoever shot the moon."""
    record = moon_record()
    assert {"turn", "legal"}.isdisjoint(verdict_of(record))
    record["rules"]["hand_limit"] = 2
    verdict = verdict_of(record)
    assert ("over", [0, 2]) == (verdict["phase"], verdict["winners"])
    assert {"turn", "legal"}.isdisjoint(verdict)
    pending = verdict_of(spoil(record, "hands.1.moon", ...))
    assert ("moon", 2) == (pending["phase"], pending["turn"])
    assert "legal" not in pending


def test_a_record_is_read_as_it_was_written() -> None:
    """Hands, passes, kitties, moons, scores and winners: nothing is lost, and writing it again changes nothing."""
    for record in (small_record(winners=[]), moon_record(winners=[0, 2])):
        read = parse_record(record)
        again = read_record(print_record(read))
        assert print_record(read) == print_record(again)
        assert (read.rules, read.seats, read.winners) == (again.rules, again.seats, again.winners)
        written = msgspec.json.decode(print_record(read))
        assert record["winners"] == written["winners"]
        assert record["seats"] == written["seats"]
        for hand, one in zip(record["hands"], written["hands"], strict=True):
            assert {"deal", "plays"} <= one.keys()
            assert hand.keys() == one.keys()
            for key in hand.keys() - {"deal", "pass"}:
                assert hand[key] == one[key]


def test_a_table_of_two_hands_is_written_down_hand_by_hand() -> None:
    """Each hand with its own pass, plays and moon, seats by a person's id or a bot's name, and the winners."""
    hands = ["AH QS", "2H 2S", "3H 3S"]
    rules = small_rules(hands, moon_effect="choice", breakers=[], hand_limit=2, pass_count=1, pass_cycle=[1])
    passes = [c.PassCards(who=who, cards=tuple(parse_cards(card))) for who, card in GIVEN]
    table = played(after(dealt(rules, hands, seats="pbp"), *passes), "AH QS 2H 3H 2S 3S", first=0)
    table = after(table, c.ChooseMoon(who="p0", choice="subtract"))
    first_hand = len(table)
    rng = Random(0)
    while not is_over(fold(None, table)):
        table = after(table, random_move(fold(None, table), rng))
    record = record_of(table)  # type: ignore[arg-type]
    assert ["p0", "rules", "p2"] == record["seats"]
    assert {
        "deal": ["QS AH", "2S 2H", "3S 3H"],
        "pass": ["QS", "2H", "3H"],
        "plays": ["AH", "QS", "2H", "3H", "2S", "3S"],
        "moon": "subtract",
        "points": [-26, 0, 0],
        "totals": [-26, 0, 0],
    } == record["hands"][0]
    second = record["hands"][1]
    later = table[first_hand:]
    assert [event.card for event in later if isinstance(event, e.CardPlayed)] == second["plays"]
    assert not any(isinstance(event, e.MoonChosen) for event in later)
    assert "moon" not in second
    assert [0] == record["winners"]
    verdict = replay(parse_record(record))
    assert (True, "over", [0], fold(None, table).totals) == (
        verdict.ok, verdict.phase, verdict.winners, verdict.totals
    )  # fmt: skip
