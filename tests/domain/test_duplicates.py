"""Duplicate tables: the same hands at several of them, sealed until all have finished, and shown by nothing before."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from domain import commands as c
from domain import events as e
from domain.branch import begin_practice
from domain.game import fold
from domain.record import parse_record, replay
from domain.record_format import record_of
from domain.refusals import CorruptLog, Refused
from domain.state import State
from domain.view import is_open, view
from services.codec import CODEC
from services.revealed import restore_hidden
from services.snapshot import read_snapshot, take_snapshot
from tests.support.duplicates import GROUP, begin, broken_off, duplicate, play_on, reveal
from tests.support.games import Game, picture, stored
from tests.support.proofs import at_of


def dealt(game: Game) -> tuple[str, ...]:
    """The first deal of a table."""
    hidden = game.events[at_of(game.events, e.HandDealt)].hidden  # type: ignore[attr-defined]
    return tuple(hidden.deal)


def test_tables_of_a_group_are_dealt_the_same() -> None:
    """Given two tables of a group with one secret and nobody's entropy, then their hands are the same; other groups' are not."""
    one, other = begin("nnnb", "g-1"), begin("nnnb", "g-2")
    assert one.end.root == other.end.root
    assert dealt(one) == dealt(other)
    assert (GROUP, "g-1") == (one.end.deal_group, one.end.game)


def test_a_hand_is_sealed_until_it_is_revealed() -> None:
    """Given a hand that is over, when it is revealed, then the event has its cards, and it is not sealed any more."""
    game = begin()
    while not game.end.hands:
        play_on(game, len(game.events), moves=1)
    assert [1] == [hand.number for hand in game.end.sealed]
    scored = game.events[at_of(game.events, e.HandScored)]
    assert (None, None, None, None) == (scored.secret, scored.deal, scored.kitty, scored.passes)  # type: ignore[attr-defined]
    reveal(game)
    shown = game.events[-1]
    assert isinstance(shown, e.HandsRevealed)
    assert dealt(game) == shown.deal
    assert () == game.end.sealed


def test_hands_are_revealed_in_order_and_once() -> None:
    """Given two sealed hands, when the second, none or a hand twice is to be revealed, then it is refused."""
    game = Game(duplicate("never").rules, list(duplicate("never").steps), duplicate("never").state)
    at = game.events[-1].at
    for hand in (2, 3, 0):
        with pytest.raises(Refused, match="not the next of this table to be revealed"):
            game.do(c.RevealHand(at=at, hand=hand))
    reveal(game)
    with pytest.raises(Refused):
        game.do(c.RevealHand(at=at, hand=1))
    reveal(game)
    with pytest.raises(CorruptLog):
        fold(game.end, [game.events[-1]])


def test_a_table_of_no_group_has_nothing_to_reveal() -> None:
    """Its hands are shown with their scores."""
    game = duplicate("at once")
    assert () == game.end.sealed
    with pytest.raises(Refused):
        Game(game.rules, list(game.steps), game.state).do(c.RevealHand(at=game.events[-1].at, hand=1))


# --- nothing leaks


def sealed_game() -> Game:
    """A game that is over, its hands sealed."""
    return duplicate("never")


def test_nothing_is_open_while_it_is_sealed() -> None:
    """Given a game that is over, then the hands of its past are open only when they were revealed."""
    now, shown = sealed_game().end, duplicate("at the end").end
    for step in sealed_game().steps:
        then = step.after
        assert (then.hand is None) is is_open(then, now)
        assert is_open(then, shown)


def test_no_view_of_a_game_that_is_over_has_cards() -> None:
    """Given any reader, then the view has no hand that is held or was passed."""
    for seat in (None, 0, 3):
        assert view(sealed_game().end, seat).own is None


def test_public_bytes_of_a_sealed_game_have_no_card_that_was_not_played() -> None:
    """Given the proof file of a hand that was broken off, then no card that nobody has played stands in it."""
    game = broken_off(20, shown=False)
    public = b"".join(line for _, line, _ in stored(game.events) if b'"t":"game_created"' not in line)
    played = {one.card for one in game.events if isinstance(one, e.CardPlayed)}
    hidden = {card for hand in dealt(game) for card in hand.split()} - played
    assert hidden
    assert not [card for card in hidden if f'"{card}"'.encode() in public or f" {card}".encode() in public]
    assert game.end.sealed[0].secret.encode() not in public


def test_no_practice_table_is_branched_from_sealed_hands() -> None:
    """Given a game that is over and sealed, then it is refused, and allowed when all was revealed."""
    for when, refused in (("never", True), ("late", False)):
        game = duplicate(when)
        at = at_of(game.events, e.CardPlayed, 2) + 1
        hand = game.events[at_of(game.events, e.HandDealt) : at]
        branch = e.Branch("g-test", at, 0)
        named = {"game": "g-new", "player": "p0", "server_key": "00" * 32, "at": game.events[-1].at}
        if refused:
            with pytest.raises(Refused, match=f"sealed until every table of group {GROUP}"):
                begin_practice(game.end, hand, branch, **named)  # type: ignore[arg-type]
        else:
            events, _ = begin_practice(game.end, hand, branch, **named)  # type: ignore[arg-type]
            assert UNSET is events[0].deal_group  # type: ignore[attr-defined]


# --- other ways to tell of it


@pytest.mark.parametrize("when", ["at once", "late", "at the end"])
def test_the_record_of_a_revealed_game_replays(when: str) -> None:
    """Given reveals at whatever time, then the record has all hands in order, and holds."""
    events = duplicate(when).events
    for told in (events, restore_hidden([CODEC.decode(public) for _, public, _ in stored(events)])):
        record = record_of(told)  # type: ignore[arg-type]
        verdict = replay(parse_record(record))
        assert verdict.ok, verdict
        assert 2 == len(record["hands"])


def test_a_sealed_hand_stands_in_no_record() -> None:
    """Given hands that are sealed, then a record that somebody makes nevertheless has none of their cards."""
    assert [] == record_of(sealed_game().events)["hands"]  # type: ignore[arg-type]


def test_public_events_fold_once_all_is_revealed() -> None:
    """Given the public events alone, then the table is known to its end where all was revealed."""
    public = restore_hidden([CODEC.decode(line) for _, line, _ in stored(duplicate("late").events)])
    assert picture(duplicate("late").end)["totals"] == picture(fold(None, public))["totals"]
    with pytest.raises(CorruptLog):
        fold(None, restore_hidden([CODEC.decode(line) for _, line, _ in stored(sealed_game().events)]))


def test_a_snapshot_keeps_what_is_sealed() -> None:
    """Given a table with sealed hands, then its snapshot goes on as the table does."""
    state: State = sealed_game().end
    kept = read_snapshot(take_snapshot(state, 1, bytes(32), 0, (0, b""), "k"))
    assert kept is not None
    again = kept.state()
    ticks = sealed_game().events[-1].at
    game, other = (Game(sealed_game().rules, [], one) for one in (state, again))
    for table in (game, other):
        table.do(c.RevealHand(at=ticks, hand=1))
    assert game.events == other.events
