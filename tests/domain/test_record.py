"""Game records replayed: where each may break off, and which fault is told first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.records import HANDS, PLAYS, cut, moon_record, small_record, spoil, verdict_of

# --- where it ends


def test_a_record_is_replayed_to_where_it_ends() -> None:
    """The score of each hand, the totals, and what the game waits for."""
    assert {
        "ok": True,
        "phase": "deal",
        "hand": 3,
        "points": [[0, 0, 13], [0, 0, 13]],
        "totals": [0, 0, 26],
        "winners": [],
    } == verdict_of(small_record())


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hands", {"phase": "deal", "hand": 1, "points": [], "totals": [0, 0, 0]}),
        ("hands.1", {"phase": "deal", "hand": 2, "points": [[0, 0, 13]]}),
        ("hands.1.plays", {"phase": "play", "hand": 2, "turn": 1, "legal": ["2C", "3C", "4D"]}),
        ("hands.0.points", {"phase": "deal", "points": [[0, 0, 13], [0, 0, 13]]}),
        ("hands.0.totals", {"phase": "deal", "totals": [0, 0, 26]}),
        ("winners", {"phase": "deal", "winners": []}),
    ],
)
def test_what_may_be_left_out_is_computed(path: str, expected: dict[str, Any]) -> None:
    """Scores, winners, and all that comes after some point."""
    record = small_record(winners=[])
    if path == "hands":
        record["hands"] = []
    elif path == "hands.1.plays":
        record["hands"][1] = {key: record["hands"][1][key] for key in ("deal", "kitty", "pass")}
    else:
        record = spoil(record, path, ...)
    verdict = verdict_of(record)
    assert verdict["ok"]
    assert expected == {key: verdict[key] for key in expected}


def test_a_record_may_break_off_before_the_pass() -> None:
    """The last hand is then in its pass, and nobody alone is to act."""
    record = cut(small_record(), 0)
    del record["hands"][1]["pass"]
    verdict = verdict_of(record)
    assert ("pass", 2, None, None) == tuple(verdict.get(key) for key in ("phase", "hand", "turn", "legal"))


@pytest.mark.parametrize("plays", range(9))
def test_a_record_may_break_off_after_any_play(plays: int) -> None:
    """The seat to act is told, and its legal cards, each once, sorted."""
    record = cut(small_record(), plays)
    verdict = verdict_of(record)
    assert (True, "play", 2) == (verdict["ok"], verdict["phase"], verdict["hand"])
    following = small_record()["hands"][1]["plays"][plays]
    assert following in verdict["legal"]
    assert [[0, 0, 13]] == verdict["points"]


def test_a_pending_moon_is_a_phase_of_its_own() -> None:
    """In the last hand; its seat is told, and the hand has no score yet."""
    verdict = verdict_of(spoil(moon_record(), "hands.1.moon", ...))
    assert {
        "ok": True,
        "phase": "moon",
        "hand": 2,
        "turn": 2,
        "points": [[-26, 0, 0]],
        "totals": [-26, 0, 0],
        "winners": [],
    } == verdict


def test_a_chosen_moon_counts() -> None:
    """With its choice the hand is scored."""
    verdict = verdict_of(moon_record())
    assert ([[-26, 0, 0], [26, 26, 0]], "deal") == (verdict["points"], verdict["phase"])


def test_after_a_moon_nobody_is_to_act() -> None:
    """A record that ends with a finished hand tells neither a turn nor cards, whoever shot the moon."""
    record = moon_record()
    assert {"turn", "legal"}.isdisjoint(verdict_of(record))
    record["rules"]["hand_limit"] = 2
    verdict = verdict_of(record)
    assert ("over", [0, 2]) == (verdict["phase"], verdict["winners"])
    assert {"turn", "legal"}.isdisjoint(verdict)


# --- what is wrong with it


FAULTS: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("a card dealt twice", "hands.0.deal.0", "2C 3D 3C", {"code": "deal/wrong_cards", "hand": 1}),
    ("a hand short", "hands.0.deal.0", "2C 3D", {"code": "deal/wrong_cards", "hand": 1}),
    ("a seat short", "hands.0.deal", HANDS[:2], {"code": "deal/wrong_cards", "hand": 1}),
    ("a seat more", "hands.0.deal", [*HANDS, ""], {"code": "deal/wrong_cards", "hand": 1}),
    ("no kitty", "hands.0.kitty", ..., {"code": "deal/wrong_cards", "hand": 1}),
    ("another kitty", "hands.1.kitty", "2H", {"code": "deal/wrong_cards", "hand": 2}),
    ("a pass in a hold hand", "hands.0.pass", ["2C", "3C", "4C"], {"code": "pass/not_now", "hand": 1}),
    ("empty passes in a hold hand", "hands.0.pass", ["", "", ""], {"code": "pass/not_now", "hand": 1}),
    ("no pass", "hands.1.pass", ..., {"code": "pass/missing", "hand": 2}),
    ("a pass of others' cards", "hands.1.pass.1", "2C", {"code": "pass/wrong_cards", "hand": 2, "seat": 1}),
    ("a pass too long", "hands.1.pass.2", "4C 5D", {"code": "pass/wrong_cards", "hand": 2, "seat": 2}),
    ("no cards passed", "hands.1.pass.0", "", {"code": "pass/wrong_cards", "hand": 2, "seat": 0}),
    (
        "a card not held",
        "hands.0.plays.1",
        "4C",
        {"code": "play/not_in_hand", "hand": 1, "play": 1, "seat": 1, "legal": ["3C"]},
    ),
    (
        "a suit not followed",
        "hands.0.plays.1",
        "4D",
        {"code": "play/must_follow_suit", "hand": 1, "play": 1, "seat": 1, "legal": ["3C"]},
    ),
    ("an unfinished hand", "hands.0.plays", ["2C"], {"code": "hand/unfinished", "hand": 1}),
    ("a hand unplayed", "hands.0.plays", [], {"code": "hand/unfinished", "hand": 1}),
    ("a moon where none was shot", "hands.0.moon", "add", {"code": "moon/not_now", "hand": 1}),
    ("other points", "hands.0.points", [0, 13, 0], {"code": "score/points", "hand": 1, "right": [0, 0, 13]}),
    ("other totals", "hands.1.totals", [0, 0, 27], {"code": "score/totals", "hand": 2, "right": [0, 0, 26]}),
    ("winners too early", "winners", [0], {"code": "score/winners", "right": []}),
]


@pytest.mark.parametrize(
    ("path", "value", "expected"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS]
)
def test_a_fault_is_told_with_its_place(path: str, value: Any, expected: dict[str, Any]) -> None:
    """The code, the hand, the play and the seat, as far as they apply, and nothing else that would."""
    verdict = verdict_of(spoil(small_record(), path, value))
    assert not verdict.pop("ok")
    assert verdict.pop("detail")
    assert expected == {key: verdict[key] for key in expected}
    assert verdict.keys() - expected.keys() <= {"seat", "legal"}


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


def test_a_card_after_the_last_is_told() -> None:
    """The hand is over, and no seat is to play; also where a moon is pending."""
    verdict = verdict_of(spoil(small_record(), "hands.0.plays", [*PLAYS.split(), "2C"]))
    assert ("play/hand_over", 1, 9, None, None) == tuple(
        verdict.get(key) for key in ("code", "hand", "play", "seat", "legal")
    )
    moon = spoil(moon_record(), "hands.1.moon", ...)
    moon["hands"][1]["plays"].append("2C")
    assert ("play/hand_over", 6) == (verdict_of(moon)["code"], verdict_of(moon)["play"])


def test_the_first_fault_in_game_order_is_told() -> None:
    """Deal, pass, plays, moon, points, totals, next hand, winners."""
    worst = small_record(winners=[2])
    worst["hands"][1] |= {"totals": [1, 1, 1], "points": [1, 1, 1], "moon": "add"}
    order = ["moon/not_now", "score/points", "score/totals", "score/winners"]
    for code, key in zip(order, ("moon", "points", "totals", ""), strict=True):
        assert code == verdict_of(worst)["code"]
        worst["hands"][1].pop(key, None)
    both = spoil(small_record(), "hands.1.deal.0", "2C 2C 2C")
    both["hands"][0]["points"] = [1, 2, 3]
    assert ("score/points", 1) == (verdict_of(both)["code"], verdict_of(both)["hand"])


def test_a_moon_must_be_chosen_before_the_next_hand() -> None:
    """And only where the hand is played out and somebody had the choice."""
    missing = spoil(moon_record(), "hands.0.moon", ...)
    assert ("moon/choice_missing", 1) == (verdict_of(missing)["code"], verdict_of(missing)["hand"])
    early = cut(moon_record(), 5)
    assert "moon/not_now" == verdict_of(early)["code"]
    fixed = moon_record()
    fixed["rules"] = {**fixed["rules"], "moon_effect": "add"}
    assert ("moon/not_now", 1) == (verdict_of(fixed)["code"], verdict_of(fixed)["hand"])


@pytest.mark.parametrize("key", ["points", "totals"])
def test_an_unfinished_hand_has_no_score(key: str) -> None:
    """Neither in the middle of a hand nor at a pending moon."""
    middle = cut(small_record(), 4)
    middle["hands"][1][key] = [0, 0, 0]
    assert f"score/{key}" == verdict_of(middle)["code"]
    pending = spoil(moon_record(), "hands.1.moon", ...)
    pending["hands"][1][key] = [26, 26, 0]
    assert f"score/{key}" == verdict_of(pending)["code"]


def test_the_end_of_a_game() -> None:
    """Its winners, in any order; no other; and no hand after it."""
    record = small_record()
    record["rules"]["target"] = 26
    record["rules"]["tie"] = "shared"
    for winners in ([0, 1], [1, 0], ...):
        verdict = verdict_of({**record, "winners": winners} if winners is not ... else record)
        assert (True, "over", [0, 1], 2) == tuple(verdict[key] for key in ("ok", "phase", "winners", "hand"))
    for winners in ([], [0], [0, 1, 2], [2], [0, 0, 1], [99]):
        assert "score/winners" == verdict_of({**record, "winners": winners})["code"]
    record["hands"].append(record["hands"][0])
    verdict = verdict_of(record)
    assert ("game/over", 3) == (verdict["code"], verdict["hand"])


def test_a_tie_that_is_played_out_goes_on() -> None:
    """The target is reached, and another hand is due."""
    record = small_record()
    record["rules"]["target"] = 26
    assert ("deal", 3, []) == tuple(verdict_of(record)[key] for key in ("phase", "hand", "winners"))
