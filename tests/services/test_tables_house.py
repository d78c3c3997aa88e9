"""The moves of the house: bots, deadlines and clocks, on a real log."""

from __future__ import annotations

import pytest

from domain import events as e
from domain.cards import cards_of
from domain.commands import ABANDONED_AFTER, GetReady, PassCards, SeatPlan, SitDown, StandUp, TakeBack
from domain.game import fold
from domain.refusals import Refused
from domain.shuffle import commit_entropy
from domain.variants import ruleset_of
from services import owed
from services.sealed import seal, unseal
from services.store import Store
from tests.support.clock import Clock
from tests.support.handler import BOT, PERSONS, tables_on


def test_bots_play_until_a_person_must_act(log: Store, clock: Clock) -> None:
    """The house makes its bots' moves, no more, and nothing when it owes nothing."""
    tables = tables_on(log, clock)
    game = tables.open(ruleset_of({"variant": "basic"}), [PERSONS[0], BOT, BOT, BOT]).table.state.game
    assert tables.act_for_house(game).state.phase == "seats"
    tables.handle(game, GetReady(player="p0"))
    table = tables.act_for_house(game)
    hand = table.state.hand
    assert hand is not None
    assert [given is not None for given in hand.passes] == [False, True, True, True]
    assert tables.act_for_house(game).seq == table.seq
    tables.handle(game, PassCards(who="p0", cards=tuple(cards_of(hand.held[0])[:3])))
    after = tables.act_for_house(game).state
    assert after.hand is not None
    assert after.hand.turn == 0


def test_a_table_of_bots_is_played_to_the_end_in_steps(log: Store, clock: Clock) -> None:
    """A small step leaves the rest for the next; the due entry stays until the game is over."""
    tables = tables_on(log, clock)
    table = tables.open(ruleset_of({"variant": "special", "target": 20}), [BOT] * 4).table
    game, partition = table.state.game, log.keys.partition(table.state.game)
    steps = 0
    while table.state.phase != "over":
        assert log.next_due(partition) is not None
        table, steps = tables.act_for_house(game, most=50), steps + 1
    assert steps > 2
    assert log.next_due(partition) is None
    events = [event for event in unseal(seal(log.read(game))) if isinstance(event, e.CardPlayed)]
    assert {event.by for event in events} == {"bot"}


def test_bots_do_not_wait_for_a_clock_that_was_set_back(log: Store, clock: Clock) -> None:
    """Given a table whose last event is an hour ahead of the clock, then the bots' next move is due now, not in an hour."""
    tables = tables_on(log, clock)
    game = tables.open(ruleset_of({"variant": "basic"}), [PERSONS[0], BOT, BOT, BOT]).table.state.game
    clock.now -= 3_600_000
    ready = tables.handle(game, GetReady(player="p0")).table
    assert ready.at == clock.now + 3_600_000, "no event is before the one that it follows"
    assert clock.now == log.next_due(log.keys.partition(game))


def test_persons_who_have_handed_over_can_follow_the_game(
    log: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given no person plays any more, then the bots let each trick lie for a while before the next, so that one can come back."""
    monkeypatch.setattr(owed, "TRICK_MS", 2_000)
    tables = tables_on(log, clock)
    rules = ruleset_of({"variant": "basic", "pass_count": 0})
    game = tables.open(rules, [PERSONS[0], BOT, BOT, BOT], hints=False).table.state.game
    tables.handle(game, GetReady(player="p0"))
    tables.act_for_house(game)
    tables.handle(game, StandUp(player="p0", seat=0))
    first = tables.act_for_house(game)
    assert first.state.hand is not None
    for tricks in (2, 3):
        assert log.next_due(log.keys.partition(game)) == clock.now + 2_000
        clock.now += 1_999
        before = tables.act_for_house(game).state.hand
        clock.now += 1
        after = tables.act_for_house(game).state.hand
        assert before is not None
        assert after is not None
        assert (tricks - 1, tricks) == (len(before.history), len(after.history))
    tables.handle(game, TakeBack(player="p0", seat=0))
    hand = tables.act_for_house(game).state.hand
    assert hand is not None
    assert 2 == hand.number


def test_the_ready_deadline_locks_the_table(log: Store, clock: Clock) -> None:
    """The due entry is the deadline; before it the house owes nothing, after it the table is dealt."""
    tables = tables_on(log, clock)
    opened = tables.open(ruleset_of({"variant": "basic"}), PERSONS, ready_seconds=20)
    game = opened.table.state.game
    tables.handle(game, GetReady(player="p2"))
    partition = log.keys.partition(game)
    assert log.next_due(partition) == clock.now + 20_000
    clock.now += 19_999
    assert tables.act_for_house(game).state.phase == "seats"
    clock.now += 1
    table = tables.act_for_house(game)
    assert table.state.phase == "pass"
    assert log.next_due(partition) == clock.now + ABANDONED_AFTER * 1000


def test_a_clock_that_runs_out_moves_for_a_person(log: Store, clock: Clock) -> None:
    """At a table with a clock the stand-in moves at the deadline, and the event says so."""
    tables = tables_on(log, clock)
    rules = ruleset_of({"variant": "basic", "pass_count": 0})
    game = tables.open(rules, PERSONS, clock=5).table.state.game
    for seat in range(4):
        tables.handle(game, GetReady(player=f"p{seat}"))
    clock.now += 4_999
    before = tables.act_for_house(game).seq
    clock.now += 1
    assert tables.act_for_house(game).seq == before + 1
    assert b'"by":"clock"' in log.read(game)[-1][1]
    assert log.next_due(log.keys.partition(game)) == clock.now + 5_000


def test_entropy_of_a_person_enters_the_deal(log: Store, clock: Clock) -> None:
    """The opened entropy stands in the lock, and a seat reserved for a player is not another's."""
    tables = tables_on(log, clock)
    opening = bytes(range(32))
    plans = [
        SeatPlan(kind="player", player="p0", entropy_commit=commit_entropy(opening).hex()),
        SeatPlan(kind="reserved", player="p1"),
        BOT,
        BOT,
    ]
    game = tables.open(ruleset_of({"variant": "basic"}), plans).table.state.game
    with pytest.raises(Refused, match="game/full"):
        tables.handle(game, SitDown(player="p2"))
    assert tables.handle(game, SitDown(player="p1")).table.state.seats[1].player == "p1"
    with pytest.raises(Refused, match="entropy/wrong_opening"):
        tables.handle(game, GetReady(player="p0", entropy="00" * 32))
    tables.handle(game, GetReady(player="p0", entropy=opening.hex()))
    locked = tables.handle(game, GetReady(player="p1")).events[1]
    assert isinstance(locked, e.GameLocked)
    assert locked.entropy[0] == (0, "player", opening.hex())


def test_a_sealed_game_folds_to_the_same_table(log: Store, clock: Clock) -> None:
    """What is read back from the compressed proof file is the finished game."""
    tables = tables_on(log, clock)
    table = tables.open(ruleset_of({"variant": "cancellation", "target": 60}), [BOT] * 6).table
    while table.state.phase != "over":
        table = tables.act_for_house(table.state.game)
    state = fold(None, unseal(seal(log.read(table.state.game))))
    assert (state.totals, state.winners, state.hands) == (
        table.state.totals,
        table.state.winners,
        table.state.hands,
    )
