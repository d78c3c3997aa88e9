"""Matches of an arena: equal bots come out equal, a bot that fails is stood in for, and every match can be played again."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from domain import events as e
from domain.bots import BOTS, UnknownBot
from domain.cards import mask_of
from domain.record import parse_record, replay
from domain.shuffle import chain_link, deal_cards, deal_seed, entropy_root, hash_parts
from domain.view import view
from services.outside_bot import house_command
from tests.support.contests import Wrong, plan, timeless
from workers.arena import bots
from workers.arena.bots import HouseBot, read_entrant
from workers.arena.local import play_deals
from workers.arena.match import LONG, NOBODY, Dealt, Plan, class_ns, open_table, play_deal, time_class
from workers.arena.retell import NoMatch, read_place, replay_match
from workers.arena.seat import NoAnswer
from workers.arena.seatings import seatings_of, write_seating

EQUAL = {
    "four of the rules bot": plan("rules", "rules", "rules", "rules"),
    "two that search": plan("search:20", "search:20", seed=3),
    "chance": plan("random", "random", variant="omnibus"),
    "seven seats for two": plan("rules", "rules", variant="cancellation", players=7),
    "five seats for three": plan("random", "random", "random", variant="standard", players=5),
    "four seats for five": plan(*["rules"] * 5),
    "whole games": plan("random", "random", "random", games=True, target=40),
}


@pytest.mark.parametrize("equal", EQUAL.values(), ids=EQUAL)
def test_equal_bots_come_out_equal(equal: Plan) -> None:
    """Given one bot entered several times, when deals are played in all seatings, then all have the same to the last point."""
    for deal in (1, 2, 3):
        first, *others = timeless([play_deal(equal, deal)])[0].scores
        assert first.moves
        assert [first] * len(others) == others


@pytest.mark.parametrize("deal", range(1, 9))
def test_a_deal_is_a_hand_within_the_cycle_of_passes(deal: int) -> None:
    """Hands pass in turn as the rules say, totals are 0, and the game goes on behind the hand."""
    state = open_table(plan("rules", "random", hand_limit=1), deal).state
    assert state.hand
    assert state.terms.pass_offset(1 + (deal - 1) % 4) == state.hand.offset
    assert ([0] * 4, []) == (state.totals, state.hands)
    assert state.hand.number < LONG == state.terms.rules.hand_limit


def test_a_deal_follows_from_seed_and_number() -> None:
    """The cards are those of the deal as the audit specification has it, from a secret that anybody can work out."""
    played = plan("rules", "random", seed=7)
    state, game = open_table(played, 3).state, "arena-7-3"
    last = hash_parts("hearts/v1/arena", b"7", b"3")
    root = entropy_root(game, [(seat, "bot", "") for seat in range(4)])
    terms = state.terms
    seed = deal_seed(chain_link(last, LONG, 3), game, 3, root)
    hands, _ = deal_cards(terms.deck, terms.players, terms.hand, seed)
    assert state.hand
    assert [mask_of(hand) for hand in hands] == state.hand.dealt


def test_nobody_is_told_whom_it_plays_against() -> None:
    """Given any seats, then a view names all bots alike."""
    state = open_table(plan("rules", "random"), 1).state
    assert {NOBODY} == {one.bot for seat in range(4) for one in view(state, seat).seats}


WRONG = {
    "none": None,
    "a card that is none": 99,
    "less than a card": -1,
    "a truth": True,
    "a text": "7H",
    "a choice out of turn": "add",
    "too few cards": (1,),
    "cards that are none": (1, 2, "x"),
    "a fraction": 3.5,
    "a list": [1, 2, 3],
    "nothing": NoAnswer("it died"),
}


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG)
def test_a_bot_that_fails_is_stood_in_for(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a bot without a legal answer, then the rules bot plays each of its moves, and each is counted."""
    wrong = Wrong(f"wrong:{answer!r}", answer)
    monkeypatch.setitem(bots.KINDS, "wrong", lambda _rest, _budget: wrong)
    played = play_deal(plan("rules", wrong.text), 1)
    rules, other = played.scores
    (whole, _) = play_deal(plan("rules", "rules"), 1).scores
    assert (whole.points, whole.points, whole.moves) == (rules.points, other.points, other.moves)
    died = isinstance(answer, NoAnswer)
    assert (0, other.moves) == (
        (other.illegal, other.unanswered) if died else (other.unanswered, other.illegal)
    )
    assert (0, 0) == (rules.illegal, rules.unanswered)
    assert wrong.sat == wrong.left == 2 * played.matches


def test_a_bot_that_plays_one_card_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a bot that is right only now and then, then what is legal stands, and the rest is counted."""
    monkeypatch.setitem(bots.KINDS, "wrong", lambda _rest, _budget: Wrong("wrong:2C", 0))
    other = play_deal(plan("rules", "wrong:2C"), 4).scores[1]
    assert 0 < other.illegal < other.moves
    assert other.moves == sum(other.times.values())


def test_a_policy_that_breaks_is_no_answer() -> None:
    """Given a house bot with a fault, then it costs its decision and not the match."""

    def broken(*_: object) -> int:
        raise ZeroDivisionError("oh")

    bot = HouseBot(msgspec.structs.replace(BOTS["rules"], policy=broken), 0)
    seen = view(open_table(plan("rules", "rules"), 1).state, 0)
    with pytest.raises(NoAnswer, match="ZeroDivisionError: oh"):
        bot.decide(seen, bytes(32))


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [
        ("rules", None, ("rules", "rules", 0)),
        ("rules", 50, ("rules", "rules", 0)),
        ("search", None, (f"search:{BOTS['search'].budget}", "search", BOTS["search"].budget)),
        ("search", 50, ("search:50", "search", 50)),
        ("search:70", 50, ("search:70", "search", 70)),
    ],
)
def test_a_bot_is_entered_by_name_and_budget(
    text: str, budget: int | None, expected: tuple[str, str, int]
) -> None:
    """A budget of its own goes before the one for all, and is part of its text."""
    found = read_entrant(text, budget)
    assert expected == (found.text, found.id.name, found.id.budget)


@pytest.mark.parametrize(
    "text", ["", "nobody", "rules:5", "search:", "search:0", "search:x", "search:-3", "stdio"]
)
def test_what_is_no_bot_is_refused(text: str) -> None:
    """Unknown names, budgets that are none, and budgets of bots that have none."""
    with pytest.raises(UnknownBot):
        read_entrant(text)


def test_a_plan_of_other_versions_is_refused() -> None:
    """Given a plan from where a bot is of another version, then it is not played as if it were the same."""
    with pytest.raises(UnknownBot, match="version 1 here"):
        play_deal(msgspec.structs.replace(plan("rules", "random"), versions=("0", "1")), 1)


def test_processes_play_what_one_plays() -> None:
    """Given -j 2, then the same deals in the same order as with -j 1."""
    played = plan("rules", "random")
    found: list[list[Dealt]] = []
    for jobs in (1, 2):
        with closing(play_deals(played, 8, jobs)) as deals:
            found.append(timeless(list(deals)))
    assert [1, 2, 3, 4, 5, 6, 7, 8] == [one.deal for one in found[0]]
    assert found[0] == found[1]


REPLAYED = {
    "a hand": (plan("rules", "random"), 3),
    "the first hand": (plan("rules", "random"), 5),
    "a kitty and a dead trick": (plan("rules", "random", variant="cancellation", players=7), 2),
    "a moon that is chosen": (plan("random", "random", variant="omnibus"), 2),
    "a game": (plan("rules", "random", games=True, target=30), 2),
}


@pytest.mark.parametrize(("played", "deal"), REPLAYED.values(), ids=REPLAYED)
def test_every_match_can_be_played_again(played: Plan, deal: int) -> None:
    """Given a deal that was played, then its matches replayed add up to it, and their records hold."""
    points = [0] * len(played.bots)
    seatings = seatings_of(len(played.bots), played.rules.players, f"{played.seed}/{deal}".encode())
    for seating in seatings:
        told = replay_match(played, deal, write_seating(seating))
        scored = [event for event in told.events if isinstance(event, e.HandScored)]
        assert scored
        for event in scored:
            for bot, point in zip(seating, event.points, strict=True):
                points[bot] += point
        verdict = replay(parse_record(told.record))
        assert (True, len(scored)) == (verdict.ok, len(verdict.points or ()))
        assert sorted(scored[-1].totals) == sorted(verdict.totals or ())
    dealt = play_deal(played, deal)
    assert ([one.points for one in dealt.scores], dealt.matches) == (points, len(seatings))


def test_moons_are_counted() -> None:
    """A moon of these rules is a hand in which all but one have 26 points."""
    played = plan("rules", "random", variant="basic")
    for deal in range(1, 25):
        counted = [one.moons for one in play_deal(played, deal).scores]
        seen = [0, 0]
        for seating in seatings_of(2, 4, b""):
            last = replay_match(played, deal, write_seating(seating)).events[-1]
            assert isinstance(last, e.HandScored)
            if sorted(last.points) == [0, 26, 26, 26]:
                seen[seating[last.points.index(0)]] += 1
        assert seen == counted
        if any(seen):
            return
    raise AssertionError("nobody shot the moon")


def test_games_are_won_by_somebody() -> None:
    """Given whole games, then the shares of a game add up to one, and its hands count for all its seats."""
    dealt = play_deal(plan("rules", "random", games=True, target=30), 1)
    assert dealt.matches == pytest.approx(sum(one.won for one in dealt.scores))
    assert {2 * dealt.matches} == {one.games for one in dealt.scores}
    assert all(one.hands >= one.games for one in dealt.scores)


@pytest.mark.parametrize(
    "text", ["", "1", "1:2", "1:2:", "a:2:ABBA", "1:0:ABBA", "1:-2:ABBA", "\u00b2:1:ABBA"]
)
def test_what_names_no_match_is_refused(text: str) -> None:
    """Seed, deal from 1, and seating."""
    with pytest.raises(NoMatch, match="SEED:DEAL:SEATING"):
        read_place(text)


@pytest.mark.parametrize("cpu_ns", [0, 1, 17, 1500, 1_234_567, 10**12])
def test_a_time_lies_in_its_class(cpu_ns: int) -> None:
    """The middle of a class is within 2.2 % of a time in it."""
    assert max(1, cpu_ns) == pytest.approx(class_ns(time_class(cpu_ns)), rel=0.0221)


def test_the_arena_needs_no_store() -> None:
    """What plays matches is below everything that speaks with a store."""
    source = Path(bots.__file__).with_name("match.py").read_text()
    assert "services" not in source


def test_a_program_plays_by_lines() -> None:
    """A house bot that is spoken to by the line protocol, in processes of its own, decides every move of its seats."""
    text = f"stdio:{shlex.join(house_command('rules'))}"
    entrant = read_entrant(text)
    played = play_deal(plan("random", text), 3)
    other = played.scores[1]
    assert ("rules", BOTS["rules"].version) == (entrant.id.name, entrant.id.version)
    assert (0, 0) == (other.illegal, other.unanswered)
    assert other.moves == played.scores[0].moves
    assert other.points < played.scores[0].points


def test_a_program_that_does_not_begin_is_no_entrant() -> None:
    """A command that is not there, and one that does not greet, are told by name."""
    for command in ("no-such-program-here", "true"):
        with pytest.raises(UnknownBot, match="cannot play"):
            read_entrant(f"stdio:{command}")


@pytest.mark.parametrize(("low", "high"), [("level1", "level4"), ("level4", "level7")])
def test_levels_are_in_order(low: str, high: str) -> None:
    """Over duplicate deals a level beats the one three below it."""
    dealt = [play_deal(plan(low, high, variant="basic"), deal) for deal in range(1, 17)]
    assert sum(one.scores[0].points - one.scores[1].points for one in dealt) > 0
