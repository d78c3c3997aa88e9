"""The game in the terminal: the loop that follows a table and asks its player.

What is drawn comes from `api.playview` and `api.playpages`; what may be done is the server's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from api.client import LONGEST_WAIT, Client, Item, Problem
from api.playpages import (
    hand_result,
    help_page,
    moon_page,
    problem_text,
    rules_page,
    score_sheet,
)
from api.playview import card_name, numbered, read_card
from api.playwords import last_text, pass_words, tell, waiting_text
from api.scene import Scene
from api.terminals import Question, Terminal
from api.witness import Witness
from domain.cards import NAMES, Card, cards_of, parse_cards
from domain.refusals import Malformed
from services.printable import printable_line

BEATS: Final = {"card_played": 1, "trick_ended": 2, "passes_exchanged": 2, "moon_chosen": 2, "hand_dealt": 1}
"""How long an event is let stand, in units of the pace."""
QUIT: Final = frozenset(("quit", "q", "exit"))
HELP: Final = frozenset(("?", "help", "h"))


class Left(Exception):
    """The player has left the table; the game stays as it is."""


class Game:
    """A seat at a table, played through ``client`` in ``terminal``.

    ``opening`` is the entropy that the seat has committed to. With ``auto`` nobody is asked: the first legal card is
    played. ``witness`` is told every event, and what it finds wrong is told the player at once.
    """

    def __init__(
        self,
        client: Client,
        scene: Scene,
        terminal: Terminal,
        *,
        opening: bytes | None = None,
        auto: bool = False,
        invitation: str = "",
        witness: Witness | None = None,
    ) -> None:
        self.client, self.scene, self.terminal = client, scene, terminal
        self.opening, self.auto, self.invitation = opening, auto, invitation
        self._witness = witness
        self._too_late = False
        """Whether the deal will come without this seat's entropy."""

    def run(self) -> None:
        """Play until the game is over. Raises `Left` where the player leaves, and what the client raises."""
        scene, terminal = self.scene, self.terminal
        past = self.client.table(scene.game).seq
        while scene.seq < past:
            self._follow(self.client.events(scene.game, scene.seq).events, quiet=True)
        if scene.tally.number and scene.table.phase != "over":
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
            if self._witness is not None and (wrong := self._witness.see(item, event)):
                self.terminal.warn([Text(printable_line(one), "bold") for one in wrong])
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
                return full and not table.seats[table.you].ready and not self._too_late
            case "pass":
                return not table.seats[table.you].passed
            case "play":
                return bool(table.legal)
            case _:
                return table.turn == table.you

    def _act(self) -> None:
        """Have the player do what the table waits for, asking until the server takes the answer."""
        if self.scene.table.phase == "seats":
            self._get_ready()
            return
        question = self._question()
        while True:
            words = self._answer(question)
            if self._is_command(words):
                continue
            try:
                self._move(question, words or ["1"] if question.only else words)
                return
            except Malformed as error:
                self.terminal.warn([Text(str(error), "bold"), Text("? tells what can be typed")])
            except Problem as problem:
                if problem.status not in (400, 409, 412, 422) or (self.auto and problem.status == 422):
                    raise
                self.terminal.warn(problem_text(problem))
                if problem.status in (409, 412):
                    return  # the table has moved on: look again

    def _get_ready(self) -> None:
        """Open the entropy. Where its commitment was another process's, or time is up, the table deals without it."""
        try:
            self.client.ready(self.scene.game, self.opening)
            if self._witness is not None and self.opening is not None:
                self._witness.opened = True
        except Problem as problem:
            if problem.code in ("entropy/wrong_opening", "seat/taken"):
                self._too_late = True
            elif problem.status != 409:
                raise

    def _answer(self, question: Question) -> list[str]:
        """The words that the player types, or that are typed for it."""
        if self.auto:
            return [str(number) for number in range(1, question.count + 1)]
        try:
            return self.terminal.ask(self.scene, question).replace(",", " ").split()
        except EOFError as error:
            raise Left from error

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
        elif [word.lower() for word in words] == ["claim"]:
            self.client.claim(game)
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
            self._turn(rules_page(self.scene.terms.rules, self.terminal.look))
        elif word == "last":
            self._turn(last_text(self.scene, self.terminal.look))
        else:
            return word == "hand"
        return True


def _chosen(question: Question, words: Sequence[str]) -> list[Card]:
    """The cards that ``words`` name or number. Raises `Malformed`."""
    cards: list[Card] = []
    used: set[int] = set()
    for word in words:
        if not (word.isascii() and word.isdecimal()):
            cards.append(_named(word))
            continue
        number = int(word)
        if not 1 <= number <= len(question.choices):
            raise Malformed(f"there is no number {number}; cards are numbered 1 to {len(question.choices)}")
        if number in used:
            raise Malformed(f"number {number} is there twice")
        used.add(number)
        cards.append(question.choices[number - 1])
    return cards


def _named(word: str) -> Card:
    try:
        return read_card(word)
    except Malformed as error:
        raise Malformed(f"not a card: {word!r:.30}; write qs, 10s or its number") from error
