"""What a table looks like to a seat and to a spectator, phase by phase."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from domain import commands as c
from domain import events as e
from domain.cards import format_mask, parse_cards
from domain.game import deadline, fold, to_act
from domain.shuffle import (
    commit_cards,
)
from domain.variants import ruleset_of
from domain.view import Own, View, private_part, view
from tests.support.tables import (
    RULES_BOT,
    after,
    dealt,
    give,
    hidden_hand,
    hidden_pass,
    moon_pending,
    moon_table,
    opened,
    play,
    played,
    small_rules,
)

THREE = ["2C 3D 4S", "3C 4D 5S", "4C 5D 6S"]


GIVEN = ["3D", "5S", "4C"]


def seen(events: list[e.Event], seat: int | None) -> View:
    """The table as a seat sees it."""
    return view(fold(None, events), seat)


def own(events: list[e.Event], seat: int) -> tuple[str, str, str, str]:
    """A seat's hand, what it gave, what it got, and what it may play."""
    mine = seen(events, seat).own
    assert isinstance(mine, Own)
    return (
        format_mask(mine.hand),
        format_mask(mine.given),
        format_mask(mine.received),
        format_mask(mine.legal),
    )


def three_pass() -> list[e.Event]:
    """Three persons pass a card to the left; then the lowest club opens."""
    return dealt(small_rules(THREE, "QS", pass_count=1, pass_cycle=[1], opener="forced"), THREE, "QS")


def test_seats_before_the_deal() -> None:
    """Who sits where is public; whom an open seat is kept for is not."""
    table = opened(seats="pbor")
    for reader in (None, 0):
        look = seen(table, reader)
        assert ("seats", 0, None, None, -1) == (
            look.phase,
            look.hand_number,
            look.turn,
            look.own,
            look.opener,
        )
        assert [
            ("player", "p0", None, False),
            ("bot", "", RULES_BOT, True),
            *[("open", "", None, False)] * 2,
        ] == [(seat.kind, seat.player, seat.bot, seat.ready) for seat in look.seats]
        assert "p3" not in repr(look)


def test_a_pass_stays_hidden_until_the_exchange() -> None:
    """Others see that a seat has passed; the seat itself sees what, and keeps the cards until all have."""
    table = after(three_pass(), give(0, GIVEN[0]), give(2, GIVEN[2]))
    look = seen(table, None)
    assert ("pass", 1, None) == (look.phase, look.pass_offset, look.turn)
    assert [True, False, True] == [seat.passed for seat in look.seats]
    assert [3, 3, 3] == [seat.cards for seat in look.seats]
    assert ("2C 3D 4S", "3D", "", "") == own(table, 0)
    assert ("3C 4D 5S", "", "", "") == own(table, 1)


def test_what_was_received_is_seen_after_the_exchange() -> None:
    """By its receiver alone, beside what it gave."""
    table = after(three_pass(), *(give(seat, cards) for seat, cards in enumerate(GIVEN)))
    assert ("2C 4C 4S", "3D", "4C", "2C") == own(table, 0)
    assert ("3C 3D 4D", "5S", "3D", "") == own(table, 1)
    assert ("5D 5S 6S", "4C", "5S", "") == own(table, 2)
    look = seen(table, 1)
    assert ("play", 0, 0) == (look.phase, look.turn, look.leader)


def test_legal_cards_are_shown_to_whose_turn_it_is() -> None:
    """And to nobody else."""
    table = after(three_pass(), *(give(seat, cards) for seat, cards in enumerate(GIVEN)))
    table = after(table, play(0, "2C"))
    assert ["", "3C", ""] == [own(table, seat)[3] for seat in range(3)]
    assert tuple(parse_cards("2C")) == seen(table, None).trick


def test_a_finished_trick_stands_in_the_history() -> None:
    """With its leader, its cards in order, and who took it."""
    table = after(three_pass(), *(give(seat, cards) for seat, cards in enumerate(GIVEN)))
    look = seen(played(table, "2C 3C 5D"), None)
    assert ((0, tuple(parse_cards("2C 3C 5D")), 1),) == look.history
    assert ((), 1, 1) == (look.trick, look.leader, look.turn)
    assert [(2, 0), (2, 1), (2, 0)] == [(seat.cards, seat.taken) for seat in look.seats]


def test_no_view_shows_a_hand_that_is_not_its_readers() -> None:
    """A spectator has no cards of its own, and after the end nobody has."""
    table = three_pass()
    assert seen(table, None).own is None
    assert [format_mask(seen(table, seat).own.hand) for seat in range(3)] == THREE  # type: ignore[union-attr]
    over = [*table, e.GameEnded(winners=(1,), totals=(1, 0, 2), reason="limit", secret=None)]
    assert [None] * 4 == [seen(over, seat).own for seat in (None, 0, 1, 2)]
    assert ((1,), "limit", "over", None) == (
        seen(over, 0).winners, seen(over, 0).reason, seen(over, 0).phase, seen(over, 0).turn
    )  # fmt: skip


@pytest.mark.parametrize(("hand", "told"), [(1, 1), (2, -1), (3, 2), (4, 0), (5, 1)])
def test_the_pass_is_told_as_players_call_it(hand: int, told: int) -> None:
    """1 left, -1 right, 2 across at any even number of seats, 0 hold."""
    rules = ruleset_of({"variant": "cancellation", "players": 6, "pass_cycle": [1, -1, 2, 0]})
    assert told == seen(dealt(rules, THREE * 2, hand=hand), None).pass_offset
    none = ruleset_of({"variant": "basic", "pass_count": 0})
    assert 0 == seen(dealt(none, [*THREE, "5C 6D 7S"], hand=hand), None).pass_offset


def test_scores_are_public() -> None:
    """Totals and the points of each finished hand."""
    look = seen(dealt(ruleset_of({"variant": "basic"}), [*THREE, "5C"], hand=2, totals=[1, 2, 3, 20]), None)
    assert ((1, 2, 3, 20), ((1, 2, 3, 20),), 2, 1) == (look.totals, look.hands, look.hand_number, look.opener)


def test_a_pending_moon_is_the_shooters_turn() -> None:
    """All cards are out, so that everybody knows who took them."""
    table = moon_pending()
    look = seen(table, 1)
    assert ("moon", 0, ()) == (look.phase, look.turn, look.trick)
    assert ("", "", "", "") == own(table, 0)


def test_a_seat_the_stand_in_plays_is_marked() -> None:
    """Everybody may know that its person is away."""
    table = after(dealt(small_rules(THREE), THREE), c.StandUp(player="p1", seat=1))
    assert [False, True, False] == [seat.away for seat in seen(table, 0).seats]


def test_the_deadline_is_shown() -> None:
    """Where a clock runs for a person."""
    table = dealt(small_rules(THREE), THREE, clock=20)
    assert 20_000 == seen(table, None).deadline
    assert seen(dealt(small_rules(THREE), THREE), None).deadline is None


@pytest.mark.parametrize(("effect", "end"), [("choice", [(0,), (), (), ()]), ("none", [(), (), ()])])
def test_between_the_events_of_one_command_nobody_is_to_act(effect: str, end: list[tuple[int, ...]]) -> None:
    """A table may be looked at as of any event; in the middle of a command it waits for no seat."""
    table = moon_table(effect, "", clock=5)
    start = len(table)
    table = played(table, "AH 2H 3H QS 2S 3S")
    if effect == "choice":
        table = after(table, c.ChooseMoon(who="p0", choice="add"))
    waits = []
    for cut in range(start, len(table) + 1):
        state = fold(None, table[:cut])
        waits.append(to_act(state))
        assert [view(state, 0).turn] == [*to_act(state), None][:1]
        assert (deadline(state) is None) is (to_act(state) == ())
    assert [(0,), (1,), (2,), (), (0,), (1,), (2,), (), *end] == waits


def test_an_event_tells_a_seat_its_own_cards() -> None:
    """The deal its hand, its pass what it gave, the exchange what it got, each with the key that opens it."""
    table = after(three_pass(), *(give(seat, cards) for seat, cards in enumerate(GIVEN)))
    deal = next(place for place, event in enumerate(table) if isinstance(event, e.HandDealt))
    state = fold(None, table[: deal + 1])
    for seat in range(3):
        told = private_part(state, table[deal], seat)
        assert told is not None
        assert THREE[seat] == told["cards"]
        assert hidden_hand(seat, THREE[seat]) == commit_cards(bytes.fromhex(told["key"]), told["cards"]).hex()
    for giver in range(3):
        place = deal + 1 + giver
        state = fold(None, table[: place + 1])
        told = private_part(state, table[place], giver)
        assert told is not None
        assert GIVEN[giver] == told["cards"]
        assert (
            hidden_pass(giver, GIVEN[giver]) == commit_cards(bytes.fromhex(told["key"]), GIVEN[giver]).hex()
        )
        assert [None] * 2 == [private_part(state, table[place], seat) for seat in range(3) if seat != giver]
    assert isinstance(table[-1], e.PassesExchanged)
    for seat in range(3):
        told = private_part(fold(None, table), table[-1], seat)
        giver = (seat - 1) % 3
        assert told is not None
        assert {"received", "key"} == set(told)
        assert GIVEN[giver] == told["received"]
        assert (
            hidden_pass(giver, GIVEN[giver]) == commit_cards(bytes.fromhex(told["key"]), GIVEN[giver]).hex()
        )


def test_other_events_tell_nobody_more_than_everybody() -> None:
    """Seats, plays, tricks and scores have no private part, nor has a hand without secrets."""
    table = after(three_pass(), *(give(seat, cards) for seat, cards in enumerate(GIVEN)))
    table = played(table, "2C 3C 5D")
    for place, event in enumerate(table):
        if isinstance(event, (e.HandDealt, e.CardsPassed, e.PassesExchanged)):
            continue
        assert [None] * 3 == [private_part(fold(None, table[: place + 1]), event, seat) for seat in range(3)]


def test_a_hand_without_secrets_tells_no_keys() -> None:
    """Where the deal has no secret there are no commitments to open: a seat is told its cards, and no key."""
    table = three_pass()
    deal = table[-1]
    assert isinstance(deal, e.HandDealt)
    assert isinstance(deal.hidden, e.DealtSecret)
    bare = [*table[:-1], replace(deal, hidden=replace(deal.hidden, secret=""))]
    state = fold(None, bare)
    keyed = [private_part(fold(None, table), table[-1], seat) for seat in range(3)]
    for seat, told in enumerate(keyed):
        assert told is not None
        assert {"cards": told["cards"]} == private_part(state, bare[-1], seat)
        assert {"cards", "key"} == told.keys()


def test_before_the_deal_there_is_nothing_to_tell() -> None:
    """No hand, no pass, no trick, no scores, and hearts are not broken."""
    look = seen(opened(seats="pboo"), 0)
    assert (0, 0, -1, -1, False, (), ()) == (
        look.hand_number, look.pass_offset, look.opener, look.leader, look.hearts_broken, look.trick, look.history
    )  # fmt: skip
    assert ((0, 0, 0, 0), (), (), None) == (look.totals, look.hands, look.winners, look.reason)
    assert [(0, 0, False)] * 4 == [(seat.cards, seat.taken, seat.passed) for seat in look.seats]
