"""Every hand of a game that fails is named to the server's own audit; `hearts verify` names the first fault of a claim."""

from __future__ import annotations

from domain import events as e
from services.integrity import Kept
from services.proof import Claim, read_proof
from services.verdicts import verify_throughout
from tests.support.proofs import KEY, Events, at_of, changed, claim, file_of, played, report_of
from tests.support.signing import signed_game


def throughout(events: Events) -> list[Claim]:
    """The faults of F and R, the first ones first."""
    report, more = verify_throughout(read_proof(file_of(events)), KEY.public, Kept())
    return [*(one for one in report.claims if one.status == "fails" and one.name in "FR"), *more]


def falsify(events: Events, which: int) -> int:
    """Another seat's points in a hand, and all totals to match; the number of the event."""
    at = at_of(events, e.HandScored, which)
    points = events[at].points
    changed(events, at, points=(points[0] - 1, points[1] + 1, *points[2:]))
    for place, one in enumerate(events):
        if place >= at and isinstance(one, e.HandScored | e.GameEnded):
            totals = one.totals
            changed(events, place, totals=(totals[0] - 1, totals[1] + 1, *totals[2:]))
    return at + 1


def test_points_that_were_falsified_in_two_hands_are_both_named() -> None:
    """Given two of four hands with other points, then both are, and the ones between and behind are not."""
    events: Events = list(played(hand_limit=4).events)
    numbers = [falsify(events, which) for which in (0, 2)]
    totals = events[-1].totals
    changed(events, len(events) - 1, winners=tuple(s for s in range(4) if totals[s] == min(totals)))
    found = throughout(events)
    assert [("R", number) for number in numbers] == [(one.name, one.event) for one in found]
    assert all("the points are" in one.detail for one in found)
    first = claim(report_of(file_of(events)), "R")
    assert (found[0].event, found[0].detail) == (first.event, first.detail)


def test_deals_that_were_swapped_in_two_hands_are_both_named() -> None:
    """Given two hands whose reveal is of another deal, then F and R name both."""
    events: Events = list(played(hand_limit=4).events)
    numbers = []
    for which in (1, 3):
        at = at_of(events, e.HandScored, which)
        first, second, *rest = events[at].deal
        numbers.append(changed(events, at, deal=(second, first, *rest)))
    found = throughout(events)
    assert numbers == [one.event for one in found if one.name == "F"]
    assert 2 == len([one for one in found if one.name == "R"])


def test_a_secret_that_is_wrong_is_one_fault() -> None:
    """Given the secret of another chain in a hand, then the hand that follows is not blamed for it."""
    events: Events = list(played(hand_limit=4).events)
    number = changed(events, at_of(events, e.HandScored, 1), secret="77" * 32)
    assert [("F", number)] == [(one.name, one.event) for one in throughout(events) if one.name == "F"]


def test_an_honest_game_has_no_more_faults_than_none() -> None:
    """Given nothing that was changed, and a game that is cut short, then nothing is named."""
    for moves in (None, 60):
        assert [] == throughout(list(played(moves=moves).events))


def test_an_audit_does_not_ask_for_keys() -> None:
    """It has no option for them, nor for checkpoints: given the same game, then no word of either."""
    report, _ = verify_throughout(read_proof(file_of(signed_game().events)), KEY.public, Kept())
    rules, whole = claim(report, "R"), claim(report, "I")
    assert (("holds", 2, ""), True) == (
        (rules.status, rules.level, rules.next),
        rules.detail.endswith("moves signed by seats 0, 1"),
    )
    assert "hold it to a receipt that a player kept (hearts audit --receipt)" in whole.next
    assert not any("-key" in one.line or "--checkpoint" in one.line for one in report.claims)
