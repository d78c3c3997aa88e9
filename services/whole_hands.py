"""A finished hand of a proof judged at once by the compiled kernel: the fast path of `services.replay`.

It is for the plain hand that most hands are: from the deal to the score nothing but passes, plays and tricks, each by
whoever has the seat, and no moon to choose for. It tells what such a hand scores, and nothing of any other hand or of one
with a fault in it, which `services.replay` judges event by event, from the deal on: no fault is put into words twice.
``tests/services/test_whole_hands.py`` holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from domain import events as e
from domain import kernel
from domain.cards import CARDS
from domain.ruleset import Terms
from services.faults import LATEST

_HOLDER: Final[dict[bool | None, e.By | None]] = {None: None, False: "player", True: "bot"}
"""By whom a seat's moves are: by whether a bot has it."""


class WholeHands:
    """Judges the whole hands of a game by its rules."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._compiled = kernel.compile_rules(terms.rules)
        passes = [e.CardsPassed] * terms.players + [e.PassesExchanged]
        play = ([e.CardPlayed] * terms.players + [e.TrickEnded]) * terms.hand
        self._held: list[type[e.Event]] = [e.HandDealt, *play, e.HandScored]
        """The kinds of the events of a plain hand in which nothing is passed, and of one with a pass."""
        self._passed: list[type[e.Event]] = [e.HandDealt, *passes, *play, e.HandScored]

    def points(
        self, events: Sequence[Any], house: Sequence[bool | None], totals: list[int], before: int
    ) -> list[int] | None:
        """What a hand adds to ``totals``; none where it is not a plain one, or wrong, or the kernel is not here.

        ``events`` are those from its deal on; the deal's number must be right, the points and totals told are not looked
        at. ``house`` is whether a bot has each seat, none where that is not known; ``before`` is the time of the event
        before the deal, in ms.
        """
        number = events[0].hand
        offset = self._terms.pass_offset(number)
        if self._compiled is None or [*map(type, events)] != (self._passed if offset else self._held):
            return None
        times = [event.at for event in events]
        if times[0] < before or times[-1] > LATEST or times != sorted(times):
            return None
        try:
            return self._judge(events, offset, house, totals)
        except (LookupError, ValueError):  # a seat or card that there is not
            return None

    def _judge(
        self, events: Sequence[Any], offset: int, house: Sequence[bool | None], totals: list[int]
    ) -> list[int] | None:
        players, scored = self._terms.players, events[-1]
        first = players + 2 if offset else 1
        plays = list(events[first:-1])
        takers = [trick.seat for trick in plays[players :: players + 1]]
        del plays[players :: players + 1]
        passes = events[1 : first - 1] if offset else ()
        passers = [move.seat for move in passes]
        seats = [move.seat for move in plays]
        holders = [_HOLDER[one] for one in house]
        if (
            [move.by for move in plays] != [holders[seat] for seat in seats]
            or [move.by for move in passes] != [holders[seat] for seat in passers]
            or sorted(passers) != list(range(len(passers)))
            or scored.hand != events[0].hand
            or (offset and events[first - 1].hand != scored.hand)
            or scored.deal is None
            or scored.kitty is None
            or kernel.NOBODY in takers
        ):
            return None
        told = kernel.ToldHand(
            scored.hand,
            scored.deal,
            scored.kitty,
            scored.passes,
            seats=bytes(seats),
            plays=bytes([CARDS[play.card] for play in plays]),
            takers=bytes([kernel.NOBODY if seat is None else seat for seat in takers]),
        )
        return kernel.score_hand(self._compiled, told, totals)
