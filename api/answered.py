"""What the server answers, as far as our own client reads it; further members are ignored."""

from __future__ import annotations

from typing import Any

import msgspec

from domain.cards import Seat
from domain.ruleset import KEYS, RuleSet


class SeatInfo(msgspec.Struct, frozen=True):
    """A seat as anybody may see it. ``kind`` is ``player``, ``bot`` or ``open``; ``taken`` counts tricks."""

    seat: Seat
    kind: str
    name: str
    ready: bool = False
    cards: int = 0
    taken: int = 0
    passed: bool = False
    away: bool = False


class Laid(msgspec.Struct, frozen=True):
    """A card on the table, and who laid it."""

    seat: Seat
    card: str


class HandPoints(msgspec.Struct, frozen=True):
    """What a finished hand added to each total."""

    hand: int
    points: list[int]


class SignedHead(msgspec.Struct, frozen=True):
    """A receipt: the server's signed word that event ``seq`` of ``game`` has this head, all before it included."""

    game: str
    seq: int
    head: str
    signature: str


class Table(msgspec.Struct, frozen=True):
    """A table as this caller may see it; card lists are one text.

    The four from ``you`` on are those of the caller's seat. An answer to a command has its receipt.
    """

    id: str
    seq: int
    head: str
    status: str
    phase: str
    variant: str
    rules: dict[str, Any]
    seats: list[SeatInfo]
    hand_number: int
    pass_offset: int
    turn: Seat | None
    hearts_broken: bool
    trick: list[Laid]
    last_trick: list[Laid]
    last_winner: Seat | None
    totals: list[int]
    hands: list[HandPoints]
    winners: list[Seat]
    deadline: int | None = None
    reason: str | None = None
    you: Seat | None = None
    hand: str = ""
    received: str = ""
    legal: str = ""
    receipt: SignedHead | None = None

    def ruleset(self) -> RuleSet:
        """The rules by value, less the keys that this version does not know."""
        return msgspec.convert({key: self.rules[key] for key in KEYS if key in self.rules}, RuleSet)


class Item(msgspec.Struct, frozen=True):
    """An event: ``event`` are its public bytes as JSON text, ``private`` what it tells this caller's seat alone."""

    seq: int
    head: str
    event: str
    private: dict[str, str] | None = None


class Events(msgspec.Struct, frozen=True):
    """Events in order, and the cursor behind them."""

    events: list[Item]
    next: int


class NewPlayer(msgspec.Struct, frozen=True):
    """A player just made. The token is told this once."""

    id: str
    token: str


class VariantInfo(msgspec.Struct, frozen=True):
    """A published variant: the numbers of seats it has, and its rules for one of them."""

    name: str
    rules: dict[str, Any]
    title: str = ""
    summary: str = ""
    players: list[int] = []
