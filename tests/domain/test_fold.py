"""The fold: a table from its events, and what is no table's history."""

from __future__ import annotations

import pytest

from domain import events as e
from domain.cards import parse_card
from domain.fold import MISSING_DEAL
from domain.game import decide, evolve, fold, initial, is_over
from domain.refusals import CorruptLog
from domain.variants import ruleset_of
from tests.support.states import assert_same
from tests.support.tables import dealt, open_command, opened, play, played, small_rules

HANDS = ["2C 3D 4S 5H", "3C 4D 5S 6H", "4C 5D 6S 7H", "5C 6D 7S 8H"]


def plain() -> list[e.Event]:
    """A table of persons in a hold hand, p0 to lead."""
    return dealt(small_rules(HANDS), HANDS)


def passing() -> list[e.Event]:
    """A table of persons that is to pass two cards each."""
    return dealt(small_rules(HANDS, pass_count=2, pass_cycle=[1]), HANDS)


def test_the_fold_needs_a_beginning() -> None:
    """No events are no table; a table begins with its creation, once."""
    table = plain()
    assert initial() is None
    assert not is_over(initial())
    for events in ([], table[1:], [table[0], table[0]], [*table, table[0]]):
        with pytest.raises(CorruptLog):
            fold(None, events)


def test_evolve_is_the_fold_of_one() -> None:
    """One event after another leads to the same table."""
    state = None
    events = played(plain(), "2C 3C 4C 5C 6D")
    for event in events:
        state = evolve(state, event)
    assert state is not None
    assert_same(fold(None, events), state)


@pytest.mark.parametrize(
    "event",
    [
        e.CardPlayed(seat=1, card="3C", by="player"),
        e.CardPlayed(seat=0, card="3C", by="player"),
        e.CardPlayed(seat=0, card="XX", by="player"),
        e.SeatTaken(seat=9, kind="player", player="x", bot=None, entropy_commit=None, public_key=None),
        e.CardsPassed(seat=0, cards="", by="player", hidden="ZZ"),
        e.HandDealt(hand=2, hands=(), kitty=None, hidden=e.DealtSecret(secret="", deal=("1X",), kitty="")),
    ],
)
def test_events_that_do_not_follow_are_a_corrupt_log(event: e.Event) -> None:
    """Out of turn, a card not held, no card, no such seat: no table follows from them."""
    with pytest.raises(CorruptLog):
        fold(None, [*plain(), event])


@pytest.mark.parametrize(
    "event",
    [
        e.HandDealt(hand=1, hands=(), kitty=None),
        e.CardsPassed(seat=0, cards="", by="player"),
    ],
)
def test_hidden_parts_are_needed_to_fold(event: e.Event) -> None:
    """The public part alone does not say who holds what."""
    with pytest.raises(CorruptLog, match=MISSING_DEAL):
        fold(None, [*passing(), event])


def test_play_before_a_deal_is_a_corrupt_log() -> None:
    """As is anything else of a hand that there is not."""
    for event in (
        e.PassesExchanged(hand=1),
        e.TrickEnded(seat=0),
        e.MoonChosen(seat=0, choice="add", by="bot"),
    ):
        with pytest.raises(CorruptLog):
            fold(None, [*opened(), event])


def test_a_new_server_key_is_noted() -> None:
    """Later receipts are signed with it."""
    state = fold(None, [*opened(), e.KeyRotated(server_key="cd" * 32, signature="00")])
    assert "cd" * 32 == state.server_key


def test_a_state_that_was_handed_out_does_not_change() -> None:
    """Deciding and folding work on copies of their own."""
    events = plain()
    state = fold(None, events)
    later = fold(state, decide(state, play(0, "2C")))
    assert_same(fold(None, events), state)
    assert [parse_card("2C")] == later.hand.trick  # type: ignore[union-attr]
    assert open_command().rules == ruleset_of({"variant": "basic"})
