"""Abandoned tables: a table that waits for persons who never come ends by rule, and nothing is decided for anybody."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given as drawn

from domain import commands as c
from domain import events as e
from domain.game import abandoned_at, advance, bots_owe, deadline, fold, is_over
from domain.record import parse_record, record_of, replay
from domain.refusals import Refused
from domain.rematch import open_again
from domain.ruleset import RuleSet
from domain.view import view
from tests.support.games import play_game, rule_sets, seeds, steady
from tests.support.tables import (
    HAND_SECRET,
    HANDS,
    after,
    at,
    dealt,
    given,
    moon_pending,
    open_command,
    opened,
    passing,
    plain,
    play,
    ready,
    sit,
    small_rules,
)

WEEK = 7 * 24 * 60 * 60 * 1000
HOUR = 60 * 60 * 1000


def abandon(ms: int = WEEK) -> c.AbandonTable:
    """The house would end the table."""
    return c.AbandonTable(at=ms)


def end(ms: int, secret: str | None = None, seats: int = 4) -> e.GameEnded:
    """The end of an abandoned game."""
    return e.GameEnded(at=ms, winners=(), totals=(0,) * seats, reason="abandoned", secret=secret)


def due(events: list[e.Event]) -> int | None:
    """When a table ends as abandoned."""
    state = fold(None, events)
    assert abandoned_at(state) == view(state, None).abandoned_at == view(state, 0).abandoned_at
    return abandoned_at(state)


# --- when


def test_a_table_that_nobody_fills_ends_after_a_week() -> None:
    """Given an open table, when nothing happens for a week, then it is over without winners or cards."""
    given(opened(seats="pooo")).when(abandon()).then(end(WEEK))


def test_not_a_moment_before() -> None:
    """Given the same table a millisecond earlier, then the house may not end it."""
    given(opened(seats="pooo")).when(abandon(WEEK - 1)).refused("game/not_over")


def test_the_time_is_that_of_the_table() -> None:
    """Given a table that waits an hour, then it ends after an hour; its first event says so."""
    events = opened(seats="pooo", abandon_seconds=3600)
    assert isinstance(events[0], e.GameCreated)
    assert (3600, HOUR) == (events[0].abandon_seconds, due(events))
    given(events).when(abandon(HOUR)).then(end(HOUR))


@pytest.mark.parametrize("happens", [sit(2, "p2", at=1000), c.StandUp(player="p0", seat=0, at=1000)])
def test_whatever_happens_begins_the_time_anew(happens: c.AnyCommand) -> None:
    """Given an open table at which somebody sits down or leaves, then it is from there that the time counts."""
    events = after(opened(seats="pooo"), happens)
    assert WEEK + 1000 == due(events)
    given(events).when(abandon(WEEK + 999)).refused("game/not_over")


def test_from_the_first_who_is_ready_the_deadline_counts() -> None:
    """Given somebody is ready, then the table is dealt at its deadline and not abandoned before."""
    events = after(opened(seats="ppbb"), ready(0, at=10))
    assert (None, 60_010) == (due(events), deadline(fold(None, events)))
    given(events).when(abandon(2 * WEEK)).refused("game/not_over")


def test_a_hand_in_play_is_revealed() -> None:
    """Given a player who never plays, when its time is over, then the end reveals the hand's secret."""
    given(plain()).when(abandon()).then(end(WEEK, HAND_SECRET.hex()))


def test_each_card_begins_the_time_anew() -> None:
    """Given a card was played, then the next player has the whole time."""
    assert WEEK + 5 == due(after(plain(), play(0, "2C", at=5)))


def test_a_pass_that_does_not_come_and_a_choice_that_does_not() -> None:
    """Given a pass, or a moon choice, that a person owes, then the table ends as well."""
    given(passing()).when(abandon()).then(end(WEEK, HAND_SECRET.hex()))
    given(moon_pending()).when(abandon()).then(end(WEEK, HAND_SECRET.hex(), 3))


def test_totals_of_the_finished_hands_stand() -> None:
    """Given hands were scored before, then the end has their totals, and nobody wins."""
    events = dealt(small_rules(HANDS, hand_limit=9), HANDS, hand=2, totals=[3, 0, 1, 9])
    [ended] = given(events).when(abandon()).then(e.GameEnded)
    assert isinstance(ended, e.GameEnded)
    assert ((3, 0, 1, 9), ()) == (ended.totals, ended.winners)
    state = fold(None, [*events, ended])
    assert ("over", "abandoned", None) == (state.phase, state.reason, abandoned_at(state))
    given([*events, ended]).when(abandon(9 * WEEK)).refused("game/over")


# --- when not


def test_at_a_table_with_a_clock_the_house_moves_instead() -> None:
    """Given a clock, then in play no table is abandoned; before the deal it can be."""
    events = dealt(small_rules(HANDS), HANDS, clock=60)
    assert None is due(events)
    given(events).when(abandon(9 * WEEK)).refused("game/not_over")
    assert WEEK == due(opened(seats="pooo", clock=60))


def test_a_bot_that_is_to_move_is_not_waited_for() -> None:
    """Given a bot's turn, or a person's seat that the stand-in plays, then the house owes a move and no end."""
    table = dealt(small_rules(HANDS), HANDS, seats="bppp")
    assert None is due(table)
    given(table).when(abandon(9 * WEEK)).refused("game/not_over")
    left = after(plain(), c.StandUp(player="p0", seat=0, at=7))
    assert None is due(left)
    assert WEEK + 9 == due([*left, at(e.SeatTakenBack(seat=0), 9)])


def test_while_a_bot_owes_its_pass_nobody_is_late() -> None:
    """Given a pass that a bot and a person owe, then the bot's comes first."""
    table = dealt(small_rules(HANDS, pass_count=2, pass_cycle=[1]), HANDS, seats="bppp")
    assert None is due(table)
    assert WEEK + 3 == due(after(table, c.PassCards(who=0, cards=(0, 14), at=3)))


def test_tables_from_before_the_rule_wait_for_ever() -> None:
    """Given a first event without such a time, then the table never ends by it."""
    first, *rest = opened(seats="pooo")
    old = [msgspec.structs.replace(first, abandon_seconds=msgspec.UNSET), *rest]
    assert None is due(old)
    given(old).when(abandon(999 * WEEK)).refused("game/not_over")


# --- the setting


@pytest.mark.parametrize("seconds", [-1, 0, 3599, 30 * 24 * 3600 + 1])
def test_bounds(seconds: int) -> None:
    """An hour at least, thirty days at most."""
    given().when(open_command(abandon_seconds=seconds)).refused("request/invalid", says="3600 to 2592000")


@pytest.mark.parametrize(("before", "expected"), [(3600, 3600), (msgspec.UNSET, 7 * 24 * 3600)])
def test_a_rematch_waits_as_long(before: Any, expected: int) -> None:
    """The setting is copied; a game from before the rule has a rematch with the usual one."""
    first, *rest = opened(seats="pppp")
    events = [msgspec.structs.replace(first, abandon_seconds=before), *rest]
    assert expected == open_again(fold(None, events), "g-2", 1, bytes(32), "ab" * 32).abandon_seconds


def test_a_table_that_was_never_full_can_be_opened_again() -> None:
    """Given an open seat and one kept for somebody, then they are so at the rematch; nothing was played, and the record says so."""
    events = [*opened(seats="prob"), end(WEEK)]
    again = open_again(fold(None, events), "g-2", 1, bytes(32), "ab" * 32)
    assert ["reserved", "reserved", "open", "bot"] == [plan.kind for plan in again.seats]
    assert ["p0", "p1"] == [plan.player for plan in again.seats[:2]]
    elsewhere = fold(None, [*after(opened(seats="prob"), sit(2, "p1")), end(WEEK)])
    again = open_again(elsewhere, "g-2", 1, bytes(32), "ab" * 32)
    assert ["p0", "", "p1", ""] == [plan.player for plan in again.seats]
    record = record_of([*after(opened(seats="ppob"), c.StandUp(player="p1", seat=1)), end(WEEK)])  # type: ignore[list-item]
    assert (["p0", "", "", "rules"], []) == (record["seats"], record["hands"])
    assert replay(parse_record(record)).ok


# --- the law of it


@steady(60)
@drawn(rule_sets(), seeds)
def test_a_game_ends_as_abandoned_whenever_it_waits_for_persons_alone(rules: RuleSet, seed: int) -> None:
    """After each command of any game: the end comes at its time and no sooner, or a bot or a deadline is due instead."""
    game = play_game(rules, seed, house=True)
    for step in Random(seed).sample(game.steps, min(12, len(game.steps))):
        state = step.after
        ends = abandoned_at(state)
        instead = is_over(state) or bots_owe(state) or deadline(state) is not None
        assert (ends is None) is instead
        if ends is None:
            with pytest.raises(Refused):
                advance(state, abandon(state.last_at + 99 * WEEK))
            continue
        with pytest.raises(Refused):
            advance(state, abandon(ends - 1))
        events, over = advance(state, abandon(ends))
        hand = state.hand
        secret = None if hand is None else hand.secret
        assert [end(ends, secret, rules.players).secret] == [one.secret for one in events]  # type: ignore[attr-defined]
        assert (state.totals, state.hands, is_over(over)) == (over.totals, over.hands, True)
