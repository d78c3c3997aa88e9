"""The game in the terminal: two kinds of terminal, and the loop that follows a table and asks its player.

What is drawn comes from `api.playview` and `api.playpages`; what may be done is the server's to say.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from rich.console import Console, Group, RenderableType
from rich.text import Text

from api.client import LONGEST_WAIT, Client, Item, Problem, VariantInfo
from api.playpages import (
    hand_result,
    help_page,
    moon_page,
    problem_text,
    rules_page,
    score_sheet,
)
from api.playview import (
    Look,
    card_name,
    frame,
    last_text,
    numbered,
    pass_words,
    plain_hand,
    read_card,
    tell,
    waiting_text,
)
from api.scene import Scene
from domain.cards import NAMES, Card, cards_of, parse_cards
from domain.refusals import Malformed

BEATS: Final = {"card_played": 1, "trick_ended": 2, "passes_exchanged": 2, "moon_chosen": 2, "hand_dealt": 1}
"""How long an event is let stand, in units of the pace."""
PAGE_BEATS: Final = 6
"""The same for a page that nobody turns."""
NOTES: Final = 6
"""Notes that a screen keeps."""
QUIT: Final = frozenset(("quit", "q", "exit"))
HELP: Final = frozenset(("?", "help", "h"))


class Left(Exception):
    """The player has left the table; the game stays as it is."""


@dataclass(frozen=True)
class Question:
    """What the table waits for: ``choices`` are the numbered cards, ``only`` is played by an empty line."""

    kind: Literal["pass", "play", "moon"]
    prompt: Text
    choices: Sequence[Card] = ()
    count: int = 1
    only: bool = False
    page: RenderableType | None = None


class Terminal(Protocol):
    """Where a game is shown and its player asked."""

    @property
    def look(self) -> Look:
        """What it can show now."""

    def show(self, scene: Scene, notes: Sequence[Text], beats: float) -> None:
        """Show the table after an event, ``notes`` telling it, and let it stand for so many beats."""

    def warn(self, notes: Sequence[Text]) -> None:
        """Keep ``notes`` for the next time that the player is asked."""

    def page(self, body: RenderableType) -> None:
        """Show a page until the player turns it."""

    def wait(self, scene: Scene, text: Text) -> None:
        """Show whom the table waits for."""

    def say(self, text: str) -> None:
        """Tell something at once, whatever is shown."""

    def ask(self, scene: Scene, question: Question) -> str:
        """What the player answers. Raises `EOFError` where no answer will come."""


class Screen:
    """A terminal that is drawn anew after each event, on its second screen."""

    def __init__(
        self,
        console: Console,
        *,
        title: str = "",
        pace: float = 0.5,
        watching: bool = False,
        read: Callable[[str], str] = input,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.console, self.title, self.pace, self.watching = console, title, pace, watching
        self.notes: deque[Text] = deque(maxlen=NOTES)
        self._read, self._sleep = read, sleep
        self._due = 0.0

    @property
    def look(self) -> Look:
        """The size of the terminal as it is now."""
        size = self.console.size
        return Look(size.width, size.height, self.console.encoding.lower().startswith("utf"))

    def show(self, scene: Scene, notes: Sequence[Text], beats: float) -> None:
        """Draw the table once what stands there has stood long enough."""
        self._let_stand()
        self.notes.extend(notes)
        self._draw(frame(scene, self.look, title=self.title, notes=self.notes))
        self._due = time.monotonic() + self.pace * beats

    def warn(self, notes: Sequence[Text]) -> None:
        """Add ``notes``."""
        self.notes.extend(notes)

    def page(self, body: RenderableType) -> None:
        """Draw a page, and wait for Enter."""
        self._let_stand()
        self._draw(Group(body, Text("")))
        if self.watching:
            self._sleep(self.pace * PAGE_BEATS)
        else:
            self._read("Enter goes on ")

    def wait(self, scene: Scene, text: Text) -> None:
        """Draw the table with a line in the place of the prompt."""
        self._let_stand()
        self._draw(frame(scene, self.look, title=self.title, notes=self.notes, prompt=text))

    def say(self, text: str) -> None:
        """Print a line below whatever is drawn."""
        self.console.print(Text(text), soft_wrap=True)

    def ask(self, scene: Scene, question: Question) -> str:
        """Draw the table, or the page of the question, and read a line."""
        if question.page is not None:
            self._let_stand()
            body: RenderableType = Group(question.page, Text(""), *self.notes, question.prompt)
        else:
            body = frame(
                scene,
                self.look,
                title=self.title,
                notes=self.notes,
                choices=question.choices,
                prompt=question.prompt,
            )
        self._draw(body)
        return self._read(" > ")

    def _draw(self, body: RenderableType) -> None:
        with self.console:  # in one write, so that nothing flickers
            self.console.clear()
            self.console.print(body)

    def _let_stand(self) -> None:
        left = self._due - time.monotonic()
        if left > 0:
            self._sleep(left)


class Lines:
    """Plain lines on standard output, answers from standard input: for pipes, scripts and screen readers."""

    def __init__(
        self,
        console: Console,
        *,
        pace: float = 0,
        read: Callable[[str], str] = input,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.console, self.pace = console, pace
        self._read, self._sleep = read, sleep

    @property
    def look(self) -> Look:
        """As wide as lines get, without signs."""
        return Look(self.console.width, 1000, signs=False)

    def show(self, scene: Scene, notes: Sequence[Text], beats: float) -> None:  # noqa: ARG002 (the protocol has it)
        """Print the notes."""
        self.warn(notes)
        if notes and self.pace:
            self._sleep(self.pace * beats)

    def warn(self, notes: Sequence[Text]) -> None:
        """Print ``notes``."""
        for note in notes:
            self.say(note.plain)

    def page(self, body: RenderableType) -> None:
        """Print the page."""
        self.console.print(body)

    def wait(self, scene: Scene, text: Text) -> None:
        """Bots are quick, so that only a table that has not begun is worth a line."""
        if not scene.tally.number:
            self.say(text.plain)

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(Text(text), soft_wrap=True)

    def ask(self, scene: Scene, question: Question) -> str:
        """Print hand and question, and read a line."""
        if question.page is not None:
            self.page(question.page)
        else:
            self.warn(plain_hand(scene, question.choices if question.kind == "play" else None))
        self.say(question.prompt.plain)
        return self._read("> ")


class Game:
    """A seat at a table, played through ``client`` in ``terminal``.

    ``opening`` is the entropy that the seat has committed to. With ``auto`` nobody is asked: the first legal card is
    played.
    """

    def __init__(
        self,
        client: Client,
        scene: Scene,
        terminal: Terminal,
        *,
        opening: bytes | None = None,
        about: VariantInfo | None = None,
        auto: bool = False,
        invitation: str = "",
    ) -> None:
        self.client, self.scene, self.terminal = client, scene, terminal
        self.opening, self.about, self.auto, self.invitation = opening, about, auto, invitation

    def run(self) -> None:
        """Play until the game is over. Raises `Left` where the player leaves, and what the client raises."""
        scene, terminal = self.scene, self.terminal
        self._follow(self.client.events(scene.game).events, quiet=True)
        if scene.tally.number:
            terminal.warn([Text(f"You are back at the table, in hand {scene.tally.number}.")])
        while True:
            table = self.client.table(scene.game)
            if table.seq > scene.seq:
                self._follow(self.client.events(scene.game, scene.seq).events)
                continue
            scene.settle(table)
            if table.phase == "over":
                return
            if self._waits_for_me():
                self._act()
            else:
                terminal.wait(scene, waiting_text(scene, self.invitation))
                self._follow(self.client.events(scene.game, scene.seq, LONGEST_WAIT).events)

    # --- following

    def _follow(self, items: Iterable[Item], quiet: bool = False) -> None:
        for item in items:
            event = self.scene.follow(item)
            if quiet:
                continue
            if event["t"] == "hand_dealt" and self.scene.scored:
                self._turn(self._scores(hand_result(self.scene)))
            notes = tell(self.scene, event, self.terminal.look)
            self.terminal.show(self.scene, notes, BEATS.get(event["t"], 0))

    def _scores(self, *above: Text) -> RenderableType:
        return Group(*above, Text(""), score_sheet(self.scene, self.terminal.look))

    def _turn(self, page: RenderableType) -> None:
        try:
            self.terminal.page(page)
        except EOFError as error:
            raise Left from error

    # --- acting

    def _waits_for_me(self) -> bool:
        table = self.scene.table
        if table.you is None or table.seats[table.you].away:
            return False
        match table.phase:
            case "seats":
                full = all(seat.kind != "open" for seat in table.seats)
                return full and not table.seats[table.you].ready
            case "pass":
                return not table.seats[table.you].passed
            case "play":
                return bool(table.legal)
            case _:
                return table.turn == table.you

    def _act(self) -> None:
        """Have the player do what the table waits for, asking until the server takes the answer."""
        if self.scene.table.phase == "seats":
            self.client.ready(self.scene.game, self.opening)
            return
        question = self._question()
        while True:
            if self.auto:
                self._move(question, " ".join(str(number) for number in range(1, question.count + 1)).split())
                return
            try:
                words = self.terminal.ask(self.scene, question).replace(",", " ").split()
            except EOFError as error:
                raise Left from error
            if self._is_command(words):
                continue
            try:
                self._move(question, words or ["1"] if question.only else words)
                return
            except Malformed as error:
                self.terminal.warn([Text(str(error), "bold"), Text("? tells what can be typed")])
            except Problem as problem:
                if problem.status not in (400, 409, 412, 422):
                    raise
                self.terminal.warn(problem_text(problem))
                if problem.status in (409, 412):
                    return  # the table has moved on: look again

    def _question(self) -> Question:
        scene, look = self.scene, self.terminal.look
        match scene.table.phase:
            case "pass":
                count = scene.terms.rules.pass_count
                cards = "1 card" if count == 1 else f"{count} cards"
                prompt = Text(f"Pass {cards} {pass_words(scene)} (names or numbers on one line, ? for help)")
                return Question("pass", prompt, cards_of(scene.own), count)
            case "moon":
                page = moon_page(scene, look, scene.moon_outcome("add"), scene.moon_outcome("subtract"))
                return Question("moon", Text("add or subtract?"), page=page)
            case _:
                choices = numbered(scene.own, parse_cards(scene.table.legal))
                only = len(set(choices)) == 1
                what = "You lead" if not scene.tally.trick else "Your turn"
                if only:
                    what += f": only {card_name(choices[0], look)} may be played, Enter plays it"
                else:
                    what += ": play a card (name or number, ? for help)"
                return Question("play", Text(what), choices, only=only)

    def _move(self, question: Question, words: Sequence[str]) -> None:
        """Send the answer ``words``. Raises `Malformed` where they cannot be read, and `Problem`."""
        game = self.scene.game
        if question.kind == "moon":
            meant = {"1": "add", "2": "subtract"}.get(" ".join(words), " ".join(words)).lower()
            if meant not in ("add", "subtract"):
                raise Malformed("the choice is between add (1) and subtract (2)")
            self.client.choose_moon(game, meant)
        elif question.kind == "pass":
            self.client.pass_cards(game, [NAMES[card] for card in _chosen(question, words)])
        else:
            cards = _chosen(question, words)
            if len(cards) != 1:
                raise Malformed("one card is played at a time")
            self.client.play(game, NAMES[cards[0]])

    def _is_command(self, words: Sequence[str]) -> bool:
        """Carry out what is no answer to a question; whether it was such."""
        word = words[0].lower() if len(words) == 1 else ""
        if word in QUIT:
            raise Left
        if word in HELP:
            self._turn(help_page(self.terminal.look))
        elif word == "score":
            self._turn(self._scores(Text("Scores", "bold")))
        elif word == "rules":
            self._turn(rules_page(self.scene.terms.rules, self.terminal.look, self.about))
        elif word == "last":
            self.terminal.warn([last_text(self.scene, self.terminal.look)])
        else:
            return word == "hand"
        return True


def _chosen(question: Question, words: Sequence[str]) -> list[Card]:
    """The cards that ``words`` name or number. Raises `Malformed`."""
    cards: list[Any] = []
    used: set[int] = set()
    for word in words:
        if not (word.isascii() and word.isdecimal()):
            cards.append(read_card(word))
            continue
        number = int(word)
        if not 1 <= number <= len(question.choices):
            raise Malformed(f"there is no number {number}; cards are numbered 1 to {len(question.choices)}")
        if number in used:
            raise Malformed(f"number {number} is there twice")
        used.add(number)
        cards.append(question.choices[number - 1])
    return cards
