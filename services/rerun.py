"""Claim B of a proof: the house's bots decided by what their seat may see, and by nothing else (``docs/spec/audit.md`` 11).

The table before each decision is rebuilt from the revealed cards by the same `domain.fold` as a live one, and
`domain.bots` is asked again: bot, seat's view, budget and seed are then what they were, and so must be the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeGuard

from msgspec import UNSET

from domain import events as e
from domain.bots import Action, UnknownBot, house_action, house_bot
from domain.cards import NAMES, format_cards
from domain.fold import apply, fold
from domain.refusals import CorruptLog
from domain.state import State
from services.faults import Failed, Shown
from services.groups import group_of, sealed_words
from services.levels import NO_LEVEL, Level, bots_level
from services.revealed import put_back

Move = e.CardsPassed | e.CardPlayed | e.MoonChosen
_HOUSE: Final = ("bot", "clock")
"""Who moves for the house."""
NOT_ASKED: Final = "nobody has asked for it"
ASK: Final = "let the bots decide again (--rerun-bots)"
_WOULD: Final[dict[type[Move], str]] = {
    e.CardsPassed: "pass",
    e.CardPlayed: "play",
    e.MoonChosen: "choose",
}


def bot_moves(events: Sequence[e.AnyEvent]) -> int:
    """How many decisions of a game are the house's, by its bots or by the stand-in."""
    return sum([event.by in _HOUSE for event in events if type(event) in _WOULD])  # type: ignore[union-attr]


def _is_houses(event: e.AnyEvent) -> TypeGuard[Move]:
    return type(event) in _WOULD and event.by in _HOUSE  # type: ignore[union-attr]


def _is_hidden(event: e.AnyEvent) -> bool:
    """Whether a hand is dealt whose cards, or whose secret, are not known."""
    return isinstance(event, e.HandDealt) and (event.hidden is UNSET or not event.hidden.secret)


class BotsCheck:
    """Makes the house's decisions of a game again, of which it is fed the events in order, hand by hand.

    The deals must have been checked. No hand of a game without secrets can be judged.
    """

    def __init__(self) -> None:
        self._made = self._total = 0
        self._missing: dict[tuple[str, str], int] = {}
        """Bots that this program does not have, and how many decisions are theirs."""
        self._state: State | None = None
        self._number = 0
        self._over = False
        """Whether nothing further can be judged."""
        self._waiting: list[e.AnyEvent] = []
        """Events from the first hand on whose cards are sealed: of a duplicate table."""
        self._group: str | None = None
        """The group of a duplicate table."""
        self._lost = ""
        """Why what the bots saw cannot be rebuilt; empty where it can."""

    def feed(self, events: Sequence[e.AnyEvent], broken_off: Shown | None, fault: int | None) -> None:
        """Judge what comes next; ``broken_off`` is the hand that the end of the game reveals in it.

        ``fault`` is the first event that does not follow from the rules, where it is known: what comes before it is
        judged. Raises `Failed` at the first decision that comes out otherwise.
        """
        self._total += bot_moves(events)
        if self._over:
            return
        try:
            told = put_back([*self._waiting, *events], broken_off)
            told = told if fault is None else told[: max(fault - 1 - self._number, 0)]
            known = self._known(told)
            self._follow(told[:known])
            self._number, self._waiting = self._number + known, told[known:]
        except (CorruptLog, LookupError) as error:
            self._lost = f"what the bots saw cannot be rebuilt: {error}"
        self._over |= bool(self._lost) or fault is not None

    def _known(self, events: Sequence[e.AnyEvent]) -> int:
        """How many of the events come before a hand of a duplicate table that is still sealed."""
        first = events[0] if events and not self._number else None
        if isinstance(first, e.GameCreated):
            self._group = group_of(first)
        if self._group is None:
            return len(events)
        return next((at for at, one in enumerate(events) if _is_hidden(one)), len(events))

    def _follow(self, events: Sequence[e.AnyEvent]) -> None:
        """Fold the events, and judge each decision by the table right before it, until the cards are not known."""
        for number, event in enumerate(events, self._number + 1):
            state = self._state
            if state is None:
                self._state = fold(None, [event])
                continue
            if _is_hidden(event):
                self._over = True
                return
            if _is_houses(event):
                self._judge(state, number, event)
            apply(state, event)

    def _judge(self, state: State, number: int, event: Move) -> None:
        named = house_bot(state, event.seat)
        try:
            wanted = _told(house_action(state, event.seat))
        except UnknownBot:
            who = (named.name, named.version)
            self._missing[who] = self._missing.get(who, 0) + 1
            return
        self._made += 1
        if wanted != (made := _told_of(event)):
            title = "stand-in" if state.seats[event.seat].kind == "player" else "bot"
            raise Failed(
                number,
                f"seat {event.seat}, {title} {named.name}@{named.version} would {_WOULD[type(event)]} {wanted}, not {made}",
            )

    @property
    def _sealed(self) -> list[int]:
        """The hands that are over and wait for their reveal."""
        return [one.hand for one in self._waiting if isinstance(one, e.HandScored)]

    def level(self, fault: int | None) -> Level:
        """How far that is; ``fault`` as in `result`."""
        if not self._total:
            return NO_LEVEL
        if self._missing:
            return bots_level(made=False, rest="use a program that has these bots")
        if self._lost:
            return bots_level(made=False, rest="")
        if self._sealed:
            return bots_level(
                made=False, rest="check again when every table of the group has finished the hand"
            )
        waiting = self._made < self._total and fault is None
        return bots_level(
            made=self._made > 0, rest="check again when the hand in play is over" if waiting else ""
        )

    def result(self, fault: int | None) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds; ``fault`` is the first event that does not follow from the rules."""
        if not self._total:
            return "not shown", "no house bot has made a move"
        if self._lost:
            return "not shown", self._lost
        if sealed := self._sealed:
            return "not shown", sealed_words(sealed, self._group or "")
        made, waiting = self._made, self._total - self._made - sum(self._missing.values())
        again = f"{made} {'decision' if made == 1 else 'decisions'} of bots made again"
        if self._missing:
            bots = ", ".join(
                f"{name:.40}@{version:.40} ({count} decisions)"
                for (name, version), count in self._missing.items()
            )
            return "not shown", f"this program does not have {bots}, and one that does would show it; {again}"
        if fault is not None:
            return (
                "not shown",
                f"what follows event {fault} is not played by the rules; {again} before it",
            )
        if not made:
            return (
                "not shown",
                f"no hand is over yet; the {waiting} decisions in this one can be made again then",
            )
        return "holds", again + (f"; {waiting} more when the hand in play is over" if waiting else "")


def _told(action: Action) -> str:
    """A decision as it is told: a card list, a card, or what a moon does."""
    if isinstance(action, tuple):
        return format_cards(action)
    return action if isinstance(action, str) else NAMES[action]


def _told_of(event: Move) -> str:
    if isinstance(event, e.CardsPassed):
        return event.text
    return event.card if isinstance(event, e.CardPlayed) else event.choice
