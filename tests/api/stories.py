"""Scenes made by hand: what happened at a table, told event by event, as a client would have followed it."""

from __future__ import annotations

import io
from typing import Any

import msgspec
from rich.console import Console, RenderableType

from api.client import Item, Laid, SeatInfo, Table
from api.playview import Look
from api.scene import Scene
from domain.cards import parse_cards
from domain.shuffle import genesis_head, next_head
from domain.variants import ruleset_of

GAME = "g-story"
WIDE = Look(80, 24)


class Story:
    """A table and the scene of one who sits at seat 0 of it; bots sit in the others."""

    def __init__(
        self, variant: str = "standard", *, you: int | None = 0, name: str = "Anna", **changes: Any
    ) -> None:
        self.rules = ruleset_of({"variant": variant, **changes})
        self.you = you
        others = [SeatInfo(seat, "bot", "rules", ready=True) for seat in range(1, self.rules.players)]
        self.seats = [SeatInfo(0, "player", name, ready=True), *others]
        self.seq, self._head = 0, genesis_head(GAME)
        self.scene = Scene(self.table())
        self.last: dict[str, Any] = {}

    def table(self, **fields: Any) -> Table:
        """The server's view; what is not given is as before the deal."""
        usual: dict[str, Any] = {
            "id": GAME,
            "seq": self.seq,
            "head": self._head.hex(),
            "status": "playing",
            "phase": "seats",
            "variant": self.rules.variant,
            "rules": msgspec.to_builtins(self.rules),
            "seats": self.seats,
            "hand_number": 0,
            "pass_offset": 0,
            "turn": None,
            "hearts_broken": False,
            "trick": list[Laid](),
            "last_trick": list[Laid](),
            "last_winner": None,
            "totals": [0] * self.rules.players,
            "hands": [],
            "winners": [],
            "you": self.you,
        }
        return Table(**usual | fields)

    def item(self, event: dict[str, Any], private: dict[str, str] | None = None) -> Item:
        """The next event as the server would send it, and the chain grown by it."""
        raw = msgspec.json.encode(event)
        self.seq += 1
        self._head = next_head(self._head, raw)
        return Item(self.seq, self._head.hex(), raw.decode(), private)

    def happens(self, t: str, private: dict[str, str] | None = None, **fields: Any) -> Story:
        """An event happens, and the scene follows it."""
        self.last = dict(
            self.scene.follow(self.item({"n": self.seq + 1, "t": t, "at": 0, **fields}, private))
        )
        return self

    def deal(self, cards: str, hand: int = 1) -> Story:
        """Hand number ``hand`` is dealt, ``cards`` to seat 0."""
        return self.happens("hand_dealt", {"cards": cards, "key": ""}, hand=hand, hands=[], kitty=None)

    def exchange(self, given: str, received: str) -> Story:
        """All pass at once: seat 0 gives ``given`` and gets ``received``."""
        self.happens("cards_passed", {"cards": given, "key": ""}, seat=0, cards="", by="player")
        for seat in range(1, self.rules.players):
            self.happens("cards_passed", seat=seat, cards="", by="bot")
        return self.happens("passes_exchanged", {"received": received, "key": ""}, hand=1)

    def play(self, leader: int, cards: str, taker: int | None = -1) -> Story:
        """``cards`` are laid from ``leader`` on; with a ``taker`` (none: dead) the trick ends."""
        for at, card in enumerate(cards.split()):
            seat = (leader + at) % self.rules.players
            self.happens("card_played", seat=seat, card=card, by="player" if seat == 0 else "bot")
        return self if taker == -1 else self.happens("trick_ended", seat=taker)

    def score(self, points: list[int], totals: list[int], hand: int = 1, kitty: str = "") -> Story:
        """The hand is over."""
        return self.happens(
            "hand_scored",
            hand=hand,
            secret="",
            deal=[],
            kitty=kitty,
            passes=None,
            points=points,
            totals=totals,
        )

    def settle(self, phase: str = "play", **fields: Any) -> Scene:
        """The scene, with the server's view of this moment."""
        hand = " ".join(fields.pop("hand", "").split())
        self.scene.settle(self.table(phase=phase, hand=hand, **fields))
        return self.scene


def won_by(seat: int, story: Story, hand: str) -> Story:
    """Seat ``seat`` takes every trick of a hand of one deck, four seats: the deck laid card by card."""
    cards = parse_cards(hand)
    names = hand.split()
    for at in range(0, len(cards), 4):
        story.play(0, " ".join(names[at : at + 4]), seat)
    return story


def drawn(body: RenderableType, width: int = 80, colours: bool = False) -> list[str]:
    """The lines of ``body`` on a terminal of ``width`` characters, without colours unless they are asked for."""
    file = io.StringIO()
    system: Any = "256" if colours else None
    console = Console(
        file=file, width=width, height=24, force_terminal=colours, color_system=system, highlight=False
    )
    console.print(body)
    return [line.rstrip() for line in file.getvalue().splitlines()]
