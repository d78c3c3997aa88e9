"""The moves of a hand in a proof, judged one by one by the rules: the part of `services.replay` that knows of cards.

Of a hand whose cards are not known the order of play is judged.
"""

from __future__ import annotations

from domain import events as e
from domain.cards import CARDS, cards_of, parse_cards
from domain.refusals import CorruptLog, Refused
from domain.rules import (
    MOON_CHOICES,
    check_pass,
    find_opener,
    kitty_in_trick,
    moon_chooser,
    trick_taker,
    why_not,
)
from domain.ruleset import Terms
from domain.state import HandState
from services.claimed import ClaimCheck
from services.faults import Failed, Shown


class MoveRules:
    """The hand in play, and what may happen in it."""

    _terms: Terms
    _totals: list[int]
    _house: list[bool | None]
    """By seat whether a bot has it; none where nobody does."""
    _clock: int | None
    _branch: bool
    _created_at: int

    def __init__(self) -> None:
        self._shown: e.HandScored | Shown | None = None
        """The cards of the hand at hand, where its end reveals them."""
        self._number = 0
        self._at = 0
        """When the event at hand happened, in ms."""
        self._since = 0
        """When the table came to wait for the seats it waits for, in ms: what `domain.game.deadline` counts from."""
        self._due: type[e.Event] | None = None
        self._hand: HandState | None = None
        self._revealed = False
        self._passed: set[int] = set()
        self._claims = ClaimCheck()

    def _fail(self, why: str) -> None:
        raise Failed(self._number, why)

    def _playing(self) -> HandState:
        if self._hand is None:
            raise CorruptLog("no hand is in play")
        return self._hand

    def _check_claim(self, event: e.AnyEvent) -> None:
        if self._number == 1 or self._is_copied(event):
            return
        house = isinstance(event, e.CardPlayed) and self._house[event.seat] is True
        why = self._claims.fault(event, self._terms, self._hand, house=house, shown=self._revealed)
        if why is not None:
            self._fail(why)

    def _check_mover(self, event: e.CardsPassed | e.CardPlayed | e.MoonChosen) -> None:
        seat, by = event.seat, event.by
        if by == "claim" or self._is_copied(event):
            return
        house = self._house[seat]
        if house is not None and house is not (by == "bot"):
            self._fail(f"a move by {by} at seat {seat}, which is {'a' if house else 'no'} bot's")
        if by != "clock":
            return
        if self._clock is None:
            self._fail("a move by clock at a table without one")
        elif event.at < self._since + self._clock * 1000:
            self._fail(f"a move by clock before the time of seat {seat} was over")

    def _is_copied(self, event: e.AnyEvent) -> bool:
        """Whether it may be copied from the game that this table was branched from, and was made there."""
        return self._branch and event.at == self._created_at

    def _cards_passed(self, event: e.CardsPassed) -> None:
        hand = self._playing()
        self._check_mover(event)
        if not hand.offset or event.seat in self._passed:
            self._fail(f"seat {event.seat} has nothing to pass")
        self._passed.add(event.seat)
        if len(self._passed) == self._terms.players:
            self._due = e.PassesExchanged

    def _exchanged(self, event: e.PassesExchanged) -> None:
        hand = self._playing()
        if event.hand != hand.number or len(self._passed) < self._terms.players:
            self._fail("not every seat has passed")
        self._since = event.at
        if not self._revealed:
            hand.exchanged = True
            return
        passes = None if self._shown is None else self._shown.passes
        if passes is None or len(passes) != self._terms.players:
            self._fail("the passes of this hand are not revealed")
        for seat, text in enumerate(passes or ()):
            try:
                hand.passes[seat] = check_pass(self._terms, hand.held[seat], parse_cards(text))
            except Refused as refusal:
                self._fail(f"seat {seat}: {refusal.detail}")
        hand.exchange()
        hand.lead_with(*find_opener(self._terms, hand))

    def _played(self, event: e.CardPlayed) -> None:
        hand = self._playing()
        self._check_mover(event)
        if hand.offset and not hand.exchanged:
            self._fail("the pass is not over")
        if not self._revealed and not hand.history and not hand.trick:
            hand.lead_with(event.seat, -1)
        if hand.turn != event.seat:
            self._fail(f"it is the turn of seat {hand.turn}")
        card = CARDS[event.card]
        reason = why_not(self._terms, hand, card) if self._revealed else None
        if reason is not None:
            self._fail(f"{event.card} by seat {event.seat} is {reason}")
        hand.lay(card, self._terms.breakers)
        self._since = event.at
        if hand.turn < 0:
            self._due = e.TrickEnded

    def _trick_ended(self, event: e.TrickEnded) -> None:
        hand = self._playing()
        if len(hand.trick) != self._terms.players:
            self._fail("the trick is not full")
        taker = trick_taker(self._terms, hand)
        if event.seat != taker:
            self._fail(f"the trick goes to {'nobody' if taker is None else f'seat {taker}'}")
        hand.take(taker, self._terms, cards_of(hand.kitty) if kitty_in_trick(self._terms, hand) else [])
        if hand.turn < 0 and self._revealed:
            chooser = moon_chooser(self._terms, hand, self._totals)
            self._due = e.HandScored if chooser is None else None

    def _moon(self, event: e.MoonChosen) -> None:
        hand = self._playing()
        self._check_mover(event)
        over = len(hand.history) == self._terms.hand
        if not over or self._terms.rules.moon_effect not in MOON_CHOICES or hand.choice is not None:
            self._fail("there is no moon to choose for")
        if self._revealed and moon_chooser(self._terms, hand, self._totals) != event.seat:
            self._fail("another seat shot the moon, if any did")
        hand.choice = event.choice
        if self._revealed:
            self._due = e.HandScored
