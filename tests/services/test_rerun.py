"""Claim B: the house's bots decided by their seat's view alone, shown by letting them decide again after the reveal."""

from __future__ import annotations

from copy import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given

from domain import commands as c
from domain import events as e
from domain.bots import BOTS, house_move
from domain.cards import NAMES
from domain.game import bots_owe
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from services.proof import Claim
from services.rerun import NOT_ASKED
from tests.support.bot_games import Cheat, bot_game, houses, number_of
from tests.support.games import PUBLISHED, Game, random_kinds, rule_sets, seeds, steady
from tests.support.practice import finish, practice
from tests.support.proofs import (
    Events,
    at_of,
    changed,
    claim,
    file_of,
    played,
    report_of,
    statuses,
)

STANDARD = {"variant": "standard", "players": 4, "hand_limit": 1}
MOON = {"points": {"QS": 13}, "moon_effect": "choice"}
"""Rules by which whoever takes the queen of spades shoots the moon."""


def rerun(events: Any) -> Claim:
    """Claim B of the proof file of events, the bots asked again."""
    return claim(report_of(file_of(events), rerun_bots=True), "B")


def assert_holds(game: Game) -> None:
    """Every decision of the house comes out again."""
    report = report_of(file_of(game.events), rerun_bots=True)
    assert report.ok, [one.line for one in report.claims]
    count = houses(game.events)
    told = f"{count} {'decision' if count == 1 else 'decisions'} of bots made again"
    wanted = ("holds", told) if count else ("not shown", "no house bot has made a move")
    found = claim(report, "B")
    assert wanted == (found.status, found.detail)


def assert_found(game: Game, cheat: Cheat, words: str) -> None:
    """Chain, deals, rules and score hold, and B fails at the one dishonest decision."""
    assert cheat.instead is not None, "the house had no other move"
    report = report_of(file_of(game.events), rerun_bots=True)
    assert {"I": "holds", "R": "holds", "B": "fails"}.items() <= statuses(report).items()
    assert claim(report, "F").status != "fails"
    found = claim(report, "B")
    assert number_of(game, cheat.instead) == found.event
    assert words in found.detail


def published(name: str, players: int, **more: object) -> RuleSet:
    """A published variant, cut short."""
    return ruleset_of({"variant": name, "players": players, "hand_limit": 1, **more})


# --- honest games


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
@pytest.mark.parametrize("bot", BOTS)
def test_an_honest_game_holds(variant: str, players: int, bot: str) -> None:
    """Bots, persons whose time is over, and seats that were handed over, in every variant with every number of seats."""
    rules = published(variant, players, hand_limit=2)
    kinds = "bp" + "b" * (players - 2)
    assert_holds(bot_game(rules, players, kinds, bot=bot, seconds=10, leaves=0.1))


@given(rules=rule_sets(), seed=seeds)
@steady(60)
def test_an_honest_game_holds_under_any_rules(rules: RuleSet, seed: int) -> None:
    """Whoever sits there, with a clock or without, with claims, hints, comings and goings, and a hand that is broken off."""
    rng = Random(seed)
    game = bot_game(
        rules,
        seed,
        random_kinds(rng, rules.players).replace("s", "p"),
        bot=rng.choice([*BOTS]),
        seconds=rng.choice([None, 10]),
        hints=rng.random() < 0.5,
        leaves=0.2,
        claims=True,
    )
    assert_holds(game)


def test_a_moon_choice_is_made_again() -> None:
    """By a bot, by the clock for a person, and by the stand-in."""
    told = set()
    for seed in range(12):
        game = bot_game(published("standard", 4, **MOON), seed, "bpbp", seconds=10, late=1.0, leaves=0.05)
        assert_holds(game)
        told |= {one.by for one in game.events if isinstance(one, e.MoonChosen)}
    assert {"bot", "clock"} == told


def test_plays_of_a_claim_count_among_a_seats_plays() -> None:
    """After a claim the claimant's moon is chosen by the clock: its decision comes after all the plays of the seat."""
    rules = published("standard", 4, points={"2C": 1}, moon_effect="choice")
    for seed in range(400):
        game = bot_game(rules, seed, "pppp", seconds=10, late=0.2, claims=True)
        claims = any(getattr(one, "by", "") == "claim" for one in game.events)
        if claims and any(isinstance(one, e.MoonChosen) and one.by == "clock" for one in game.events):
            break
    else:
        raise AssertionError("no game has both")
    assert_holds(game)


# --- dishonest ones


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
@pytest.mark.parametrize("kind", [c.PassCards, c.PlayCard])
def test_another_legal_move_of_a_bot_is_found(variant: str, players: int, kind: type[Any]) -> None:
    """Given a bot that passes or plays otherwise than it would, in a game that is in order in every other way."""
    rules = published(variant, players)
    cheat = Cheat(kind, after=2)
    game = bot_game(rules, 5, "b" * players, house=cheat)
    if kind is c.PassCards and not rules.pass_count:
        assert cheat.instead is None
        return
    assert_found(game, cheat, "bot rules@1 would pass" if kind is c.PassCards else "bot rules@1 would play")


@pytest.mark.parametrize("kind", [c.PassCards, c.PlayCard])
def test_another_move_by_the_clock_is_found(kind: type[Any]) -> None:
    """The stand-in makes these, and it is told so."""
    cheat = Cheat(kind, "clock", 1, person=True)
    game = bot_game(ruleset_of(STANDARD), 3, "ppbb", house=cheat, seconds=10, late=1.0)
    assert_found(game, cheat, "stand-in rules@1 would")


@pytest.mark.parametrize("hints", [True, False])
def test_another_move_at_a_seat_handed_over_is_found(hints: bool) -> None:
    """The stand-in plays it, until the person is back."""
    cheat = Cheat(c.PlayCard, "bot", 1, person=True)
    game = bot_game(ruleset_of(STANDARD), 4, "ppbb", house=cheat, leaves=0.2, hints=hints)
    assert_found(game, cheat, "stand-in rules@1 would play")


@pytest.mark.parametrize(("kinds", "by"), [("bbbb", "bot"), ("pppp", "clock")])
def test_another_moon_choice_is_found(kinds: str, by: str) -> None:
    """Whoever it was made for."""
    for seed in range(20):
        cheat = Cheat(c.ChooseMoon, by, person=by == "clock")
        game = bot_game(published("standard", 4, **MOON), seed, kinds, house=cheat, seconds=10, late=1.0)
        if cheat.instead is not None:
            return assert_found(game, cheat, "would choose add, not subtract")
    raise AssertionError("nobody shot the moon")


@given(rules=rule_sets(), seed=seeds)
@steady(40)
def test_one_dishonest_decision_anywhere_is_found(rules: RuleSet, seed: int) -> None:
    """Under any rules, wherever it is made."""
    rng = Random(seed)
    cheat = Cheat(rng.choice([c.PassCards, c.PlayCard]), after=rng.randrange(30))
    game = bot_game(rules, seed, "b" * rules.players, house=cheat, bot=rng.choice([*BOTS]))
    if cheat.instead is None:
        assert_holds(game)
    else:
        assert_found(game, cheat, "would")


def test_the_words_of_a_dishonest_play() -> None:
    """The event, the seat, the bot, what it would play and what was played."""
    cheat = Cheat(c.PlayCard)
    game = bot_game(ruleset_of(STANDARD), 5, "bbbb", house=cheat)
    assert isinstance(cheat.honest, c.PlayCard)
    assert isinstance(cheat.instead, c.PlayCard)
    number = number_of(game, cheat.instead)
    honest, instead = NAMES[cheat.honest.card], NAMES[cheat.instead.card]
    told = f"seat {cheat.honest.who}, bot rules@1 would play {honest}, not {instead}"
    line = f"B (honest bots) FAILS at event {number}: {told}"
    assert line == rerun(game.events).line


def test_another_bot_under_its_name_is_found() -> None:
    """What `rules` has played is said to be `random`'s."""
    events: Events = list(bot_game(ruleset_of(STANDARD), 5, "pbbp").events)
    taken = next(at for at, one in enumerate(events) if isinstance(one, e.SeatTaken) and one.kind == "bot")
    changed(events, taken, bot=BOTS["random"].id)
    assert "fails" == rerun(events).status
    assert "bot random@1 would" in rerun(events).detail


@pytest.mark.parametrize(("hints", "true", "false"), [(True, "player", "bot"), (False, "bot", "player")])
def test_whose_a_move_is_after_a_return_is_fixed(hints: bool, true: str, false: str) -> None:
    """At once the person's at a table with hints, else the stand-in's up to the next hand; R has no other.

    So a move that the stand-in made, and that is not what it would have done, cannot be passed off as the person's.
    """
    game = bot_game(ruleset_of(STANDARD), 4, "ppbb", leaves=0.2, hints=hints)
    events: Events = list(game.events)
    back = at_of(events, e.SeatTakenBack)
    seat = events[back].seat
    at = next(
        at for at in range(back, len(events)) if getattr(events[at], "by", "") and events[at].seat == seat
    )
    assert (true, e.CardPlayed) == (events[at].by, type(events[at]))
    number = changed(events, at, by=false)
    found = claim(report_of(file_of(events)), "R")
    assert ("fails", number) == (found.status, found.event)
    assert f"a move by {false} at seat {seat}" in found.detail


# --- what cannot be shown


def test_without_being_asked_for_it_is_not_shown() -> None:
    """It says by what option it is."""
    found = claim(report_of(file_of(played().events)), "B")
    assert ("not shown", NOT_ASKED) == (found.status, found.detail)
    assert (0, 1) == (found.level, found.top)
    assert "(--rerun-bots)" in found.next


@pytest.mark.parametrize("asked", [True, False])
def test_without_a_bot_there_is_nothing_to_show(asked: bool) -> None:
    """A game that persons have played themselves."""
    found = claim(report_of(file_of(played("ppnn").events), rerun_bots=asked), "B")
    assert ("not shown", "no house bot has made a move") == (found.status, found.detail)


@pytest.mark.parametrize("name", [("rules", "0"), ("deeper", "1")])
def test_a_bot_that_is_not_there_is_told(name: tuple[str, str]) -> None:
    """Name and version must be this program's; the decisions of the other bots are judged all the same."""
    events: Events = list(bot_game(ruleset_of(STANDARD), 5, "bbpb").events)
    changed(events, at_of(events, e.SeatTaken, 1), bot=e.BotName(*name, 0))
    found = rerun(events)
    assert "not shown" == found.status
    assert f"does not have {name[0]}@{name[1]} (14 decisions)" in found.detail
    assert found.detail.endswith("28 decisions of bots made again")
    cheat = Cheat(c.PlayCard, after=20)
    events = list(bot_game(ruleset_of(STANDARD), 5, "bbpb", house=cheat).events)
    assert cheat.instead is not None
    changed(events, at_of(events, e.SeatTaken, int(cheat.instead.who) - 1), bot=e.BotName(*name, 0))
    assert "fails" == rerun(events).status


def test_a_stand_in_that_is_not_there_is_told() -> None:
    """Its version counts as any bot's does."""
    events: Events = list(bot_game(ruleset_of(STANDARD), 5, "pppp", seconds=10, late=1.0).events)
    changed(events, 0, stand_in=e.BotName("rules", "2", 0))
    assert "this program does not have rules@2 (56 decisions)" in rerun(events).detail


@pytest.mark.parametrize("moves", [4, 40, 59, 80])
def test_the_hand_in_play_is_judged_when_it_is_over(moves: int) -> None:
    """Until then its cards are secret; the hands before it are judged."""
    game = bot_game(ruleset_of(STANDARD | {"hand_limit": 2}), 5, "bbbb", moves=moves)
    found, done = rerun(game.events), sum(isinstance(one, e.HandScored) for one in game.events)
    if not done:
        detail = f"no hand is over yet; the {moves} decisions in this one can be made again then"
        assert ("not shown", detail) == (found.status, found.detail)
    else:
        detail = f"56 decisions of bots made again; {moves - 56} more when the hand in play is over"
        assert ("holds", detail) == (found.status, found.detail)


@pytest.mark.parametrize("least", [2, 4, 30])
@pytest.mark.parametrize("cheat", [None, Cheat(c.PassCards)])
def test_a_hand_that_was_broken_off_is_judged(least: int, cheat: Cheat | None) -> None:
    """The end of the game reveals its secret, and from that follow the cards and the passes."""
    games = (
        bot_game(ruleset_of(STANDARD), 6, "bbpp", house=copy(cheat) or house_move, moves=moves)
        for moves in range(least, 60)
    )
    game = next(one for one in games if not bots_owe(one.end))
    state = game.end
    assert state.hand is not None
    at, none, secret = state.last_at + 10**9, (0,) * 4, state.hand.secret
    end = e.GameEnded(at=at, winners=(), totals=none, reason="abandoned", secret=secret)
    found = rerun([*game.events, end])
    if cheat is None:
        assert ("holds", f"{houses(game.events)} decisions of bots made again") == (
            found.status,
            found.detail,
        )
    else:
        assert ("fails", at_of(list(game.events), e.CardsPassed) + 1) == (found.status, found.event)


def test_where_the_deals_fail_the_seeds_are_not_known() -> None:
    """A secret that does not belong to the chain is none to judge bots by."""
    events: Events = list(bot_game(ruleset_of(STANDARD), 5, "pbbp").events)
    changed(events, at_of(events, e.HandScored), secret="77" * 32)
    assert "claim F fails" in rerun(events).detail


def test_where_the_rules_fail_what_came_before_is_judged() -> None:
    """A wrong score hides no dishonest bot, and a dishonest bot before it is found."""
    for cheat, status in ((None, "not shown"), (Cheat(c.PlayCard), "fails")):
        events: Events = list(bot_game(ruleset_of(STANDARD), 5, "bbbb", house=cheat or house_move).events)
        at = at_of(events, e.HandScored)
        changed(events, at, points=(26, 26, 26, 26))
        found = rerun(events)
        assert status == found.status
        if cheat is None:
            told = f"what follows event {at + 1} is not played by the rules; 56 decisions of bots made again before it"
            assert told == found.detail


def test_events_that_cannot_be_read_show_nothing() -> None:
    """Nor is anything judged."""
    data = file_of(played().events).replace(b'"t":"trick_ended"', b'"t":"trick_broken"', 1)
    assert "the events cannot be read" == claim(report_of(data, rerun_bots=True), "B").detail


def test_of_a_practice_table_nothing_is_shown() -> None:
    """It has no secrets; its bots' seeds are those of an empty one."""
    game = bot_game(ruleset_of(STANDARD), 5, "bbbb")
    begun = practice(game.events, at_of(list(game.events), e.HandDealt) + 20, 1, game.end)
    events, _ = finish(*begun, Random(1))
    found = rerun(events)
    assert ("not shown", True) == (found.status, "practice table branched from game g-old" in found.detail)
