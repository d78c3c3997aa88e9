"""Two kinds of terminal to play in: a screen that is drawn anew after each event, and plain lines."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from rich.console import Console, Group, RenderableType
from rich.text import Text

from api.playview import Look, cards_text, frame, who
from api.scene import Scene
from domain.cards import NAMES, Card, cards_of

PAGE_BEATS: Final = 6
"""How long a page stands that nobody turns, in units of the pace."""
NOTES: Final = 6
"""Notes that a screen keeps."""


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
    """Where a game is shown and its player asked; a context for the time of the game."""

    def __enter__(self) -> object:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""

    @property
    def look(self) -> Look:
        """What it can show now."""

    def show(self, scene: Scene, notes: Sequence[Text], beats: float) -> None:
        """Show the table after an event, ``notes`` telling it, and let it stand for so many beats."""

    def warn(self, notes: Sequence[Text]) -> None:
        """Tell ``notes`` when the player is asked next, and no longer."""

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
        """What happened last."""
        self.warnings: list[Text] = []
        """What is told the next time that the player is asked."""
        self._read, self._sleep = read, sleep
        self._due = 0.0

    def __enter__(self) -> Screen:
        with suppress(ImportError):
            import readline  # noqa: F401 (lets `input` edit its line; not there on every system)
        self.console.set_alt_screen(True)
        return self

    def __exit__(self, *_: object) -> None:
        self.console.set_alt_screen(False)

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
        """Keep ``notes`` for the next question."""
        self.warnings.extend(notes)

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
            body: RenderableType = Group(question.page, Text(""), *self.warnings, question.prompt)
        else:
            notes, choices = [*self.notes, *self.warnings], question.choices
            body = frame(
                scene, self.look, title=self.title, notes=notes, choices=choices, prompt=question.prompt
            )
        self._draw(body)
        self.warnings.clear()
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

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to put right."""

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


def plain_hand(scene: Scene, choices: Sequence[Card] | None) -> list[Text]:
    """A hand, and the cards that may be played with their numbers, as plain lines."""
    look = Look(signs=False)
    lines = [Text("Your hand: ") + cards_text(cards_of(scene.own), look, "")]
    trick = [f"{who(scene, seat)} {NAMES[card]}" for seat, card in scene.trick.items()]
    if trick:
        lines.insert(0, Text(f"On the table: {', '.join(trick)}"))
    if choices is not None:
        named = [f"{number} {NAMES[card]}" for number, card in enumerate(choices, 1)]
        lines.append(Text(f"You may play: {', '.join(named)}"))
    return lines
