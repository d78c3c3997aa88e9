"""Signed moves in the decider: which must be signed, which must not be, and where the signatures go."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given as examples
from hypothesis import strategies as st
from msgspec import UNSET

from domain import commands as c
from domain import events as e
from domain.bots import house_move
from domain.game import advance, fold
from domain.refusals import Refused
from domain.ruleset import RuleSet
from domain.signing import Signed, pass_signatures, require_signed, signed_move
from domain.variants import ruleset_of
from services.codec import CODEC
from tests.support.games import move_key, rule_sets, steady
from tests.support.signing import play_signed
from tests.support.tables import (
    HANDS,
    MOON_HANDS,
    PASSES,
    after,
    dealt,
    give,
    given,
    opened,
    play,
    played,
    sit,
    small_rules,
)

SIGNED = Signed(7, "5a" * 64)


def signing(events: list[e.Event], *seats: int) -> list[e.Event]:
    """The same table, at which ``seats`` have registered keys."""
    return [
        msgspec.structs.replace(event, public_key=move_key(event.seat).public)
        if isinstance(event, e.SeatTaken) and event.seat in seats
        else event
        for event in events
    ]


def table(*seats: int, step: int = 0) -> list[e.Event]:
    """A table of four that holds `HANDS`, or passes two of them each by ``step``; ``seats`` sign."""
    more = {"pass_count": 2, "pass_cycle": [step], "opener": "forced"} if step else {}
    return signing(dealt(small_rules(HANDS, **more), HANDS), *seats)


def test_a_play_carries_its_signature() -> None:
    """Given a seat with a key, when it plays and signs, then the event has what was signed at, and the signature."""
    given(table(0)).when(play(0, "2C", signed=SIGNED)).then(
        e.CardPlayed(seat=0, card="2C", by="player", signed_seq=7, signature=SIGNED.signature)
    )


def test_an_unsigned_move_of_a_signing_seat_is_refused() -> None:
    """Given a seat with a key, when it moves without a signature, then it is told what to sign."""
    refusal = given(table(0)).when(play(0, "2C")).refused("move/unsigned")
    assert all(part in refusal.hint for part in ("hearts/v1/move", '"g-1"', '"play 2C"'))
    refusal = given(table(0, step=1)).when(give(0, "3D 2C")).refused("move/unsigned")
    assert '"pass 2C 3D"' in refusal.hint


def test_a_signature_of_a_seat_without_a_key_is_refused() -> None:
    """Given a seat that registered no key, when it signs, then it is told that nothing would be checked by it."""
    given(table(0)).when(play(0, "2C", signed=SIGNED), play(1, "3C", signed=SIGNED)).refused(
        "request/invalid", says="public_key"
    )


@pytest.mark.parametrize("signed", [None, SIGNED])
def test_what_is_wrong_with_a_move_is_told_before_its_signature(signed: Signed | None) -> None:
    """Turn and legality come first: who sends the wrong card need not sign it to hear so."""
    given(table(0, 1)).when(play(1, "3C", signed=signed)).refused("play/not_your_turn")
    given(table(0, 1)).when(play(0, "KS", signed=signed)).refused("play/not_in_hand")
    given(table(0, step=1)).when(give(0, "2C", signed=signed)).refused("pass/wrong_cards")


@pytest.mark.parametrize("by", ["bot", "clock", "claim"])
def test_moves_that_the_house_makes_are_exempt(by: e.By) -> None:
    """A bot, a clock and a claim move for a signing seat without a signature."""
    assert require_signed(fold(None, table(0)), 0, by, "play 2C", None) is None


def test_the_stand_in_of_a_signing_seat_signs_nothing() -> None:
    """Given a signing seat that was handed to the bot, then the bot moves, and its event has no signature."""
    events = after(table(0), c.StandUp(player="p0", seat=0))
    move = house_move(fold(None, events), 0, 0)
    found = given(events).when(move).then(e.CardPlayed)
    assert signed_move(found[0]) is None


def test_a_moon_choice_is_signed_as_well() -> None:
    """Given a signing seat that shot the moon, then its choice must be signed, and carries the signature."""
    rules = small_rules(MOON_HANDS, moon_effect="choice", breakers=[])
    events = played(dealt(rules, MOON_HANDS), "AH 2H 3H QS 2S 3S")
    events = signing(events, 0)
    refusal = given(events).when(c.ChooseMoon(who="p0", choice="add")).refused("move/unsigned")
    assert '"moon add"' in refusal.hint
    given(events).when(c.ChooseMoon(who="p0", choice="add", signed=SIGNED)).then(
        e.MoonChosen(seat=0, choice="add", by="player", signed_seq=7, signature=SIGNED.signature), ...
    )


def passes_of(*seats: int) -> list[c.PassCards]:
    """All four passes, signed by ``seats``."""
    return [give(seat, cards, signed=SIGNED if seat in seats else None) for seat, cards in enumerate(PASSES)]


def test_a_pass_hides_its_signature_until_the_hand_is_over() -> None:
    """Given signed passes, then no public byte has them before the hand is scored, and that tells all at once."""
    events = after(table(0, 2, step=1), *passes_of(0, 2))
    public = b"".join(CODEC.encode(event, 1)[0] for event in events)
    assert SIGNED.signature.encode() not in public
    assert b"signed_seq" not in public
    state = fold(None, events)
    assert ((7, SIGNED.signature), None, (7, SIGNED.signature), None) == pass_signatures(state)
    hidden = [event.hidden for event in events if isinstance(event, e.CardsPassed)]
    assert [e.SignedPass(PASSES[0], 7, SIGNED.signature), PASSES[1]] == hidden[:2]


def test_a_hand_that_ends_shows_the_signatures_of_its_passes() -> None:
    """`hand_scored` has a pair or null for each seat; in the stored bytes they stand last."""
    rules = {"variant": "standard", "players": 4, "hand_limit": 1}
    game = play_signed(ruleset_of(rules), 3)
    score = next(event for event in game.events if isinstance(event, e.HandScored))
    assert score.pass_signatures is not UNSET
    assert [True, True, False, False] == [one is not None for one in score.pass_signatures]
    keys = list(msgspec.json.decode(CODEC.encode(score, 9)[0]))
    assert ["totals", "pass_signatures"] == keys[-2:]


@pytest.mark.parametrize(("seats", "step"), [((), 1), ((0,), 0)])
def test_there_is_nothing_to_show_where_none_can_have_signed_a_pass(
    seats: tuple[int, ...], step: int
) -> None:
    """At a table without keys, and in a hold hand, no event mentions signatures of passes."""
    assert pass_signatures(fold(None, table(*seats, step=step))) is UNSET


def test_seats_that_have_not_passed_have_no_signature() -> None:
    """Given two signing seats of which one has passed, then the other has null."""
    events = after(table(0, 2, step=1), give(0, PASSES[0], signed=SIGNED))
    assert ((7, SIGNED.signature), None, None, None) == pass_signatures(fold(None, events))
    assert (None,) * 4 == pass_signatures(fold(None, table(0, step=1)))


def test_the_key_of_a_seat_goes_with_its_player() -> None:
    """Given a seat with a key whose player stands up, then who sits there next signs only if it registers one."""
    sat = sit(0, "p0", public_key=move_key(0).public)
    events = after(opened(), sat, c.StandUp(player="p0", seat=0), sit(0, "p9"))
    assert fold(None, events).seats[0].public_key is None


@steady(25)
@examples(rule_sets(), st.integers(0, 2**32))
def test_signing_changes_nothing_else(rules: RuleSet, seed: int) -> None:
    """The same moves signed come to the same cards, points and end; every own move of a signing seat is signed."""
    signed = play_signed(rules, seed, "k" * rules.players)
    for event in signed.events:
        if isinstance(event, e.CardPlayed | e.CardsPassed | e.MoonChosen):
            assert (signed_move(event) is not None) is (event.by == "player")
    state = None
    for step in signed.steps:
        command = step.command
        if isinstance(command, c.PlayCard | c.PassCards | c.ChooseMoon):
            command = msgspec.structs.replace(command, signed=None)
        if isinstance(command, c.OpenTable):
            plans = [msgspec.structs.replace(plan, public_key=None) for plan in command.seats]
            command = msgspec.structs.replace(command, seats=tuple(plans))
        _, state = advance(state, command)
    assert state is not None
    end = signed.end
    assert (state.hands, state.totals, state.winners) == (end.hands, end.totals, end.winners)


def test_an_unsigned_move_raises_before_anything_is_decided() -> None:
    """`require_signed` refuses for the seat's own moves only."""
    state = fold(None, table(1))
    assert SIGNED == require_signed(state, 1, "player", "play 3C", SIGNED)
    with pytest.raises(Refused):
        require_signed(state, 1, "player", "play 3C", None)
