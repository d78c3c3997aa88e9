"""Proof files of duplicate tables: what is shown before and after a hand is revealed, and what a server might forge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET

from domain import events as e
from domain.cards import format_cards
from domain.ruleset import Terms
from domain.shuffle import deal_cards, deal_seed, entropy_root
from services.proof import Report, read_proof
from services.verdicts import verify_proof
from tests.support.duplicates import FORGED, GROUP, WHENS, broken_off, duplicate, sealed_points
from tests.support.games import move_key
from tests.support.proofs import Events, at_of, changed, claim, file_of, statuses

KINDS = "ppnb"


def told(events: Any) -> Report:
    """What the file of these events shows, the bots asked again."""
    return verify_proof(read_proof(file_of(events)), rerun_bots=True)


@pytest.mark.parametrize("when", WHENS)
def test_every_claim_of_a_revealed_table_holds(when: str) -> None:
    """Given a table whose hands were revealed at once, in a later hand or after the end, then all claims hold."""
    events = duplicate(when).events
    report = told(events)
    assert {"F": "holds", "I": "holds", "R": "holds", "B": "holds"} == statuses(report)
    assert "2 hands checked to the last card" == claim(report, "R").detail
    assert claim(report, "F").detail.startswith("for seats ")


@pytest.mark.parametrize("rules", [{"variant": "cancellation", "players": 7}, {"variant": "omnibus"}])
def test_kitties_and_moons_are_judged_when_they_are_shown(rules: dict[str, Any]) -> None:
    """Given rules by which a score hangs on hidden cards, then it is judged by the reveal."""
    players = rules.get("players", 4)
    events = duplicate("late", "p" * players, **rules).events
    assert ["holds", "holds", "holds"] == [claim(told(events), name).status for name in "FIR"]


def test_what_is_sealed_is_null_and_the_group_stands_for_the_game() -> None:
    """Given a duplicate table, then its scores name no card, and entropy and deal follow from the group's id."""
    events = duplicate("at the end").events
    for one in events:
        if isinstance(one, e.HandScored):
            assert (None, None, None, None) == (one.secret, one.deal, one.kitty, one.passes)
    lock = events[at_of(events, e.GameLocked)]
    assert lock.root == entropy_root(GROUP, list(lock.entropy)).hex()
    shown = events[at_of(events, e.HandsRevealed)]
    terms = Terms(duplicate("at the end").rules)
    seed = deal_seed(bytes.fromhex(shown.secret), GROUP, 1, bytes.fromhex(lock.root))
    assert list(shown.deal) == [format_cards(hand) for hand in deal_cards(terms.deck, 4, 13, seed)[0]]


def test_a_reveal_that_has_not_come_is_told() -> None:
    """Given hands that are over and sealed, then F, R and B are not shown, and say what they wait for; nothing fails."""
    report = told(duplicate("never").events)
    words = f"the cards of hands 1, 2 are sealed until every table of group {GROUP} has finished them"
    assert report.ok
    for name in "FRB":
        found = claim(report, name)
        assert ("not shown", words, 0) == (found.status, found.detail, found.level)
        assert "every table of the group" in found.next


def test_a_reveal_that_never_comes_is_no_proof() -> None:
    """Given a game whose last hand the server keeps sealed, then F and R are not shown, whatever was revealed before."""
    events = list(duplicate("late").events)
    del events[at_of(events, e.HandsRevealed, 1)]
    report = told(events)
    words = f"the cards of hand 2 are sealed until every table of group {GROUP} has finished it"
    assert words == claim(report, "F").detail
    assert f"{words}; 1 hand checked to the last card" == claim(report, "R").detail


@pytest.mark.parametrize("when", WHENS)
@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_forged_reveals_are_found(forge: Callable[[Events], int], when: str) -> None:
    """Given a server that reveals what was not dealt, twice, too early or in another order, then F fails there."""
    events = list(duplicate(when).events)
    number = forge(events)
    found = claim(told(events), "F")
    assert ("fails", number) == (found.status, found.event)


@pytest.mark.parametrize("when", WHENS)
def test_a_forged_score_of_a_sealed_hand_is_found_when_it_is_shown(when: str) -> None:
    """Given points that do not follow from a hand that was sealed, then R fails at its score."""
    events = list(duplicate(when).events)
    number = sealed_points(events)
    found = claim(told(events), "R")
    assert ("fails", number) == (found.status, found.event)
    assert "the points are" in found.detail


def test_a_card_that_was_not_allowed_is_found_when_it_is_shown() -> None:
    """Given a play from another hand than the seat was dealt, then R fails at the play, when the cards are known."""
    events = list(duplicate("at the end").events)
    at = at_of(events, e.CardPlayed, 9)
    later = next(one for one in events[at:] if isinstance(one, e.CardPlayed) and one.seat != events[at].seat)
    other = at + events[at:].index(later)
    mine, theirs = events[at].card, later.card
    changed(events, at, card=theirs)
    changed(events, other, card=mine)
    found = claim(told(events), "R")
    assert "fails" == found.status
    assert found.event is not None
    assert found.event <= other + 1


def test_totals_that_are_no_sums_are_found_at_once() -> None:
    """Given totals that are not the sums of the points told, then R fails though the hand is sealed."""
    events = list(duplicate("never").events)
    number = changed(events, at_of(events, e.HandScored), totals=(0, 0, 0, 1))
    found = claim(told(events), "R")
    assert ("fails", number) == (found.status, found.event)


def test_signed_passes_are_judged_when_they_are_shown() -> None:
    """Given seats that sign, then the signatures of their passes come with the reveal, and one that is wrong fails there."""
    for when in WHENS:
        events = list(duplicate(when, "kkpb").events)
        keys = {seat: move_key(seat).public for seat in (0, 1)}
        found = claim(verify_proof(read_proof(file_of(events)), seat_keys=keys), "R")
        assert ("holds", 3) == (found.status, found.level)
        at = at_of(events, e.HandsRevealed)
        first, second, *rest = events[at].pass_signatures
        number = changed(events, at, pass_signatures=((first[0], second[1]), second, *rest))
        found = claim(told(events), "R")
        assert ("fails", number) == (found.status, found.event)
        assert "the signature of seat 0 for event" in found.detail


@pytest.mark.parametrize("moves", [2, 4, 30, 70])
def test_a_hand_that_was_broken_off_waits_too(moves: int) -> None:
    """Given a table that was abandoned in a hand, then its end shows no secret, and the reveal comes later."""
    sealed, shown = broken_off(moves, shown=False).events, broken_off(moves).events
    assert sealed[-1].secret is None  # type: ignore[attr-defined]
    assert "not shown" == claim(told(sealed), "F").status
    report = told(shown)
    assert report.ok, [one.line for one in report.claims]
    assert ("holds", "holds") == (claim(report, "F").status, claim(report, "R").status)
    events = list(shown)
    at = at_of(events, e.HandsRevealed, -1)
    number = changed(events, at, passes=("2C 3C 4C",) * 4)
    assert ("fails", number) == (claim(told(events), "F").status, claim(told(events), "F").event)


def test_only_a_duplicate_table_may_seal() -> None:
    """Given scores without cards at any other table, or a reveal there, then F and R fail."""
    for when, kind in (("at the end", e.HandScored), ("at once", e.HandScored)):
        events = list(duplicate(when).events)
        changed(events, 0, deal_group=UNSET)
        report = told(events)
        assert ("fails", "fails") == (claim(report, "F").status, claim(report, "R").status)
        assert at_of(events, kind) + 1 == claim(report, "R").event
    events = list(duplicate("late").events)
    changed(events, 0, anchor=None, branch=e.Branch("g-old", 7, 0))
    assert 1 == claim(told(events), "R").event
