"""What an arena knows of who plays: somebody who sits down, is asked, and may fail."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from domain.events import BotName
from domain.view import View


class NoAnswer(Exception):
    """A bot did not answer: it broke, died, or took too long. The message says what happened, ``kind`` it in a word."""

    def __init__(self, why: str, kind: str = "raised") -> None:
        super().__init__(why)
        self.kind = kind


class IllegalAnswer(Exception):
    """A bot answered what is against the rules, or no answer to the question, so that it is no `Answer`. The message says what."""

    def __init__(self, why: str, cpu_ns: int) -> None:
        super().__init__(why)
        self.cpu_ns = cpu_ns


class Answer(NamedTuple):
    """What a bot decided, legal or not, and the time that it took for it: of CPU, or on the clock where that is not known."""

    action: Any
    """An `Action`, if the bot keeps to what it was asked."""
    cpu_ns: int


class Player(Protocol):
    """An entrant in one seat of one match."""

    def decide(self, seen: View, seed: bytes) -> Answer:
        """What it does in the place of the seat that sees ``seen``. ``seed`` is 32 bytes. Raises `NoAnswer`, `IllegalAnswer`."""

    def leave(self) -> None:
        """The match is over."""


class Entrant(Protocol):
    """A bot as it is entered: of the same text and version it always plays alike."""

    @property
    def text(self) -> str:
        """What `read_entrant` makes the same one of, its budget included."""

    @property
    def id(self) -> BotName:
        """Name, version and budget."""

    def sit(self) -> Player:
        """Take a seat of one match. It does not fail: who cannot begin says so when it is asked."""
