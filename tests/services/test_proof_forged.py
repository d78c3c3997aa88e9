"""Proof files by a server that cheats, and builds chain, heads and receipt anew to fit."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.cards import CARDS
from domain.refusals import CorruptLog
from domain.variants import ruleset_of
from services.proof import Report, proof_lines
from tests.support.forged_deals import FAIRNESS
from tests.support.forged_plays import RULES
from tests.support.games import play_game, stored
from tests.support.proofs import (
    KEY,
    OTHER_KEY,
    Events,
    at_of,
    changed,
    claim,
    file_of,
    played,
    report_of,
    statuses,
)


def forged(forge: Callable[[Events], int]) -> tuple[Report, int]:
    """The report on a forged game, and the event that should be named."""
    events = list(played().events)
    number = forge(events)
    return report_of(file_of(events)), number


FORGED = [*(("F", forge) for forge in FAIRNESS), *(("R", forge) for forge in RULES)]


@pytest.mark.parametrize(
    ("name", "forge"), FORGED, ids=[f"{name}-{forge.__name__}" for name, forge in FORGED]
)
def test_a_forgery_with_a_chain_that_fits_is_found(name: str, forge: Callable[[Events], int]) -> None:
    """Whatever is wrong with deals, commitments or entropy fails F, with plays or scores R, each at its event."""
    report, number = forged(forge)
    assert not report.ok
    assert claim(report, "I").status == "holds"
    assert (claim(report, name).status, claim(report, name).event) == ("fails", number)


def test_a_passed_card_that_was_not_held_fails_both() -> None:
    """Another pass at the reveal does not open its commitment, and is no pass of the hand."""
    events = list(played().events)
    at = at_of(events, e.HandScored)
    passes = events[at].passes
    changed(events, at, passes=(passes[1], *passes[1:]))
    report = report_of(file_of(events))
    assert statuses(report)["F"] == statuses(report)["R"] == "fails"
    assert claim(report, "R").event == at_of(events, e.PassesExchanged) + 1


def test_illegal_revoke_is_found_by_name() -> None:
    """A seat that could follow suit and did not is refused with the rule's own code."""
    game = played()
    events = list(game.events)
    first = at_of(events, e.CardPlayed)
    for step in game.steps:
        hand = None if step.before is None else step.before.hand
        if not isinstance(step.command, c.PlayCard) or hand is None or not hand.trick:
            continue
        led = hand.trick[0] // 13
        held = [card for card in range(52) if hand.held[hand.turn] >> card & 1]
        off = [card for card in held if card // 13 != led]
        if off and len(off) < len(held) and len(hand.history) > 2:
            at = events.index(step.events[0])
            name = next(name for name, card in CARDS.items() if card == off[0])
            number = changed(events, at, card=name)
            break
    assert at > first
    report = report_of(file_of(events))
    assert (claim(report, "R").status, claim(report, "R").event) == ("fails", number)
    assert "play/must_follow_suit" in claim(report, "R").detail


def test_an_event_of_another_form_with_heads_that_fit_fails_the_rules() -> None:
    """Numbers out of order, an unknown kind, a broken line: I holds by the server's own word, R names the event."""
    public = [entry[1] for entry in stored(played().events)]
    for line, words in (
        (public[9].replace(b'{"n":10,', b'{"n":11,'), "numbered"),
        (b'{"n":10,"t":"cards_eaten","at":0}', "cards_eaten"),
        (b'{"n":10,"t":"seat_left","at":0,"seat":1,"v":0}', "version"),
        (b'{"n":10,"t":[7],"at":0}', "called"),
        (b'{"n":10,"t":"seat_left"', "JSON object"),
        (b'{"n":10,"t":"seat_left","at":0,"seat":1,"x":' + b"[" * 9000 + b"]" * 9000 + b"}", "deep"),
        (b'{"n":10,"t":"seat_left","at":0,"seat":1,"x":"\xff"}', "UTF-8"),
        (public[9] + b" ", "numbered"),
    ):
        lines = [*public[:9], line, *public[10:]]
        data = b"".join(proof_lines([(at, one, b"") for at, one in enumerate(lines, 1)], KEY))
        report = report_of(data)
        assert not report.ok
        assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 10)
        assert words in claim(report, "R").detail
        assert claim(report, "F").status == "not shown"


ABSURD: list[e.Event] = [
    e.CardPlayed(seat=-1, card="2C", by="player"),
    e.CardPlayed(seat=99, card="2C", by="player"),
    e.CardPlayed(seat=0, card="XX", by="player"),
    e.SeatTaken(seat=99, kind="bot", player=None, bot=None, entropy_commit=None, public_key=None),
    e.SeatToBot(seat=99),
    e.TrickEnded(seat=99),
    e.HandScored(hand=1, secret=None, deal=(), kitty="", passes=None, points=(), totals=()),
    e.HandScored(hand=1, secret="zz", deal=("XX",), kitty="", passes=(), points=(), totals=()),
    e.HandScored(hand=1, secret=None, deal=None, kitty=None, passes=None, points=(), totals=()),
    e.HandsRevealed(hand=1, secret="zz", deal=("XX",), kitty="zz", passes=()),
    e.HandDealt(hand=1, hands=(), kitty="zz"),
    e.GameEnded(winners=(), totals=(), reason="target", secret="zz"),
    e.GameEnded(winners=(0,), totals=(0, 0, 0, 0), reason="target", secret=None),
    e.HandDealt(hand=2, hands=("77" * 32,) * 4, kitty=None),
]


@pytest.mark.parametrize("event", ABSURD, ids=[f"{type(one).__name__}-{at}" for at, one in enumerate(ABSURD)])
def test_absurd_events_fail_claims_and_never_the_program(event: e.Event) -> None:
    """An event of impossible seats, cards or secrets anywhere in a file ends in a failed claim."""
    events = played().events
    for at in (1, 5, 9, 10, 12, 16, 30, len(events) - 1):
        report = report_of(file_of([*events[:at], event, *events[at:]]))
        assert not report.ok


def test_the_header_must_name_the_game_and_key_of_the_first_event() -> None:
    """A header of another game or key fails R at event 1, and the chain of another game does not fit."""
    lines = file_of(played().events).splitlines(keepends=True)
    header = json.loads(lines[0])
    for other in (header | {"game": "g-other"}, header | {"server_key": OTHER_KEY.public}):
        text = json.dumps(other, separators=(",", ":")).encode() + b"\n"
        report = report_of(b"".join([text, *lines[1:]]))
        assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 1)
        assert claim(report, "I").status == "fails"


def test_rules_that_cannot_be_played_fail_at_event_one() -> None:
    """A game by an impossible rule set is refused before anything is dealt by it."""
    events = list(played().events)
    changed(events, 0, rules=msgspec.structs.replace(events[0].rules, hand=34))
    report = report_of(file_of(events))
    assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 1)
    assert "cannot be played" in claim(report, "R").detail


def test_a_proof_begins_with_the_first_event() -> None:
    """A log without its beginning has no proof file."""
    with pytest.raises(CorruptLog, match="game_created"):
        list(proof_lines(played().entries()[1:]))


def test_deals_without_the_players_entropy_fail_though_they_follow_from_the_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that deals from its secrets alone, and leaves the lock out, is found before the first play."""
    monkeypatch.setattr("domain.seating.entropy_root", lambda *_: b"")
    game = play_game(
        ruleset_of({"variant": "basic", "hand_limit": 1}), 7, kinds="pppp", server_key=KEY.public
    )
    events = list(game.events)
    at = at_of(events, e.GameLocked)
    del events[at]
    found = claim(report_of(file_of(events)), "F")
    assert (found.status, found.event) == ("fails", at + 1)


def test_a_hand_may_not_be_left_unscored() -> None:
    """Leaving out the score of a bad hand, with later totals that ignore it, fails where the next one is dealt."""
    events = list(played().events)
    at = at_of(events, e.HandScored)
    del events[at]
    later = at_of(events, e.HandScored)
    changed(events, later, totals=events[later].points)
    changed(events, 0, anchor=None)
    found = claim(report_of(file_of(events)), "R")
    assert (found.status, found.event) == ("fails", at + 1)


def test_an_imported_game_shows_no_fairness() -> None:
    """Without an anchor there is nothing that the deals were fixed by; a game that was played here has one."""
    events = list(played().events)
    changed(events, 0, anchor=None, imported=True)
    found = claim(report_of(file_of(events)), "F")
    assert (found.status, found.detail) == ("not shown", "imported")
    changed(events, 0, imported=msgspec.UNSET)
    found = claim(report_of(file_of(events)), "F")
    assert (found.status, found.event) == ("fails", 1)


BOT = e.BotName(name="rules", version="1", budget=0)


@pytest.mark.parametrize(
    ("claimed", "which", "fields"),
    [
        ("F", 0, {"chain": 0}),
        ("F", 0, {"chain": 10**9}),
        ("R", 0, {"clock": 0}),
        ("R", 0, {"at": -1}),
        ("R", 5, {"at": 1}),
        ("R", 5, {"at": 2**54}),
        ("R", 1, {"player": None}),
        ("R", 1, {"bot": BOT}),
        ("R", 1, {"public_key": "x"}),
        ("R", 4, {"bot": None}),
        ("R", 4, {"player": "p9"}),
    ],
)
def test_what_no_honest_server_writes_fails(claimed: str, which: int, fields: dict[str, object]) -> None:
    """Chains and clocks out of range, times that run back, seats of nobody, keys that are none."""
    events = list(played().events)
    events[which] = msgspec.structs.replace(events[which], **fields)
    found = claim(report_of(file_of(events)), claimed)
    assert (found.status, found.event) == ("fails", which + 1)
