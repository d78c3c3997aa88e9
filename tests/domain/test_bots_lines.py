"""The bot line protocol: a view by the lines is the view of the table, and what is wrong is told and loses nothing."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given

from domain.bots import BOTS, decision_number
from domain.bots.lines import QUESTIONS, SeatLines, format_answer, read_answer
from domain.bots.telling import Teller, question, rules_line
from domain.cards import cards_of
from domain.game import to_act
from domain.refusals import HeartsError, Malformed
from domain.ruleset import RuleSet
from domain.shuffle import bot_seed
from domain.state import State
from domain.variants import VARIANTS, ruleset_of
from domain.view import View, view
from tests.support.games import play_game, rule_sets, seeds, steady

UNTOLD = {"game": "", "seats": (), "deadline": None, "abandoned_at": None, "hands": ()}
"""What the lines say nothing of, and no policy looks at."""
BASIC = ruleset_of({"variant": "basic"})
MINE = "2C 4C 6C 8C TC QC AC 2S 3S 4S 5S 6S 7S"


def bare(seen: View) -> View:
    """A view less what the lines do not tell."""
    return msgspec.structs.replace(seen, **UNTOLD)


class Heard:
    """A seat's lines on both sides: what a view is turned into is told at once."""

    def __init__(self, rules: RuleSet) -> None:
        self.teller, self.lines = Teller(), SeatLines()
        self.lines.tell(rules_line(rules))

    def view(self, seen: View) -> View:
        """What a bot that is told of ``seen`` sees."""
        for line in self.teller.next_lines(seen):
            self.lines.tell(line)
        return self.lines.view(QUESTIONS[question(seen)])


def questions(rules: RuleSet, seed: int, **how: object) -> list[tuple[State, int]]:
    """The tables of a game at which a seat is to pass, play or choose, and each seat that is."""
    game = play_game(rules, seed, **how)  # type: ignore[arg-type]
    befores = [step.before for step in game.steps if step.before is not None]
    return [
        (state, seat)
        for state in befores
        if state.phase in ("pass", "play", "moon")
        for seat in to_act(state)
    ]


@steady(60)
@given(rule_sets(), seeds)
def test_the_view_by_the_lines_is_that_of_the_table(rules: RuleSet, seed: int) -> None:
    """In everything but who sits where, over rule sets of every kind; by one seat's lines, and by all seats' mixed."""
    alone, mixed = [Heard(rules) for _ in range(rules.players)], Heard(rules)
    for state, seat in questions(rules, seed):
        seen = bare(view(state, seat))
        assert seen == bare(alone[seat].view(view(state, seat)))
        assert seen == bare(mixed.view(view(state, seat)))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", BOTS)
def test_the_same_view_leads_to_the_same_move(variant: str, name: str) -> None:
    """Each house bot, asked by the lines and asked of the table."""
    rules, bot = ruleset_of({"variant": variant, "hand_limit": 2}), BOTS[name]
    heard = [Heard(rules) for _ in range(rules.players)]
    for state, seat in questions(rules, 11, kinds="b" * rules.players, house=True, bot="rules")[::3]:
        seed = bot_seed(b"secret", seat, decision_number(state, seat))
        seen = view(state, seat)
        move = bot.policy(seen, seed, 60)
        assert move == bot.policy(heard[seat].view(seen), seed, 60)
        assert format_answer(move) == format_answer(read_answer(seen, format_answer(move)))


def told(*lines: str) -> SeatLines:
    """A seat that has been told the basic rules and some lines."""
    seat = SeatLines()
    for line in (rules_line(BASIC), *lines):
        seat.tell(line)
    return seat


DEALT = f"hand 1 0 1 {MINE}"
PASSED = "passed AC QC TC received 2H 3H 4H"


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "hand",
        "hand 1 0 1",
        f"hand 0 0 1 {MINE}",
        f"hand 1 4 1 {MINE}",
        f"hand 1 -1 1 {MINE}",
        f"hand 1 0 0 {MINE}",
        f"hand x 0 1 {MINE}",
        f"hand 1 0 1 {MINE} AH",
        "hand 1 0 1 " + " ".join(["2C"] * 13),
        "totals",
        "totals 1 2 3",
        "totals 1 2 3 four",
        "passed AC QC TC received 2H 3H",
        "passed AC QC AD received 2H 3H 4H",
        "passed AC QC TC received 2C 3H 4H",
        "passed AC QC TC",
        "play 0 2C",
        "play 0",
        "play 9 2C",
        "trick 0",
        "trick",
        "rules {",
        "rules []",
        "rules {}",
        "rules " + "[" * 50_000,
        'rules {"variant": "basic", "players": 99}',
    ],
)
def test_what_is_wrong_is_told_and_loses_nothing(line: str) -> None:
    """The seat sees what it saw before."""
    seat = told(DEALT, "totals 4 5 6 7")
    before = seat.view("pass")
    with pytest.raises(HeartsError):
        seat.tell(line)
    assert before == seat.view("pass")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("play 1 5D", "turn"),
        ("play 0 4C", "must open"),
        ("play 0 AD", "does not hold"),
        ("trick 0", "full trick"),
        (PASSED, "nothing is passed"),
    ],
)
def test_plays_are_held_against_the_rules(line: str, why: str) -> None:
    """Turns, one's own cards, full tricks; the next sound line is understood."""
    seat = told(DEALT, PASSED)
    if "turn" in why:
        seat.tell("play 0 2C")
        line = "play 2 5D"
    with pytest.raises(HeartsError, match=why):
        seat.tell(line)
    seat.tell("play 1 3C" if "turn" in why else "play 0 2C")


def test_a_trick_is_taken_by_whom_the_rules_say() -> None:
    """Another taker is refused, and so is a card that cannot be where it comes from."""
    seat = told(DEALT, PASSED, "play 0 2C")
    for line in ("play 1 4C", "play 1 2C", "play 1 2H"):
        with pytest.raises(Malformed, match="copies"):
            seat.tell(line)
    for line in ("play 1 3C", "play 2 KC", "play 3 JC"):
        seat.tell(line)
    for line in ("trick 1", "trick -", "trick x"):
        with pytest.raises(Malformed):
            seat.tell(line)
    seat.tell("trick 2")
    with pytest.raises(Malformed, match="turn"):
        seat.view("play")


@pytest.mark.parametrize(("asked", "before"), [("pass", [PASSED]), ("play", []), ("moon", [PASSED])])
def test_what_cannot_be_asked_now_is_refused(asked: str, before: list[str]) -> None:
    """Passing twice, playing before the pass, a moon in the middle of a hand; anything without rules or a hand."""
    for seat in (SeatLines(), told(), told(DEALT, *before)):
        with pytest.raises(Malformed):
            seat.view(asked)  # type: ignore[arg-type]


def test_only_answers_to_the_question_are_read() -> None:
    """A legal card, so many cards of the hand, a choice; anything else is told with what would do."""
    seat = told(DEALT)
    passing = seat.view("pass")
    assert (0, 2, 4) == read_answer(passing, "pass 2C 4C 6C")
    for line in ("", "play 2C", "pass", "pass 2C 4C", "pass 2C 2C 4C", "pass 2C 4C AH", "pass 2C 4C 6C 8C"):
        with pytest.raises(Malformed):
            read_answer(passing, line)
    seat.tell(PASSED)
    playing = seat.view("play")
    assert 0 == read_answer(playing, "play 2C")
    for line in ("", "play", "play 4C", "play AD", "play XX", "play 2C 4C", "pass 2C", "2C", "moon add"):
        with pytest.raises(Malformed):
            read_answer(playing, line)
    moon = msgspec.structs.replace(playing, phase="moon")
    assert ["add", "subtract"] == [read_answer(moon, f"moon {one}") for one in ("add", "subtract")]
    for line in ("moon", "moon both", "add"):
        with pytest.raises(Malformed):
            read_answer(moon, line)


@pytest.mark.parametrize("action", [None, 52, -1, True, "both", (0, 99), (True,), 1.0, [None]])
def test_what_is_no_action_is_no_answer(action: object) -> None:
    """A policy that answers nonsense is told so."""
    with pytest.raises(Malformed):
        format_answer(action)


def test_random_lines_never_crash() -> None:
    """Words of the protocol in any order are refused by an error of ours, or understood."""
    rng = Random(5)
    words = [
        *["0", "1", "2", "3", "-1", "-"],
        *MINE.split(),
        "AH",
        "received",
        "hand",
        "totals",
        "passed",
        "play",
    ]
    seat = told(DEALT, PASSED)
    for _ in range(3000):
        line = f"{rng.choice(['hand', 'totals', 'passed', 'play', 'trick'])} {' '.join(rng.choices(words, k=rng.randrange(6)))}"
        try:
            seat.tell(line)
        except HeartsError:
            continue
    assert cards_of(told(DEALT).view("pass").own.hand)  # type: ignore[union-attr]
