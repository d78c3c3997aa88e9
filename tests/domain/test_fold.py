"""The fold: a table from its events, and what is no table's history."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from domain import events as e
from domain.fold import MISSING_DEAL, apply
from domain.game import fold, initial, is_over
from domain.refusals import CorruptLog
from tests.support.tables import (
    RULES_BOT,
    SECRET,
    opened,
    passing,
    plain,
)


def test_the_fold_needs_a_beginning() -> None:
    """No events are no table; a table begins with its creation, once."""
    table = plain()
    assert initial() is None
    assert not is_over(initial())
    for events in ([], table[1:], [table[0], table[0]], [*table, table[0]]):
        with pytest.raises(CorruptLog):
            fold(None, events)


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
    """Out of turn, a card not held, no card, no such seat: no table follows from them, in a fold or in place."""
    with pytest.raises(CorruptLog):
        fold(None, [*plain(), event])
    with pytest.raises(CorruptLog):
        apply(fold(None, plain()), event)


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


def test_a_table_can_be_folded_without_its_secrets() -> None:
    """Readers of the public log know the seats of a table, and neither its chain nor whom a seat is kept for."""
    table = opened(seats="prbo")
    assert isinstance(table[0], e.GameCreated)
    assert (SECRET.hex(), "p1") == (fold(None, table).chain_secret, fold(None, table).seats[1].reserved)
    public = fold(None, [replace(table[0], hidden=UNSET), *table[1:]])
    assert ("", "") == (public.chain_secret, public.seats[1].reserved)
    assert ["player", "open", "bot", "open"] == [seat.kind for seat in public.seats]
    assert RULES_BOT == public.seats[2].bot


def test_a_new_server_key_is_noted() -> None:
    """Later receipts are signed with it."""
    state = fold(None, [*opened(), e.KeyRotated(server_key="cd" * 32, signature="00")])
    assert "cd" * 32 == state.server_key
