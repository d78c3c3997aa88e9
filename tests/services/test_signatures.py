"""Signed moves in a proof file: what an honest one shows, and every way of passing off a move that is not a seat's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec import UNSET

from domain import commands as c
from domain import events as e
from domain.commands import ABANDONED_AFTER
from domain.signing import pass_signatures, signed_move
from domain.variants import ruleset_of
from services.cli_records import verify
from services.proof import Claim, read_proof
from services.verdicts import verify_proof
from tests.support.games import Game, move_key
from tests.support.proofs import (
    Events,
    at_of,
    changed,
    claim,
    claim_of,
    file_of,
    replaced,
    report_of,
    statuses,
)
from tests.support.signing import heads_of, mark_of, play_signed, signed_game

RULES = {"variant": "standard", "players": 4, "hand_limit": 2}
PINNED = {seat: move_key(seat).public for seat in (0, 1)}


def rules_of(events: Events) -> Claim:
    """Claim R of the proof file of ``events``, whose chain and receipt are made for just these."""
    return claim_of(events, "R")


def own_play(events: Events, seat: int = 0, which: int = 0) -> int:
    """The index of a play that ``seat`` made itself."""
    return [
        at
        for at, event in enumerate(events)
        if isinstance(event, e.CardPlayed) and event.seat == seat and event.by == "player"
    ][which]


def resigned(events: Events, at: int, *, seat: int, seq: int, action: str, game: str = "g-test") -> int:
    """Let the play at index ``at`` carry a signature of the key of ``seat``; its number."""
    signed = move_key(seat).sign(game, seq, heads_of(events[:seq])[seq], action)
    return changed(events, at, signed_seq=signed.seq, signature=signed.signature)


# --- what an honest file shows


def test_the_moves_of_signing_seats_are_shown_to_be_their_own() -> None:
    """Given an honest game, then R holds, counts the signed moves, and says that the keys are not pinned."""
    game = signed_game()
    own = [event for event in game.events if signed_move(event) is not None]
    found = rules_of(list(game.events))
    assert "holds" == found.status
    assert f"{len(own)} moves signed by seats 0, 1" in found.detail
    assert "key not pinned of seats 0, 1" in found.detail


def test_a_key_that_the_reader_has_is_pinned() -> None:
    """Given the keys of some seats from elsewhere, then only the others are said to be open."""
    data = file_of(signed_game().events)
    one = claim(verify_proof(read_proof(data), seat_keys={0: PINNED[0]}), "R")
    assert ("holds", True) == (one.status, one.detail.endswith("key not pinned of seats 1"))
    both = claim(verify_proof(read_proof(data), seat_keys=PINNED), "R")
    assert ("holds", False) == (both.status, "not pinned" in both.detail)


@pytest.mark.parametrize(
    ("seat", "key", "event"), [(0, move_key(9).public, 2), (2, move_key(2).public, 4), (7, PINNED[0], 1)]
)
def test_another_key_than_the_readers_fails(seat: int, key: str, event: int) -> None:
    """A server that registers a key of its own for a seat is found by who has the player's."""
    found = claim(verify_proof(read_proof(file_of(signed_game().events)), seat_keys={seat: key}), "R")
    assert ("fails", event) == (found.status, found.event)


def test_games_without_keys_say_nothing_of_signatures() -> None:
    """Where nobody signs the report is as it was."""
    assert "sign" not in rules_of(list(play_signed(ruleset_of(RULES), 7, "ppnb", moves=80).events)).detail


@pytest.mark.parametrize("moves", [3, 9, 60])
def test_a_game_in_progress_is_checked_as_far_as_it_is_shown(moves: int) -> None:
    """Plays are checked at once, and passes when their hand is over."""
    events = list(play_signed(ruleset_of(RULES), 7, moves=moves).events)
    found = rules_of(events)
    assert "fails" != found.status
    last = at_of(events, e.HandScored) if moves > 56 else 0
    shown = [event for event in events if isinstance(event, e.CardPlayed) and signed_move(event)]
    passes = [event for event in events[:last] if isinstance(event, e.CardsPassed) and signed_move(event)]
    assert f"{len(shown) + len(passes)} moves signed" in found.detail


def test_a_stand_in_moves_without_a_signature() -> None:
    """A seat that was handed to the bot signs nothing, and the file is as good."""
    events = list(play_signed(ruleset_of(RULES), 7, away=0).events)
    found = rules_of(events)
    assert "holds" == found.status
    assert all(signed_move(event) is None for event in events if getattr(event, "seat", 0) == 0)


def test_a_claim_needs_no_signature() -> None:
    """Plays by claim are exempt."""
    events = list(signed_game().events)
    number = changed(events, own_play(events), by="claim", signed_seq=UNSET, signature=UNSET)
    found = rules_of(events)
    assert found.event != number


# --- what must not pass


def drop_a_signature(events: Events) -> int:
    """A server that loses a signature, or makes the move itself."""
    return changed(events, own_play(events, which=2), signed_seq=UNSET, signature=UNSET)


def keep_half_a_signature(events: Events) -> int:
    """A signature that does not say what was signed."""
    return changed(events, own_play(events), signed_seq=UNSET)


def play_another_card(events: Events) -> int:
    """A signature of another card than the one that lies on the table."""
    at = own_play(events, which=3)
    return resigned(events, at, seat=0, seq=mark_of(events[:at]), action="play 2C")


def sign_by_another_seat(events: Events) -> int:
    """The signature of seat 1 for a move of seat 0."""
    at = own_play(events, seat=0, which=1)
    return resigned(events, at, seat=1, seq=mark_of(events[:at]), action=f"play {events[at].card}")


def sign_for_another_game(events: Events) -> int:
    """A signature that was given at another table."""
    at = own_play(events)
    action = f"play {events[at].card}"
    return resigned(events, at, seat=0, seq=mark_of(events[:at]), action=action, game="g-other")


def sign_another_history(events: Events) -> int:
    """A signature by the head of another event than it says."""
    at = own_play(events, seat=1, which=1)
    mark = mark_of(events[:at])
    signed = move_key(1).sign("g-test", mark, heads_of(events[:mark])[mark - 1], f"play {events[at].card}")
    return changed(events, at, signed_seq=mark, signature=signed.signature)


def sign_before_the_trick(events: Events) -> int:
    """A signature that was right, one event too early: it would serve for a move of the trick before."""
    at = own_play(events, which=2)
    seq = mark_of(events[:at]) - 1
    return resigned(events, at, seat=0, seq=seq, action=f"play {events[at].card}")


def sign_before_the_hand(events: Events) -> int:
    """An old signature of the same card, from the hand before, used again."""
    at = own_play(events, which=14)
    seq = at_of(events, e.HandDealt, 1)
    return resigned(events, at, seat=0, seq=seq, action=f"play {events[at].card}")


def sign_the_future(events: Events) -> int:
    """A signature at the move's own event."""
    at = own_play(events)
    signed = move_key(0).sign("g-test", at + 1, bytes(32), f"play {events[at].card}")
    return changed(events, at, signed_seq=at + 1, signature=signed.signature)


def use_an_old_signature(events: Events) -> int:
    """The signature of an earlier move, with its event."""
    old, at = own_play(events), own_play(events, which=1)
    return changed(events, at, signed_seq=events[old].signed_seq, signature=events[old].signature)


def write_nonsense(events: Events) -> int:
    """A signature that is no hex."""
    return changed(events, own_play(events), signature="zz")


def write_capitals(events: Events) -> int:
    """The same signature spelt another way."""
    at = own_play(events)
    return changed(events, at, signature=events[at].signature.upper())


def sign_for_a_seat_without_a_key(events: Events) -> int:
    """A signature where there is nothing to check it by."""
    return changed(events, own_play(events, seat=2), signed_seq=5, signature="5a" * 64)


def register_what_is_no_point(events: Events) -> int:
    """A key that nobody can sign for."""
    return changed(events, 1, public_key="02" + "00" * 31)


def register_a_weak_point(events: Events) -> int:
    """A key that anybody can sign for."""
    return changed(events, 1, public_key="01" + "00" * 31)


def give_a_bot_a_key(events: Events) -> int:
    """A house bot that is said to sign."""
    return changed(events, 4, public_key=move_key(3).public)


def forget_the_passes(events: Events) -> int:
    """A server that drops the signatures of all passes."""
    return changed(events, at_of(events, e.HandScored), pass_signatures=UNSET)


def forget_one_pass(events: Events) -> int:
    """A server that passed for one seat."""
    at = at_of(events, e.HandScored)
    return changed(events, at, pass_signatures=replaced(events[at].pass_signatures, 1, None))


def swap_two_passes(events: Events) -> int:
    """The signatures of two seats, each at the other's."""
    at = at_of(events, e.HandScored)
    first, second, *rest = events[at].pass_signatures
    return changed(events, at, pass_signatures=(second, first, *rest))


def repeat_an_old_pass(events: Events) -> int:
    """The signature of the pass of the hand before."""
    first, at = at_of(events, e.HandScored), at_of(events, e.HandScored, 1)
    old = events[first].pass_signatures[0]
    return changed(events, at, pass_signatures=replaced(events[at].pass_signatures, 0, old))


def sign_a_pass_by_the_hand_before(events: Events) -> int:
    """A pass that was signed before its hand was dealt."""
    at, seq = at_of(events, e.HandScored, 1), at_of(events, e.HandDealt, 1)
    signed = move_key(0).sign("g-test", seq, heads_of(events[:seq])[seq], f"pass {events[at].passes[0]}")
    return changed(events, at, pass_signatures=replaced(events[at].pass_signatures, 0, tuple(signed)))


def sign_a_pass_after_it_was_made(events: Events) -> int:
    """A pass whose signature was made when the play had begun."""
    at, seq = at_of(events, e.HandScored), at_of(events, e.PassesExchanged) + 1
    signed = move_key(0).sign("g-test", seq, heads_of(events[:seq])[seq], f"pass {events[at].passes[0]}")
    return changed(events, at, pass_signatures=replaced(events[at].pass_signatures, 0, tuple(signed)))


def sign_a_pass_without_a_key(events: Events) -> int:
    """The signature of a pass of a seat that has no key."""
    at = at_of(events, e.HandScored)
    return changed(events, at, pass_signatures=replaced(events[at].pass_signatures, 2, (5, "5a" * 64)))


FORGERIES: list[Callable[[Events], int]] = [
    drop_a_signature,
    keep_half_a_signature,
    play_another_card,
    sign_by_another_seat,
    sign_for_another_game,
    sign_another_history,
    sign_before_the_trick,
    sign_before_the_hand,
    sign_the_future,
    use_an_old_signature,
    write_nonsense,
    write_capitals,
    sign_for_a_seat_without_a_key,
    register_what_is_no_point,
    register_a_weak_point,
    give_a_bot_a_key,
    forget_the_passes,
    forget_one_pass,
    swap_two_passes,
    repeat_an_old_pass,
    sign_a_pass_by_the_hand_before,
    sign_a_pass_after_it_was_made,
    sign_a_pass_without_a_key,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_move_that_is_not_the_seats_own_fails_at_its_event(forge: Callable[[Events], int]) -> None:
    """Given a server that rewrites the whole chain after its forgery, then R fails, and names the event."""
    events = list(signed_game().events)
    number = forge(events)
    report = report_of(file_of(events))
    found = claim(report, "R")
    assert ("fails", number) == (found.status, found.event), found.line
    assert not report.ok


def test_the_first_fault_is_named_whatever_its_kind() -> None:
    """Given a wrong signature before and another after a breach of the rules, then the earliest of all is told."""
    events = list(signed_game().events)
    ended = at_of(events, e.TrickEnded, 4)
    changed(events, ended, seat=(events[ended].seat + 1) % 4)
    later = own_play(events, which=8)
    changed(events, later, signature="00" * 64)
    assert later > ended
    assert rules_of(events).event == ended + 1
    early = own_play(events, which=1)
    changed(events, early, signature="00" * 64)
    assert rules_of(events).event == early + 1


# --- a game that ends in the middle of a hand


def abandoned(game: Game, **fields: Any) -> Events:
    """The events of a game that is abandoned where it stands."""
    state = game.end
    assert state.hand is not None
    end = e.GameEnded(
        at=game.events[-1].at + ABANDONED_AFTER * 1000,
        winners=(),
        totals=tuple(state.totals),
        reason="abandoned",
        secret=state.hand.secret,
        pass_signatures=pass_signatures(state),
    )
    return [*game.events, msgspec.structs.replace(end, **fields)]


@pytest.mark.parametrize("moves", [2, 4, 9, 61, 70])
def test_an_abandoned_hand_shows_its_passes_signed(moves: int) -> None:
    """`game_ended` reveals the signatures of the passes of a hand that was broken off, also where not all had passed."""
    events = abandoned(play_signed(ruleset_of(RULES), 7, moves=moves))
    assert {"F": "holds", "I": "holds", "R": "holds", "B": "not shown"} == statuses(
        report_of(file_of(events))
    )
    own = [event for event in events if signed_move(event) is not None]
    assert f"{len(own)} moves signed" in rules_of(events).detail


def test_an_abandoned_hand_with_a_pass_unsigned_fails() -> None:
    """A server cannot get round a signature by breaking the hand off."""
    game = play_signed(ruleset_of(RULES), 7, moves=9)
    events = abandoned(game, pass_signatures=UNSET)
    assert ("fails", len(events)) == (rules_of(events).status, rules_of(events).event)
    signatures = pass_signatures(game.end)
    assert signatures is not UNSET
    events = abandoned(game, pass_signatures=replaced(signatures, 0, (*(signatures[0] or (0, ""))[:1], "00")))
    assert ("fails", len(events)) == (rules_of(events).status, rules_of(events).event)


def test_every_signed_move_of_a_game_counts() -> None:
    """Dropping any one signature of a play is found, at that play."""
    game = signed_game()
    for at, step in enumerate(game.steps):
        command = step.command
        if at % 9 == 0 and isinstance(command, c.PlayCard) and command.signed is not None:
            events = list(game.events)
            where = next(i for i, event in enumerate(events) if event is step.events[0])
            changed(events, where, signed_seq=UNSET, signature=UNSET)
            assert rules_of(events).event == where + 1


# --- the command


@pytest.fixture
def verified(tmp_path: Path) -> Callable[..., Any]:
    """`hearts verify` on the proof file of the signed game."""
    path = tmp_path / "game.ndjson"
    path.write_bytes(file_of(signed_game().events))
    return lambda *options: CliRunner().invoke(verify, [str(path), *options])


def test_the_command_takes_the_keys_of_seats(verified: Callable[..., Any]) -> None:
    """`--seat-key` pins a key, capitals or not; a seat that has another fails, with status 1."""
    right = verified("--seat-key", f"0={PINNED[0]}", "--seat-key", f"1={PINNED[1].upper()}")
    assert (0, False) == (right.exit_code, "not pinned of seats" in right.stdout), right.output
    wrong = verified("--seat-key", f"0={PINNED[1]}")
    assert 1 == wrong.exit_code
    assert "R (rules and score) FAILS at event 2: seat 0 has another key than you have" in wrong.stdout


@pytest.mark.parametrize("pair", ["0", "0=zz", "x=" + "ab" * 32, "-1=" + "ab" * 32, "=" + "ab" * 32])
def test_what_is_no_key_of_a_seat_is_wrong_usage(verified: Callable[..., Any], pair: str) -> None:
    """Nothing is said of the proof."""
    result = verified("--seat-key", pair)
    assert (2, "") == (result.exit_code, result.stdout)


def test_two_keys_for_a_seat_are_wrong_usage(verified: Callable[..., Any]) -> None:
    """Which one to compare could only be guessed."""
    assert 2 == verified(*("--seat-key", f"0={PINNED[0]}") * 2).exit_code
