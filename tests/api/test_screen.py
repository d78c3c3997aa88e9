"""The drawn screen, and what a player is asked on it."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from flask import Flask
from rich.console import Console

from api.client import Client, Events, Item, Problem, Table
from api.playtable import Game, Left
from api.scene import Scene
from api.terminals import Lines, Question, Screen
from services.wiring import Services
from tests.api.stories import Story
from tests.api.wires import Wire

CLEAR = "\x1b[2J"


class Paper:
    """A terminal of 80 by 24 characters whose output is kept, and answers that are typed on it."""

    def __init__(self, *answers: str, **options: Any) -> None:
        self.file = io.StringIO()
        self.naps: list[float] = []
        self.prompts: list[str] = []
        self._answers = iter(answers)
        console = Console(
            file=self.file, width=80, height=24, force_terminal=True, color_system="256", highlight=False
        )
        self.screen = Screen(console, read=self.read, sleep=self.naps.append, **options)

    def read(self, prompt: str) -> str:
        """The next answer, or the end of all answers."""
        self.prompts.append(prompt)
        try:
            return next(self._answers)
        except StopIteration:
            raise EOFError from None

    def pages(self) -> list[str]:
        """Every screen that was drawn."""
        return self.file.getvalue().split(CLEAR)[1:]


class Stage:
    """In the place of a client: tables one after another, each until a move is made; moves are kept."""

    def __init__(self, story: Story, *tables: Table, events: Sequence[Item] = ()) -> None:
        self._story, self._tables, self._events = story, list(tables), list(events)
        self.moves: list[Any] = []
        self.refusals: list[Problem] = []

    def table(self, _: str) -> Table:
        """The table of now."""
        return self._tables[0] if self._tables else self._story.table(phase="over", winners=[0])

    def events(self, *_: Any) -> Events:
        """Nothing happens by itself."""
        return Events([], self._story.seq)

    def _made(self, move: Any) -> None:
        self.moves.append(move)
        refusal = self.refusals.pop(0) if self.refusals else None
        if refusal is None or refusal.status == 409:  # what was too late is so because the table has moved on
            self._tables.pop(0)
        if refusal is not None:
            raise refusal

    def play(self, _: str, card: str) -> None:
        """A card."""
        self._made(card)

    def pass_cards(self, _: str, cards: list[str]) -> None:
        """A pass."""
        self._made(cards)

    def choose_moon(self, _: str, choice: str) -> None:
        """A choice."""
        self._made(choice)


HAND = "2C 9C JC 4D QS KH"


def turn(legal: str, **fields: Any) -> tuple[Story, Table]:
    """A story in which it is the player's turn, and its table."""
    story = Story().deal(HAND, 4)
    return story, story.table(phase="play", turn=0, hand=HAND, legal=legal, **fields)


def played(paper: Paper, story: Story, table: Table, *refusals: Problem) -> list[Any]:
    """The moves that the answers on ``paper`` led to."""
    stage = Stage(story, table)
    stage.refusals = list(refusals)
    Game(cast("Any", stage), story.scene, paper.screen).run()
    return stage.moves


@pytest.mark.parametrize(
    ("answer", "card"),
    [("1", "2C"), ("3", "JC"), ("jc", "JC"), (" JC ", "JC"), ("j♣", "JC"), ("9C,", "9C")],
)
def test_a_card_is_given_by_name_or_number(answer: str, card: str) -> None:
    """Numbers count the cards that may be played."""
    assert [card] == played(Paper(answer), *turn("2C 9C JC"))


def test_enter_plays_the_only_card() -> None:
    """The prompt says so; where there is a choice an empty line is asked again."""
    paper = Paper("")
    assert ["2C"] == played(paper, *turn("2C"))
    assert "only 2♣ may be played, Enter plays it" in paper.pages()[-1]
    asked = Paper("", "2")
    assert ["9C"] == played(asked, *turn("2C 9C"))
    assert "one card is played at a time" in asked.pages()[-1]


def test_a_twin_may_be_played_by_either_number() -> None:
    """Both copies are numbered, and Enter plays a pair that is all there is."""
    story = Story("cancellation", players=6).deal("9C 9C KH", 1).exchange("KH", "2D")
    table = story.table(phase="play", turn=0, hand="9C 9C 2D", legal="9C")
    for answer in ("1", "2", ""):
        assert ["9C"] == played(Paper(answer), story, table)


def test_a_pass_is_given_on_one_line() -> None:
    """Names and numbers mixed; two copies of a card by their numbers."""
    story = Story("cancellation", players=6).deal("9C 9C KH 4D")
    table = story.table(phase="pass", hand="9C 9C 4D KH")
    assert [["9C", "9C", "KH"]] == played(Paper("1, 2, kh"), story, table)


@pytest.mark.parametrize(
    ("answer", "choice"), [("1", "add"), ("2", "subtract"), ("Add", "add"), ("SUBTRACT", "subtract")]
)
def test_a_moon_is_chosen_by_word_or_number(answer: str, choice: str) -> None:
    """Both outcomes stand above the question; anything else is asked again."""
    story = Story().deal(HAND, 4)
    paper = Paper("both", answer)
    assert [choice] == played(paper, story, story.table(phase="moon", turn=0))
    assert "the choice is between add (1) and subtract (2)" in paper.pages()[-1]
    assert "You shot the moon!" in paper.pages()[-1]


def test_a_refusal_is_shown_until_it_is_answered() -> None:
    """The server's words stand by the next question, and are gone with the one after."""
    refusal = Problem(422, "play/must_follow_suit", "KH: seat 0 holds clubs", "play one of 2C 9C")
    paper = Paper("kh", "sparrow", "2c")
    assert ["KH", "2C"] == played(paper, *turn("2C 9C"), refusal)
    first, second, third = paper.pages()[-3:]
    assert "seat 0 holds clubs" not in first
    assert "seat 0 holds clubs" in second
    assert "play one of 2C 9C" in second
    assert "seat 0 holds clubs" not in third
    assert "not a card: 'sparrow'" in third


def test_a_move_that_came_too_late_looks_again() -> None:
    """After a conflict the table is read anew, and asked about as it is then."""
    story, table = turn("2C 9C")
    stage = Stage(story, table, story.table(phase="play", turn=0, hand=HAND, legal="JC KH"))
    stage.refusals = [Problem(409, "play/not_your_turn", "it is not your turn")]
    paper = Paper("1", "1")
    Game(cast("Any", stage), story.scene, paper.screen).run()
    assert ["2C", "JC"] == stage.moves
    assert "it is not your turn" in paper.pages()[-1]


def test_a_server_that_fails_ends_the_game_with_its_words() -> None:
    """What asking again cannot mend is not asked again."""
    with pytest.raises(Problem, match="no token"):
        played(Paper("1"), *turn("2C 9C"), Problem(401, "auth/required", "no token"))


@pytest.mark.parametrize("word", ["?", "help", "score", "rules", "last"])
def test_a_page_is_turned_by_enter(word: str) -> None:
    """It stands on a screen of its own, and the question comes back."""
    paper = Paper(word, "", "1")
    assert ["2C"] == played(paper, *turn("2C 9C"))
    assert [" > ", "Enter goes on ", " > "] == paper.prompts
    assert [False, True] == ["You lead" in page for page in paper.pages()[-2:]]


@pytest.mark.parametrize("answers", [("quit",), ("Q",), ("exit",), (), ("score",)])
def test_a_player_may_leave_at_any_question(answers: tuple[str, ...]) -> None:
    """By word, or by the end of the input, on a page too."""
    with pytest.raises(Left):
        played(Paper(*answers), *turn("2C 9C"))


def test_the_terminal_is_left_as_it_was() -> None:
    """The game has a second screen of its own, left also by an error."""
    paper = Paper()
    with pytest.raises(KeyError), paper.screen:
        raise KeyError
    text = paper.file.getvalue()
    assert text.index("\x1b[?1049h") < text.index("\x1b[?1049l")


def test_a_card_stands_before_the_next_is_laid() -> None:
    """Events that come at once are drawn one by one; nothing is waited for where nothing is to be seen."""
    story = Story().deal(HAND, 4)
    paper = Paper(pace=50)
    for card in ("2C", "3C"):
        story.play(0, card)
        paper.screen.show(story.scene, [], 1)
    assert 1 == len(paper.naps)
    assert 49 < paper.naps[0] <= 50
    quick = Paper(pace=0)
    quick.screen.show(story.scene, [], 2)
    quick.screen.show(story.scene, [], 2)
    assert [] == quick.naps


def test_pages_turn_by_themselves_for_who_watches() -> None:
    """With --demo nobody presses Enter."""
    paper = Paper(pace=0.5, watching=True)
    paper.screen.page("scores")
    assert ([3.0], []) == (paper.naps, paper.prompts)


@pytest.fixture
def client(app: Flask, services: Services) -> Client:
    """A player at the application."""
    made = Client("http://hearts.test", transport=Wire(app, services.tables))
    made.new_player("Anna")
    return made


def opened(client: Client, variant: str, players: int, **changes: Any) -> Scene:
    """A table with bots in the other seats, the player ready."""
    bots: list[Any] = [{"bot": "rules"}] * (players - 1)
    table = client.open_table(variant, ["me", *bots], changes)
    client.ready(table.id)
    return Scene(table)


class Player:
    """Answers every question: the first cards, or the last ones; keeps the questions."""

    def __init__(self, pick: Callable[[Question], str]) -> None:
        self.asked: list[Question] = []
        self._pick = pick
        self.text = io.StringIO()
        self.lines = Lines(Console(file=self.text, width=80, highlight=False), read=self.read)
        self._ask = self.lines.ask
        self.lines.ask = self.ask  # type: ignore[method-assign]

    def ask(self, scene: Scene, question: Question) -> str:
        """The answer that was picked."""
        self.asked.append(question)
        return self._ask(scene, question)

    def read(self, _: str) -> str:
        """What is typed."""
        return self._pick(self.asked[-1])


def highest(question: Question) -> str:
    """The highest numbers."""
    last = len(question.choices)
    return {"moon": "subtract"}.get(
        question.kind, " ".join(str(number) for number in range(last, last - question.count, -1))
    )


def test_a_moon_is_asked_for_in_a_real_game(client: Client) -> None:
    """Where one card is the moon, whoever takes it chooses; the sheet marks it and the points are those chosen."""
    player = Player(highest)
    changes = {"points": {"2C": 1}, "moon_effect": "choice", "hand_limit": 60, "target": 1000000}
    scene = opened(client, "standard", 3, **changes)
    Game(client, scene, player.lines).run()
    mine = [scored for scored in scene.scored if scored.shooter == 0]
    assert mine
    assert len(mine) == sum(question.kind == "moon" for question in player.asked)
    assert {(-26, 0, 0)} == {scored.points for scored in mine}
    assert -26 * len(mine) == scene.totals[0] - sum(
        scored.points[0] for scored in scene.scored if scored.shooter != 0
    )
    assert "You shot the moon in hand" in player.text.getvalue()


@pytest.mark.parametrize(("variant", "players"), [("basic", 4), ("standard", 3), ("cancellation", 11)])
def test_every_screen_of_a_game_fits(client: Client, variant: str, players: int) -> None:
    """A whole hand drawn card by card: never more lines than the terminal has, never an empty screen."""
    scene = opened(client, variant, players, hand_limit=1)
    paper = Paper(pace=0, watching=True, title="Hearts")
    Game(client, scene, paper.screen, auto=True).run()
    heights = [page.count("\n") for page in paper.pages()]
    assert len(heights) > scene.terms.hand * players
    assert 0 < min(heights) <= max(heights) <= 23
    assert "over" == scene.table.phase
