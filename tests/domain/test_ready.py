"""The decider from a full table to the deal: openings, the deadline, the lock and the cards behind it."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from domain import commands as c
from domain import events as e
from domain.cards import format_cards
from domain.game import deadline, fold, to_act
from domain.shuffle import (
    chain_link,
    commit_cards,
    commit_entropy,
    deal_cards,
    deal_seed,
    entropy_root,
    full_deck,
    hiding_key,
)
from domain.variants import ruleset_of
from tests.support.tables import (
    SECRET,
    after,
    entropy_of,
    given,
    moon_table,
    opened,
    played,
    ready,
    sit,
)


def test_entropy_is_opened_at_a_full_table_only() -> None:
    """Before that a newcomer could choose its own to fit."""
    given(opened(seats="ppbo")).when(ready(0)).refused("game/not_started")
    given(opened(seats="ppbb")).when(ready(0)).then(e.SeatReady(seat=0, entropy=entropy_of(0)))


def test_who_has_no_seat_is_not_ready() -> None:
    """And who is ready already is not ready again."""
    given(opened(seats="ppbb")).when(c.GetReady(player="x")).refused("seat/not_yours")
    given(opened(seats="ppbb")).when(ready(0), ready(0)).refused("seat/taken")


@pytest.mark.parametrize(
    "entropy",
    [
        "",
        "00" * 32,
        entropy_of(1),
        entropy_of(0).upper().replace("0", "A"),
        entropy_of(0)[:-2],
        entropy_of(0) + "00",
        f" {entropy_of(0)}",
        f"{entropy_of(0)}\n",
        "no hex",
        "é" * 64,
    ],
)
def test_an_opening_must_be_what_was_committed_to(entropy: str) -> None:
    """32 bytes in lower-case hex that hash to the seat's own commitment, nothing else."""
    given(opened(seats="ppbb")).when(c.GetReady(player="p0", entropy=entropy)).refused(
        "entropy/wrong_opening"
    )


def test_an_opening_is_written_in_lower_case() -> None:
    """One text for one value: the frozen list holds the text."""
    entropy = "ab" * 32
    commit = commit_entropy(bytes.fromhex(entropy)).hex()
    table = after(opened(seats="obbb"), sit(0, "x", entropy_commit=commit))
    upper = c.GetReady(player="x", entropy=entropy.upper())
    given(table).when(upper).refused("entropy/wrong_opening")
    given(table).when(c.GetReady(player="x", entropy=entropy)).then(e.SeatReady, ...)


@pytest.mark.parametrize("size", [0, 1, 31, 33])
def test_entropy_is_32_bytes(size: int) -> None:
    """A commitment to anything else can never be opened, for a short one could be guessed."""
    entropy = bytes(size)
    table = after(opened(seats="obbb"), sit(0, "x", entropy_commit=commit_entropy(entropy).hex()))
    given(table).when(c.GetReady(player="x", entropy=entropy.hex())).refused("entropy/wrong_opening")


def test_who_committed_to_nothing_opens_nothing() -> None:
    """Ready without entropy; an opening that was never committed to is refused."""
    table = after(opened(seats="opbb"), sit(0, "x"))
    given(table).when(c.GetReady(player="x", entropy=entropy_of(0))).refused("entropy/wrong_opening")
    given(table).when(c.GetReady(player="x")).then(e.SeatReady(seat=0, entropy=""))


def test_the_last_to_be_ready_locks_and_deals() -> None:
    """The frozen entropy has each seat's kind and opening, and the root is its hash."""
    events = given(opened(seats="ppbb")).when(ready(1), ready(0)).then(e.SeatReady, e.GameLocked, e.HandDealt)
    openings = [(0, "player", entropy_of(0)), (1, "player", entropy_of(1)), (2, "bot", ""), (3, "bot", "")]
    assert e.GameLocked(entropy=tuple(openings), root=entropy_root("g-1", openings).hex()) == events[1]


def test_the_deadline_locks_without_missing_openings() -> None:
    """Counted from the first opening; what was not opened counts as nothing and makes no event."""
    table = after(opened(seats="ppbb", ready_seconds=15), ready(1, at=1000))
    given(table).when(c.LockTable(at=15_999)).refused("game/not_started")
    events = given(table).when(c.LockTable(at=16_000)).then(e.GameLocked, e.HandDealt)
    openings = ((0, "player", ""), (1, "player", entropy_of(1)), (2, "bot", ""), (3, "bot", ""))
    assert openings == events[0].entropy  # type: ignore[attr-defined]


def test_a_later_opening_does_not_put_off_the_deadline() -> None:
    """Else those who are ready one by one could keep the others waiting."""
    table = after(opened(seats="pppb", ready_seconds=15), ready(0, at=1000), ready(1, at=14_000))
    assert 16_000 == deadline(fold(None, table))
    given(table).when(c.LockTable(at=16_000)).then(e.GameLocked, e.HandDealt)


@pytest.mark.parametrize("late", [16_000, 16_001, 10**9])
def test_who_comes_after_the_deadline_opens_nothing(late: int) -> None:
    """Though the lock has not come yet: nobody gets more time than the table says, whoever the house likes."""
    table = after(opened(seats="ppbb", ready_seconds=15), ready(1, at=1000))
    given(table).when(ready(0, at=late)).refused("seat/taken")
    given(table).when(ready(0, at=15_999)).then(e.SeatReady, e.GameLocked, e.HandDealt)
    given(table).when(c.LockTable(at=late)).then(e.GameLocked, e.HandDealt)


def test_a_log_in_which_somebody_opened_late_is_folded() -> None:
    """Logs from before this was refused stay what they are."""
    table = after(opened(seats="ppbb", ready_seconds=15), ready(1, at=1000))
    late = e.SeatReady(at=99_000, seat=0, entropy=entropy_of(0))
    assert [True, True] == [one.ready for one in fold(None, [*table, late]).seats[:2]]


def test_nothing_locks_before_the_first_opening() -> None:
    """However long a full table waits."""
    given(opened(seats="ppbb")).when(c.LockTable(at=10**12)).refused("game/not_started")


def test_the_table_waits_for_those_who_are_not_ready() -> None:
    """For nobody while a seat is open, then for every person who has not opened."""
    assert () == to_act(fold(None, opened(seats="ppbo")))
    assert (0, 2) == to_act(fold(None, opened(seats="pbpb")))
    assert (2,) == to_act(fold(None, after(opened(seats="pbpb"), ready(0))))


# --- the deal


def test_the_lock_deals_the_first_hand_from_the_chain_and_the_entropy() -> None:
    """Hand 1 is dealt under s_1, the link after the anchor, from what every seat contributed."""
    table = opened(seats="pppp")
    table = after(table, *(c.GetReady(player=f"p{seat}", entropy=entropy_of(seat)) for seat in range(4)))
    first = chain_link(SECRET, 64, 1)
    root = entropy_root("g-1", [(seat, "player", entropy_of(seat)) for seat in range(4)])
    hands, _ = deal_cards(full_deck(1, []), 4, 13, deal_seed(first, "g-1", 1, root))
    texts = tuple(format_cards(hand) for hand in hands)
    commitments = tuple(
        commit_cards(hiding_key(first, str(seat), "hand"), text).hex() for seat, text in enumerate(texts)
    )
    assert (
        e.HandDealt(
            hand=1,
            hands=commitments,
            kitty=None,
            hidden=e.DealtSecret(secret=first.hex(), deal=texts, kitty=""),
        )
        == table[-1]
    )


def test_the_kitty_is_committed_to_with_the_hands() -> None:
    """Seven seats of two decks leave six cards, hidden under a key of their own; eight leave none."""
    dealt_seven = opened(ruleset_of({"variant": "cancellation", "players": 7}), "b" * 7)[-1]
    assert isinstance(dealt_seven, e.HandDealt)
    assert dealt_seven.hidden is not UNSET
    assert 6 == len(dealt_seven.hidden.kitty.split())
    key = hiding_key(chain_link(SECRET, 64, 1), "kitty", "kitty")
    assert commit_cards(key, dealt_seven.hidden.kitty).hex() == dealt_seven.kitty
    dealt_eight = opened(ruleset_of({"variant": "cancellation", "players": 8}), "b" * 8)[-1]
    assert isinstance(dealt_eight, e.HandDealt)
    assert dealt_eight.hidden is not UNSET
    assert (None, "") == (dealt_eight.kitty, dealt_eight.hidden.kitty)


def test_the_next_hand_is_dealt_from_the_next_link() -> None:
    """Hand 2 is dealt under s_2, which nobody can tell from s_1."""
    table = played(moon_table("none", hand_limit=2), "3S")
    assert isinstance(table[-1], e.HandDealt)
    assert table[-1].hidden is not UNSET
    assert (2, chain_link(SECRET, 64, 2).hex()) == (table[-1].hand, table[-1].hidden.secret)
