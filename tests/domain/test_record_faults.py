"""What a faulty record is told, word for word, and that a moon of a record is judged by the totals before its hand.

`hearts verify` prints these sentences as they stand.
"""

from __future__ import annotations

from typing import Any

import pytest

from domain.record import Fault
from domain.record_format import short_rules
from tests.support.records import PLAYS, cut, moon_record, small_record, spoil, verdict_of
from tests.support.tables import MOON_HANDS, small_rules


def early_moon() -> dict[str, Any]:
    """A record that chooses the effect of a moon before the last card."""
    record = cut(moon_record(), 5)
    assert "moon" in record["hands"][1]
    return record


def moon_followed() -> dict[str, Any]:
    """A record with a hand after a moon that nobody has chosen the effect of."""
    return spoil(moon_record(), "hands.0.moon", ...)


def scored_early(key: str) -> dict[str, Any]:
    """A record that gives an unfinished hand a score."""
    record = cut(small_record(), 4)
    record["hands"][1][key] = [0, 0, 0]
    return record


def after_the_end() -> dict[str, Any]:
    """A record of three hands whose game was over after the first."""
    record = small_record()
    record["rules"]["target"] = 13
    record["rules"]["tie"] = "shared"
    return record


def needless_moon() -> dict[str, Any]:
    """A record that chooses though the rules fix the effect."""
    record = moon_record()
    record["rules"] = {**record["rules"], "moon_effect": "add"}
    return record


FAULTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        spoil(small_record(), "hands.1.kitty", "2H"),
        {"code": "deal/wrong_cards", "hand": 2, "detail": "the hands and the kitty are not the deck"},
    ),
    (
        spoil(small_record(), "hands.0.pass", ["2C", "3C", "4C"]),
        {"code": "pass/not_now", "hand": 1, "detail": "nothing is passed in this hand"},
    ),
    (
        spoil(small_record(), "hands.1.pass", ...),
        {"code": "pass/missing", "hand": 2, "detail": "cards were played before the pass"},
    ),
    (
        spoil(small_record(), "hands.1.pass.2", "4C 5D"),
        {
            "code": "pass/wrong_cards",
            "hand": 2,
            "seat": 2,
            "detail": "seat 2: a pass is 1 of the cards held, each copy once",
        },
    ),
    (
        spoil(small_record(), "hands.0.plays.1", "4D"),
        {
            "code": "play/must_follow_suit",
            "hand": 1,
            "play": 1,
            "seat": 1,
            "legal": ["3C"],
            "detail": "4D: seat 1 holds clubs",
        },
    ),
    (
        spoil(small_record(), "hands.0.plays", [*PLAYS.split(), "2C"]),
        {
            "code": "play/hand_over",
            "hand": 1,
            "play": 9,
            "detail": "2C: every card of the hand has been played",
        },
    ),
    (
        spoil(small_record(), "hands.0.plays", ["2C"]),
        {
            "code": "hand/unfinished",
            "hand": 1,
            "detail": "a later hand follows, and this one is not played out",
        },
    ),
    (early_moon(), {"code": "moon/not_now", "hand": 2, "detail": "the hand is not played out"}),
    (
        needless_moon(),
        {"code": "moon/not_now", "hand": 1, "detail": "nobody had to choose the effect of a moon"},
    ),
    (
        moon_followed(),
        {"code": "moon/choice_missing", "hand": 1, "detail": "who shot the moon has not chosen"},
    ),
    (
        scored_early("points"),
        {"code": "score/points", "hand": 2, "detail": "the hand is not over, so it has no score yet"},
    ),
    (
        scored_early("totals"),
        {"code": "score/totals", "hand": 2, "detail": "the hand is not over, so it has no score yet"},
    ),
    (
        spoil(small_record(), "hands.0.points", [0, 13, 0]),
        {"code": "score/points", "hand": 1, "detail": "points should be [0, 0, 13]", "right": [0, 0, 13]},
    ),
    (
        spoil(small_record(), "hands.1.totals", [0, 0, 27]),
        {"code": "score/totals", "hand": 2, "detail": "totals should be [0, 0, 26]", "right": [0, 0, 26]},
    ),
    (
        small_record(winners=[0]),
        {"code": "score/winners", "detail": "winners should be []", "right": []},
    ),
    (after_the_end(), {"code": "game/over", "hand": 2, "detail": "the game was over before this hand"}),
]


@pytest.mark.parametrize(
    ("record", "expected"), FAULTS, ids=[f"{number} {row[1]['code']}" for number, row in enumerate(FAULTS)]
)
def test_a_fault_is_told_word_for_word(record: dict[str, Any], expected: dict[str, Any]) -> None:
    """The sentence, the place as far as there is one, and nothing else."""
    assert {"ok": False, **expected} == verdict_of(record)


def test_a_fault_is_an_error_that_says_what_it_is() -> None:
    """Who meets it in a traceback reads the sentence of its verdict."""
    assert "so it is" == str(Fault("score/points", "so it is", hand=1))


# --- a moon and the totals before it


def moons(shooters: list[int], **rules: Any) -> dict[str, Any]:
    """A record of three seats with a hand a shooter, each of which takes all there is; nothing is chosen."""
    hands = []
    for number, shooter in enumerate(shooters):
        held = {(shooter + step) % 3: text.split() for step, text in enumerate(MOON_HANDS)}
        first = [held[(number + step) % 3][0] for step in range(3)]
        second = [held[(shooter + step) % 3][1] for step in range(3)]
        hands.append({"deal": [" ".join(held[seat]) for seat in range(3)], "plays": first + second})
    terms = small_rules(MOON_HANDS, **{"breakers": [], "hand_limit": None, **rules})
    return {
        "format": "hearts-record/1",
        "rules": short_rules(terms),
        "seats": ["a", "b", "c"],
        "hands": hands,
    }


def told(record: dict[str, Any]) -> tuple[Any, ...]:
    """What the game waits for, and how it stands."""
    verdict = verdict_of(record)
    return tuple(verdict.get(key) for key in ("phase", "hand", "turn", "totals"))


def test_a_record_asks_only_a_shooter_whose_total_is_high_enough() -> None:
    """Where a choice takes a total, it is that before the hand; others who shoot add to everybody else."""
    record = moons([0], moon_effect="choice", moon_choice_from=0)
    assert ("moon", 1, 0, [0, 0, 0]) == told(record)
    record = moons([0], moon_effect="choice", moon_choice_from=1)
    assert ("deal", 2, None, [0, 26, 26]) == told(record)
    record = moons([0, 1], moon_effect="choice", moon_choice_from=26)
    assert ("moon", 2, 1, [0, 26, 26]) == told(record)
    needless = spoil({**record, "hands": chosen(record)}, "rules.moon_choice_from", 27)
    assert ("moon/not_now", 2) == (verdict_of(needless)["code"], verdict_of(needless)["hand"])
    record = moons([0, 1], moon_effect="choice", moon_choice_from=27)
    assert ("deal", 3, None, [26, 26, 52]) == told(record)


def chosen(record: dict[str, Any]) -> list[dict[str, Any]]:
    """The hands of a record, the moon of the last one chosen."""
    return [*record["hands"][:-1], {**record["hands"][-1], "moon": "subtract"}]


def test_a_record_asks_only_a_shooter_who_would_lose() -> None:
    """Where a moon is a choice for who loses by it, the totals before the hand tell whether it does."""
    record = moons([0, 0, 1], moon_effect="choice_if_lost", hand_limit=3)
    assert ("moon", 3, 1, [0, 52, 52]) == told(record)
    saved = {**record, "hands": chosen(record)}
    assert ("over", 3, None, [0, 26, 52]) == told(saved)
    record = moons([0, 0, 1], moon_effect="choice_if_lost")
    assert ("deal", 4, None, [26, 52, 78]) == told(record)
    record = moons([0, 1], moon_effect="choice_if_lost", hand_limit=2)
    assert ("over", 2, None, [26, 26, 52]) == told(record)
