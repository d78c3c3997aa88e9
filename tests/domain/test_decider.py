"""The decider where its parts meet: the deal behind a lock, the edge between play, moon and score, the end."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from domain import commands as c
from domain import events as e
from domain.cards import format_cards
from domain.game import deadline, fold, to_act
from domain.shuffle import (
    chain_link,
    commit_cards,
    deal_cards,
    deal_seed,
    entropy_root,
    full_deck,
    hiding_key,
)
from domain.variants import ruleset_of
from domain.view import view
from tests.support.tables import (
    RULES_BOT,
    SECRET,
    after,
    dealt,
    entropy_of,
    give,
    given,
    opened,
    play,
    played,
    small_rules,
)

# p0 wins all penalty cards with the first trick; two more tricks follow.
SOON = ["AH 2C 3C", "2H 4C 5C", "3H 6C 7C"]


def soon(effect: str = "choice") -> list[e.Event]:
    """A table at which p0 has every penalty card while two tricks are still to be played."""
    rules = small_rules(SOON, moon_effect=effect, breakers=[], hand_limit=2)
    return played(dealt(rules, SOON), "AH 2H 3H")


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


@pytest.mark.parametrize("cycle", [1, -1])
def test_nobody_leads_before_the_exchange(cycle: int) -> None:
    """During the pass no view says who holds the lowest club: the lead is given once the cards have changed hands."""
    rules = small_rules(SOON, opener="forced", pass_count=1, pass_cycle=[cycle])
    table = dealt(rules, SOON)
    for seat in (None, 0, 1, 2):
        look = view(fold(None, table), seat)
        assert ("pass", -1, None) == (look.phase, look.leader, look.turn)
    table = after(table, give(0, "2C"), give(1, "2H"))
    assert -1 == view(fold(None, table), None).leader
    look = view(fold(None, after(table, give(2, "3H"))), None)
    assert ("play", cycle % 3, cycle % 3) == (look.phase, look.leader, look.turn)


def test_the_next_hand_is_dealt_from_the_next_link() -> None:
    """Hand 2 is dealt under s_2, which nobody can tell from s_1."""
    table = played(soon("none"), "2C 4C 6C 7C 3C 5C")
    assert isinstance(table[-1], e.HandDealt)
    assert table[-1].hidden is not UNSET
    assert (2, chain_link(SECRET, 64, 2).hex()) == (table[-1].hand, table[-1].hidden.secret)


def test_a_moon_is_chosen_after_the_last_trick() -> None:
    """Who has all penalty cards early plays on first: the choice may not come before the hand is over."""
    table = soon()
    assert ("play", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
    given(table).when(c.ChooseMoon(who="p0", choice="add")).refused("moon/not_now", says="nobody")
    table = played(table, "2C 4C 6C")
    given(table).when(c.ChooseMoon(who="p0", choice="subtract")).refused("moon/not_now", says="nobody")
    table = played(table, "7C 3C 5C")
    assert ("moon", (0,)) == (fold(None, table).phase, to_act(fold(None, table)))
    given(table).when(c.ChooseMoon(who="p0", choice="subtract")).then(
        e.MoonChosen(seat=0, choice="subtract", by="player"), e.HandScored, e.HandDealt
    )


def test_without_a_shooter_nobody_is_asked() -> None:
    """Where the rules leave a moon to its shooter but two seats took penalty cards, the hand is scored at once."""
    hands = ["2H AC", "AH 4C", "3H 5H"]
    table = played(dealt(small_rules(hands, moon_effect="choice", breakers=[]), hands), "2H AH 3H 4C 5H")
    events = given(table).when(play(0, "AC")).then(e.CardPlayed, e.TrickEnded, e.HandScored, e.GameEnded)
    assert isinstance(events[2], e.HandScored)
    assert (1, 3, 0) == events[2].points


@pytest.mark.parametrize("cards", ["", "AH", "AH 2H 3H", "AH 2H 3H 2C 4C 6C 7C 3C 5C"])
def test_an_abandoned_game_waits_for_nobody(cards: str) -> None:
    """However far its hand was: no seat is to act, no clock runs, no hand is shown, no command is taken."""
    rules = small_rules(SOON, moon_effect="choice", breakers=[])
    table = played(dealt(rules, SOON, clock=5), cards)
    table.append(e.GameEnded(winners=(), totals=(0, 0, 0), reason="abandoned", secret="00" * 32))
    state = fold(None, table)
    assert ((), None) == (to_act(state), deadline(state))
    for seat in (None, 0, 1, 2):
        look = view(state, seat)
        assert ("over", "abandoned", (), None, None) == (
            look.phase, look.reason, look.winners, look.turn, look.own
        )  # fmt: skip
    for command in (play(0, "2C"), play(1, "2H"), c.ChooseMoon(who="p0", choice="add")):
        given(table).when(command).refused("game/over")


@pytest.mark.parametrize("command", [c.StandUp(player="", seat=1), c.TakeBack(player="", seat=1)])
def test_a_bots_seat_belongs_to_nobody(command: Any) -> None:
    """Nor does an open one: a player without a name is not its owner."""
    given(opened(seats="pbob")).when(command).refused("seat/not_yours")
    given(opened(seats="pobb")).when(command).refused("seat/not_yours")


def test_a_table_can_be_folded_without_its_secrets() -> None:
    """Readers of the public log know the seats of a table, and neither its chain nor whom a seat is kept for."""
    table = opened(seats="prbo")
    assert isinstance(table[0], e.GameCreated)
    assert (SECRET.hex(), "p1") == (fold(None, table).chain_secret, fold(None, table).seats[1].reserved)
    public = fold(None, [replace(table[0], hidden=UNSET), *table[1:]])
    assert ("", "") == (public.chain_secret, public.seats[1].reserved)
    assert ["player", "open", "bot", "open"] == [seat.kind for seat in public.seats]
    assert RULES_BOT == public.seats[2].bot


def test_a_forfeited_choice_is_made_by_the_clock_or_the_bot() -> None:
    """The house may choose for a seat in time trouble; a bot may only for a seat it plays (decision 6)."""
    table = played(soon(), "2C 4C 6C 7C 3C 5C")
    given(table).when(c.ChooseMoon(who=0, choice="add", by="bot")).refused("seat/not_yours")
    given(table).when(c.ChooseMoon(who=0, choice="add", by="clock")).then(
        e.MoonChosen(seat=0, choice="add", by="clock"), e.HandScored, e.HandDealt
    )
    away = after(table, c.StandUp(player="p0", seat=0))
    given(away).when(c.ChooseMoon(who="p0", choice="add")).refused("seat/not_yours")
    given(away).when(c.ChooseMoon(who=0, choice="subtract", by="bot")).then(
        e.MoonChosen(seat=0, choice="subtract", by="bot"), ...
    )
