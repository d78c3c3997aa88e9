"""Game records replayed: what was dealt, passed and played, and the first thing that is wrong with it.

The codes and which fault is told first are ``docs/spec/record.md``. A record is replayed on the same `HandState` and judged
by the same `domain.rules` as a live table.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from domain.cards import BITS, NAMES, Card, Seat, cards_of, distinct_cards, mask_of
from domain.record_format import (
    FORMAT,
    Record,
    RecordHand,
    as_first_hand,
    parse_record,
    print_record,
    read_record,
    record_of,
    short_rules,
)
from domain.refusals import HeartsError, Refused
from domain.rules import (
    End,
    add_points,
    check_deal,
    check_pass,
    check_play,
    find_opener,
    game_end,
    hand_points,
    kitty_in_trick,
    legal_plays,
    moon_chooser,
    trick_taker,
)
from domain.ruleset import terms_of
from domain.state import HandState

__all__ = [
    "FORMAT",
    "Record",
    "RecordHand",
    "Verdict",
    "as_first_hand",
    "parse_record",
    "print_record",
    "read_record",
    "record_of",
    "replay",
    "short_rules",
]


class Verdict(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What replaying a record says of it; fields that do not apply are none and are left out of the JSON."""

    ok: bool
    code: str | None = None
    phase: Literal["pass", "play", "moon", "deal", "over"] | None = None
    hand: int | None = None
    play: int | None = None
    seat: Seat | None = None
    turn: Seat | None = None
    detail: str | None = None
    legal: list[str] | None = None
    right: list[int] | None = None
    """What points, totals or winners should have been."""
    points: list[list[int]] | None = None
    totals: list[int] | None = None
    winners: list[Seat] | None = None


class Fault(HeartsError):
    """The first thing that is wrong with a record."""

    def __init__(self, code: str, detail: str, **where: Any) -> None:
        super().__init__(detail)
        self.verdict = Verdict(ok=False, code=code, detail=detail, **where)


def replay(record: Record) -> Verdict:
    """Play the record through and judge it: the position it ends in, or its first fault."""
    try:
        return _Replay(record).run()
    except Fault as fault:
        return fault.verdict


class _Replay:
    def __init__(self, record: Record) -> None:
        self.record = record
        self.terms = terms_of(record.rules)
        self.points: list[list[int]] = []
        self.totals = [0] * record.rules.players
        self.end: End | None = None
        self.state: HandState | None = None

    def run(self) -> Verdict:
        phase: Literal["pass", "play", "moon", "deal", "over"] = "deal"
        for number, hand in enumerate(self.record.hands, 1):
            if self.end is not None:
                raise Fault("game/over", "the game was over before this hand", hand=number)
            phase = self._play_hand(number, hand, last=number == len(self.record.hands))
        winners = [] if self.end is None else list(self.end.winners)
        given = self.record.winners
        if given is not None and sorted(given) != winners:
            raise Fault("score/winners", f"winners should be {winners}", right=winners)
        verdict = Verdict(
            ok=True,
            phase="over" if self.end else phase,
            hand=len(self.record.hands) + (phase == "deal" and self.end is None),
            points=self.points,
            totals=self.totals,
            winners=winners,
        )
        if phase in ("play", "moon") and self.state is not None:
            verdict.turn = (
                self.state.turn if phase == "play" else moon_chooser(self.terms, self.state, self.totals)
            )
            if phase == "play":
                verdict.legal = [NAMES[card] for card in distinct_cards(legal_plays(self.terms, self.state))]
        return verdict

    def _play_hand(
        self, number: int, hand: RecordHand, *, last: bool
    ) -> Literal["pass", "play", "moon", "deal"]:
        phase = self._play_cards(number, hand)
        if phase == "deal":
            self._score(number, hand)
            return phase
        if hand.moon is not None:
            raise Fault("moon/not_now", "the hand is not played out", hand=number)
        if not last:
            if phase == "moon":
                raise Fault("moon/choice_missing", "who shot the moon has not chosen", hand=number)
            raise Fault(
                "hand/unfinished", "a later hand follows, and this one is not played out", hand=number
            )
        for code, given in (("score/points", hand.points), ("score/totals", hand.totals)):
            if given is not None:
                raise Fault(code, "the hand is not over, so it has no score yet", hand=number)
        return phase

    def _play_cards(self, number: int, hand: RecordHand) -> Literal["pass", "play", "moon", "deal"]:
        """Deal, pass and play; ``deal`` means that the hand is played out and its moon, if any, chosen."""
        terms = self.terms
        if not check_deal(terms, hand.deal, hand.kitty):
            raise Fault("deal/wrong_cards", "the hands and the kitty are not the deck", hand=number)
        state = self.state = HandState(
            number,
            terms.pass_offset(number),
            (number - 1) % terms.players,
            [mask_of(cards) for cards in hand.deal],
            mask_of(hand.kitty),
        )
        if not self._pass(number, hand, state):
            return "pass"
        state.lead_with(*find_opener(terms, state))
        for index, card in enumerate(hand.plays):
            if state.turn < 0 or not legal_plays(terms, state) & BITS[card]:
                self._refuse(number, index, state, card)
            state.lay(card, terms.breakers)
            if state.turn < 0:
                extra = cards_of(state.kitty) if kitty_in_trick(terms, state) else []
                state.take(trick_taker(terms, state), terms, extra)
        if state.turn >= 0:
            return "play"
        return self._choose_moon(number, hand, state)

    def _pass(self, number: int, hand: RecordHand, state: HandState) -> bool:
        """Exchange the passes; whether the hand goes on to the play."""
        if not state.offset:
            if hand.passes is not None:
                raise Fault("pass/not_now", "nothing is passed in this hand", hand=number)
            return True
        if hand.passes is None:
            if hand.plays:
                raise Fault("pass/missing", "cards were played before the pass", hand=number)
            return False
        for seat, cards in enumerate(hand.passes):
            try:
                state.passes[seat] = check_pass(self.terms, state.held[seat], cards)
            except Refused as refusal:
                raise Fault(refusal.code, f"seat {seat}: {refusal.detail}", hand=number, seat=seat) from None
        state.exchange()
        return True

    def _refuse(self, number: int, index: int, state: HandState, card: Card) -> None:
        seat = state.turn if state.turn >= 0 else None
        try:
            check_play(self.terms, state, card)
        except Refused as refusal:
            legal = list(refusal.legal or ()) or None
            raise Fault(
                refusal.code, refusal.detail, hand=number, play=index, seat=seat, legal=legal
            ) from None

    def _choose_moon(self, number: int, hand: RecordHand, state: HandState) -> Literal["moon", "deal"]:
        choosing = moon_chooser(self.terms, state, self.totals) is not None
        if choosing and hand.moon is None:
            return "moon"
        if hand.moon is not None and not choosing:
            raise Fault("moon/not_now", "nobody had to choose the effect of a moon", hand=number)
        state.choice = hand.moon
        return "deal"

    def _score(self, number: int, hand: RecordHand) -> None:
        assert self.state is not None
        points = hand_points(self.terms, self.state, self.totals, self.state.choice)
        totals = add_points(self.terms, self.totals, points)
        for code, given, right in (
            ("score/points", hand.points, points),
            ("score/totals", hand.totals, totals),
        ):
            if given is not None and list(given) != right:
                raise Fault(code, f"{code[6:]} should be {right}", hand=number, right=right)
        self.points.append(points)
        self.totals = totals
        self.end = game_end(self.terms, totals, points, number)
