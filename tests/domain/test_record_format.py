"""Game records as they are written: what is read, what is no record, and how a table is written down."""

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
from domain.record_format import parse_record, print_record, read_record, record_of, short_rules
from domain.refusals import InvalidRules, Malformed
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from tests.support.games import random_move
from tests.support.records import HANDS, PLAYS, cut, moon_record, small_record, spoil
from tests.support.tables import MOON_HANDS, after, dealt, played, small_rules

# --- reading


UNREADABLE: list[tuple[str, Any]] = [
    ("format", "hearts-record/2"),
    ("format", ...),
    ("format", None),
    ("rules", ...),
    ("rules", None),
    ("rules", "basic"),
    ("rules", []),
    ("seats", ...),
    ("seats", "abc"),
    ("seats", None),
    ("seats", [1, 2, 3]),
    ("seats.0", None),
    ("hands", ...),
    ("hands", {}),
    ("hands", None),
    ("hands.0", None),
    ("hands.0", []),
    ("hands.0.deal", ...),
    ("hands.0.deal", "2C"),
    ("hands.0.deal.0", None),
    ("hands.0.deal.0", ["2C"]),
    ("hands.0.deal.0", "2C 3X 4S"),
    ("hands.0.kitty", 0),
    ("hands.0.kitty", []),
    ("hands.0.kitty", False),
    ("hands.0.kitty", "Q"),
    ("hands.1.pass", "2C"),
    ("hands.1.pass", 0),
    ("hands.1.pass", {}),
    ("hands.1.pass", ""),
    ("hands.1.pass", ["2C", "3C"]),
    ("hands.1.pass.0", None),
    ("hands.1.pass.0", "2"),
    ("hands.0.plays", "2C 3C"),
    ("hands.0.plays", 0),
    ("hands.0.plays", {}),
    ("hands.0.plays", ""),
    ("hands.0.plays.0", None),
    ("hands.0.plays.0", 1),
    ("hands.0.plays.0", "2C 3C"),
    ("hands.0.moon", "old"),
    ("hands.0.moon", 0),
    ("hands.0.moon", []),
    ("hands.0.points", [0, 0]),
    ("hands.0.points", "0 0 13"),
    ("hands.0.points", [0, 0, 13.0]),
    ("hands.0.points", [0, 0, True]),
    ("hands.0.points", [0, 0, None]),
    ("hands.0.totals", {}),
    ("hands.0.totals", [0, 0, 0, 0]),
    ("hands.0.tricks", []),
    ("winners", "Anna"),
    ("winners", [0.5]),
    ("winners", [True]),
    ("winners", 0),
    ("comment", "no such key"),
]


@pytest.mark.parametrize(("path", "value"), UNREADABLE)
def test_what_is_no_record_is_told(path: str, value: Any) -> None:
    """Wrong types, missing parts, unknown keys and words: told with the hand they stand in, never guessed."""
    with pytest.raises(Malformed) as caught:
        parse_record(spoil(small_record(), path, value))
    if path.startswith("hands.") and path.count(".") > 1:
        assert f"hand {int(path.split('.')[1]) + 1}: " in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "", "nonsense", "[]", "null", "5", '"text"', "{}", '{"format":"hearts-record/1"', b"\xff\xfe", "[" * 100_000,
        '{"format":1}', b'{"format":"hearts-record/1","rules":{"variant":"\xff"}}',
    ],
)  # fmt: skip
def test_what_is_no_json_object_is_told(text: str | bytes) -> None:
    """Broken, nested without end, or something else."""
    with pytest.raises(Malformed):
        read_record(text)


@pytest.mark.parametrize(
    ("rules", "seats"),
    [
        ({"variant": "bridge"}, 4),
        ({}, 4),
        ({"variant": "basic"}, 3),
        ({"variant": "basic"}, 2),
        ({"variant": "standard"}, 12),
        ({"variant": "basic", "target": 0}, 4),
        ({"variant": "basic", "jokers": 2}, 4),
    ],
)
def test_rules_that_cannot_be_played_are_told_as_such(rules: dict[str, Any], seats: int) -> None:
    """With all their problems, as everywhere."""
    record = {"format": "hearts-record/1", "rules": rules, "seats": list("abcdefghijkl"[:seats]), "hands": []}
    with pytest.raises(InvalidRules):
        parse_record(record)


def test_names_and_players_must_agree() -> None:
    """The rules may name the number of seats; else it is that of the names."""
    record = {
        "format": "hearts-record/1",
        "rules": {"variant": "standard"},
        "seats": list("abcde"),
        "hands": [],
    }
    assert ruleset_of({"variant": "standard", "players": 5}) == parse_record(record).rules
    with pytest.raises(Malformed, match="5 names, and the rules have 6 players"):
        parse_record(spoil(record, "rules.players", 6))


def test_nothing_is_as_good_as_left_out() -> None:
    """Null stands for what may be left out, and an empty list for no pass or no plays."""
    record = cut(small_record(), 0, number=0)
    record["hands"][0] |= {"pass": None, "plays": None, "moon": None, "points": None, "totals": None}
    whole = parse_record(record)
    assert whole == parse_record({**record, "winners": None})
    assert whole == parse_record(spoil(spoil(record, "hands.0.pass", []), "hands.0.plays", []))
    eight = ruleset_of({"variant": "cancellation", "players": 8})
    none = {"deal": ["2C"] * 8, "kitty": None}
    record = {
        "format": "hearts-record/1",
        "rules": short_rules(eight),
        "seats": list("abcdefgh"),
        "hands": [none],
    }
    assert () == parse_record(record).hands[0].kitty


# --- writing


def test_cards_are_read_in_any_spelling_and_written_in_one() -> None:
    """Lower case and 10 are read; lists are written sorted, plays in their order."""
    record = small_record()
    record["hands"][0]["deal"][0] = "4s  3d 2c"
    record["hands"][0]["plays"][0] = "2c"
    read = parse_record(record)
    written = msgspec.json.decode(print_record(read))
    assert "2C 3D 4S" == written["hands"][0]["deal"][0]
    assert PLAYS.split() == written["hands"][0]["plays"]
    assert parse_record(small_record()).hands[1] == read_record(print_record(read)).hands[1]
    assert print_record(read) == print_record(read_record(print_record(read)))


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


def test_a_table_is_written_down_by_its_events() -> None:
    """Finished hands alone, with their scores; names where they are given, else the players' ids."""
    rules = small_rules(HANDS, "QS", hand_limit=2)
    table = played(dealt(rules, HANDS, "QS"), PLAYS)
    record = record_of(table)  # type: ignore[arg-type]
    assert ["p0", "p1", "p2"] == record["seats"]
    assert ["a", "b", "c"] == record_of(table, ["a", "b", "c"])["seats"]  # type: ignore[arg-type]
    first = small_record()["hands"][0]
    assert [first] == record["hands"]
    assert parse_record(record).rules == rules
    verdict = replay(parse_record(record))
    assert ([], "deal") == (verdict.winners, verdict.phase)


GIVEN: list[tuple[c.Who, str]] = [("p0", "QS"), (1, "2H"), ("p2", "3H")]
"""What each seat passes, seat 1 being a bot's."""


def test_a_table_of_two_hands_is_written_down_hand_by_hand() -> None:
    """Each hand with its own pass, plays and moon, seats by a person's id or a bot's name, and the winners."""
    rules = small_rules(
        MOON_HANDS, moon_effect="choice", breakers=[], hand_limit=2, pass_count=1, pass_cycle=[1]
    )
    passes = [c.PassCards(who=who, cards=tuple(parse_cards(card))) for who, card in GIVEN]
    table = played(after(dealt(rules, MOON_HANDS, seats="pbp"), *passes), "AH QS 2H 3H 2S 3S", first=0)
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


@pytest.mark.parametrize(
    ("given", "short"),
    [
        ({"variant": "basic"}, {"variant": "basic", "players": 4}),
        (
            {"variant": "standard", "players": 7, "target": 50},
            {"variant": "standard", "players": 7, "target": 50},
        ),
        (
            {"variant": "custom", "players": 3, "hand": 17, "pass_cycle": [1]},
            {"variant": "custom", "players": 3, "hand": 17, "pass_cycle": [1]},
        ),
        (
            {"variant": "omnibus", "floor": 0, "points": {"H": 1, "QS": 13, "TD": -10}},
            {"variant": "omnibus", "players": 4, "points": {"H": 1, "QS": 13, "TD": -10}, "floor": 0},
        ),
    ],
)
def test_rules_are_written_as_what_differs(given: dict[str, Any], short: dict[str, Any]) -> None:
    """From the published variant for so many seats, and read back to the same."""
    rules: RuleSet = ruleset_of(given)
    assert short == msgspec.json.decode(msgspec.json.encode(short_rules(rules)))
    assert rules == ruleset_of(short_rules(rules))
