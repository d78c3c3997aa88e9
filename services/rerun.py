"""Claim B of a proof: the house's bots decided by what their seat may see, and by nothing else (``docs/spec/audit.md`` 11).

The table before each decision is rebuilt from the revealed cards by the same `domain.fold` as a live one, and
`domain.bots` is asked again: bot, seat's view, budget and seed are then what they were, and so must be the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import UNSET

from domain import events as e
from domain.bots import Action, UnknownBot, house_action, house_bot
from domain.cards import NAMES, format_cards
from domain.fold import apply, fold
from domain.refusals import CorruptLog
from domain.state import State
from services.replay import Failed, Shown
from services.revealed import put_back

Move = e.CardsPassed | e.CardPlayed | e.MoonChosen
NOT_ASKED: Final = "--rerun-bots plays the bots' decisions again"
_WOULD: Final[dict[type[Move], str]] = {
    e.CardsPassed: "pass",
    e.CardPlayed: "play",
    e.MoonChosen: "choose",
}


def bot_moves(events: Sequence[e.AnyEvent]) -> int:
    """How many decisions of a game are the house's, by its bots or by the stand-in."""
    return sum(_is_houses(event) for event in events)


def _is_houses(event: e.AnyEvent) -> bool:
    return isinstance(event, Move) and event.by in ("bot", "clock")


class BotsCheck:
    """Makes the house's decisions of a game again; ``broken_off`` is the hand that the end of the game reveals.

    The deals must have been checked. ``fault`` is the first event that does not follow from the rules: what comes before
    it is judged. No hand of a game without secrets can be judged.
    """

    def __init__(self, broken_off: Shown | None = None, fault: int | None = None) -> None:
        self._broken_off, self._fault = broken_off, fault
        self._made = 0
        self._missing: dict[tuple[str, str], int] = {}
        """Bots that this program does not have, and how many decisions are theirs."""

    def run(self, events: Sequence[e.AnyEvent]) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds. Raises `Failed` at the first decision that comes out otherwise."""
        total = bot_moves(events)
        if not total:
            return "not shown", "no house bot has made a move"
        try:
            self._follow(put_back(list(events), self._broken_off))
        except (CorruptLog, LookupError) as error:
            return "not shown", f"what the bots saw cannot be rebuilt: {error}"
        return self._result(total)

    def _follow(self, events: Sequence[e.AnyEvent]) -> None:
        """Fold the events, and judge each decision by the table right before it, until the cards are not known."""
        state = fold(None, events[:1])
        for number, event in enumerate(events[1 : (self._fault or len(events) + 1) - 1], 2):
            if isinstance(event, e.HandDealt) and (event.hidden is UNSET or not event.hidden.secret):
                return
            if isinstance(event, Move) and event.by in ("bot", "clock"):
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

    def _result(self, total: int) -> tuple[Literal["holds", "not shown"], str]:
        made, waiting = self._made, total - self._made - sum(self._missing.values())
        again = f"{made} {'decision' if made == 1 else 'decisions'} of bots made again"
        if self._missing:
            bots = ", ".join(
                f"{name:.40}@{version:.40} ({count} decisions)"
                for (name, version), count in self._missing.items()
            )
            return "not shown", f"this program does not have {bots}, and one that does would show it; {again}"
        if self._fault is not None:
            return (
                "not shown",
                f"what follows event {self._fault} is not played by the rules; {again} before it",
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
