"""Claim R of a proof: every move was legal and every score follows (``docs/spec/audit.md``).

The public events are moved through the same `HandState` and judged by the same `domain.rules` as a live table. A
finished hand has revealed its cards and is checked whole, and so is one that was broken off, as far as it was played;
of a hand in play the order of play is. A hand without anything unusual is handed to the compiled kernel first
(`services.whole_hands`), which says the same of it or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from msgspec import UNSET

from domain import events as e
from domain.cards import CARDS, cards_of, mask_of, parse_cards
from domain.commands import ABANDON_SECONDS, LONGEST_CLOCK
from domain.refusals import CorruptLog, Malformed, Refused
from domain.rules import (
    MOON_CHOICES,
    End,
    add_points,
    check_deal,
    check_pass,
    find_opener,
    game_end,
    hand_points,
    kitty_in_trick,
    moon_chooser,
    trick_taker,
    why_not,
)
from domain.ruleset import terms_of
from domain.state import HandState
from services.claimed import ClaimCheck
from services.faults import LATEST, Failed, Shown
from services.whole_hands import WholeHands


class RulesCheck:
    """Replays a game's public events against the rules.

    It is fed the events in order, a hand at a time: what `services.hands` calls a hand, which is up to a `hand_scored` or
    `game_ended`, for the cards of a hand are known from its end.
    """

    def __init__(self) -> None:
        self._shown: e.HandScored | Shown | None = None
        """The cards of the hand at hand, where its end reveals them."""
        self._scored_hands = 0
        self._broken_off = False
        self._number = 0
        self._at = 0
        """When the event at hand happened, in ms."""
        self._before = 0
        """When the event before it happened, in ms."""
        self._since = 0
        """When the table came to wait for the seats it waits for, in ms: what `domain.game.deadline` counts from."""
        self._due: type[e.Event] | None = None
        self._over = False
        self._done = 0
        """The last hand that was scored."""
        self._end: End | None = None
        self._hand: HandState | None = None
        self._revealed = False
        self._passed: set[int] = set()
        self._opened = False
        """Whether a seat has said that it is ready."""
        self._claims = ClaimCheck()

    def feed(self, events: Sequence[e.AnyEvent], broken_off: Shown | None = None) -> None:
        """Judge what comes next of the game; ``broken_off`` is the hand that the end of the game reveals in it.

        Raises `Failed`, after which it must not be fed again.
        """
        last = events[-1]
        self._shown = last if isinstance(last, e.HandScored) else broken_off
        self._broken_off |= broken_off is not None
        for at, event in enumerate(events):
            if type(event) is e.HandDealt and self._judge_whole(events[at:] if at else events):
                return
            self._number += 1
            self._judge(event)

    def result(self) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds of all that it was fed."""
        done = self._scored_hands
        if not done and not self._broken_off:
            return "not shown", "no hand is over yet"
        rest = "" if self._over else "; of the hand in play the order of play is"
        if self._broken_off:
            rest = "; the one that was broken off is as far as it was played"
        return "holds", f"{done} {'hand' if done == 1 else 'hands'} checked to the last card{rest}"

    def _judge(self, event: e.AnyEvent) -> None:
        if self._over:
            self._fail("the game was over")
        if not self._at <= event.at <= LATEST:
            self._fail("it happened before the event before it, or at no time")
        self._before, self._at = self._at, event.at
        if self._due is not None and type(event) is not self._due:
            self._fail(f"{self._due.__name__} is due here")
        self._due = None
        try:
            self._check_claim(event)
            _CHECKS[type(event)](self, event)
        except (CorruptLog, Malformed, LookupError, ValueError) as error:
            raise Failed(self._number, f"it does not follow: {error}") from error

    def _judge_whole(self, events: Sequence[Any]) -> bool:
        """Judge a whole hand from its deal to its score at once; false, and nothing is changed, where that cannot be."""
        dealt, scored = events[0], events[-1]
        over = self._hand is None or self._hand.number == self._done
        if self._due is not e.HandDealt or not over or dealt.hand != self._done + 1 or self._branch:
            return False
        self._give_back()
        points = self._whole.points(events, self._house, self._totals, self._at)
        if points is None or list(scored.points) != points:
            return False
        totals = add_points(self._terms, self._totals, points)
        if list(scored.totals) != totals:
            return False
        self._number += len(events)
        self._before, self._at = events[-2].at, scored.at
        # all that is asked of a hand that is over is its number
        self._hand = HandState(dealt.hand, 0, 0, [], 0)
        self._note_score(points, totals)
        return True

    def _check_claim(self, event: e.AnyEvent) -> None:
        if self._number == 1 or self._is_copied(event):
            return
        house = isinstance(event, e.CardPlayed) and self._house[event.seat] is True
        why = self._claims.fault(event, self._terms, self._hand, house=house, shown=self._revealed)
        if why is not None:
            self._fail(why)

    def _fail(self, why: str) -> None:
        raise Failed(self._number, why)

    def _playing(self) -> HandState:
        if self._hand is None:
            raise CorruptLog("no hand is in play")
        return self._hand

    def _created(self, event: e.GameCreated) -> None:
        if self._number > 1:
            self._fail("a game is created once")
        self._terms = terms_of(event.rules)
        self._whole = WholeHands(self._terms)
        self._totals = [0] * event.rules.players
        self._house: list[bool | None] = [None] * event.rules.players
        self._hints = event.hints
        self._returning: set[int] = set()
        """Seats that their persons play again from the next hand on."""
        self._clock = event.clock
        if event.clock is not None and not 1 <= event.clock <= LONGEST_CLOCK:
            self._fail(f"a clock has 1 to {LONGEST_CLOCK} seconds")
        self._abandon_seconds = None if event.abandon_seconds is UNSET else event.abandon_seconds
        self._branch = event.branch is not UNSET
        if self._branch and (event.rated or event.imported is True):
            self._fail("a practice table is neither rated nor imported")
        self._created_at = event.at
        low, high = ABANDON_SECONDS
        if self._abandon_seconds is not None and not low <= self._abandon_seconds <= high:
            self._fail(f"a table is abandoned after {low} to {high} seconds")

    def _seat_taken(self, event: e.SeatTaken) -> None:
        person = event.kind == "player"
        if (event.player is None) is person or (event.bot is None) is not person:
            self._fail("a player has an id and a bot its name, and neither has the other's")
        self._house[event.seat] = event.kind == "bot"

    def _seat_left(self, event: e.SeatLeft) -> None:
        self._house[event.seat] = None

    def _seat_moved(self, event: e.SeatToBot | e.SeatTakenBack) -> None:
        self._returning.discard(event.seat)
        back = isinstance(event, e.SeatTakenBack)
        self._house[event.seat] = not (back and self._hints)
        if back and not self._hints:  # the person takes over with the next hand only
            self._returning.add(event.seat)

    def _ignored(self, _: e.AnyEvent) -> None:
        pass

    def _ready(self, _: e.SeatReady) -> None:
        self._opened = True

    def _locked(self, _: e.GameLocked) -> None:
        self._due = e.HandDealt

    def _dealt(self, event: e.HandDealt) -> None:
        if self._branch and self._hand is None:
            if event.hand != self._terms.rules.hand_limit:
                self._fail("a practice table ends with its hand")
            self._done = event.hand - 1
        before = self._done if self._hand is None else self._hand.number
        if event.hand != before + 1 or before != self._done:
            self._fail(f"hand {event.hand} is not the next")
        terms = self._terms
        shown = self._shown if self._shown is not None and self._shown.hand == event.hand else None
        self._revealed = shown is not None
        self._passed = set()
        self._since = event.at
        self._give_back()
        if shown is None:
            deal, kitty = [mask_of(terms.deck)] * terms.players, 0
        else:
            hands = [parse_cards(text) for text in shown.deal]
            extras = parse_cards(shown.kitty)
            if not check_deal(terms, hands, extras):
                self._fail("the deal is not the deck")
            deal, kitty = [mask_of(hand) for hand in hands], mask_of(extras)
        self._hand = HandState(
            event.hand, terms.pass_offset(event.hand), (event.hand - 1) % terms.players, deal, kitty
        )
        if not self._hand.offset and self._revealed:
            self._hand.lead_with(*find_opener(terms, self._hand))

    def _give_back(self) -> None:
        """Let the persons play again who came back to their seats during the hand before."""
        while self._returning:
            self._house[self._returning.pop()] = False

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

    def _scored(self, event: e.HandScored) -> None:
        hand = self._playing()
        if event.hand != hand.number or len(hand.history) < self._terms.hand:
            self._fail("the hand is not played out")
        if not hand.offset and event.passes is not None:
            self._fail("nothing was passed in this hand")
        if moon_chooser(self._terms, hand, self._totals) is not None and hand.choice is None:
            self._fail("who shot the moon has not chosen")
        points = hand_points(self._terms, hand, self._totals, hand.choice)
        if list(event.points) != points:
            self._fail(f"the points are {points}")
        totals = add_points(self._terms, self._totals, points)
        if list(event.totals) != totals:
            self._fail(f"the totals are {totals}")
        self._note_score(points, totals)

    def _note_score(self, points: list[int], totals: list[int]) -> None:
        hand = self._playing()
        self._totals, self._done = totals, hand.number
        self._scored_hands += 1
        self._end = game_end(self._terms, totals, points, hand.number)
        self._due = e.HandDealt if self._end is None else e.GameEnded

    def _ended(self, event: e.GameEnded) -> None:
        if list(event.totals) != self._totals:
            self._fail(f"the totals are {self._totals}")
        if event.reason == "abandoned":
            self._abandoned(event)
        else:
            hand = self._hand
            end = self._end if hand is not None and hand.number == self._done else None
            if end is None or end.reason != event.reason:
                self._fail(f"the game has not ended by its {event.reason}")
            elif event.winners != end.winners:
                self._fail(f"the winners are {list(end.winners)}")
        self._over = True

    def _abandoned(self, event: e.GameEnded) -> None:
        """An end as abandoned, by the conditions of `domain.game.abandoned_at`."""
        if self._end is not None:
            self._fail(f"abandoned, and the game had ended by its {self._end.reason}")
        if event.winners:
            self._fail("nobody wins an abandoned game")
        if self._abandon_seconds is None:
            self._fail("abandoned, and the first event names no time after which the table is")
        elif event.at < self._before + self._abandon_seconds * 1000:
            self._fail("abandoned before its time was over")
        if self._hand is None:
            if self._opened:
                self._fail("abandoned while the deadline for the deal was running")
        elif self._clock is not None:
            self._fail("abandoned at a table with a clock, where the house moves")
        elif any(self._house[seat] for seat in self._waits_for(self._hand)):
            self._fail("abandoned while it waited for a bot")

    def _waits_for(self, hand: HandState) -> list[int]:
        """The seats that a hand in play waits for, as far as is known."""
        if hand.offset and not hand.exchanged:
            return [seat for seat in range(self._terms.players) if seat not in self._passed]
        if hand.turn >= 0:
            return [hand.turn]
        chooser = moon_chooser(self._terms, hand, self._totals) if self._revealed else None
        return [] if chooser is None else [chooser]


_CHECKS: Final[dict[type[e.Event], Callable[[RulesCheck, Any], None]]] = {
    e.GameCreated: RulesCheck._created,
    e.SeatTaken: RulesCheck._seat_taken,
    e.SeatLeft: RulesCheck._seat_left,
    e.SeatReady: RulesCheck._ready,
    e.GameLocked: RulesCheck._locked,
    e.HandDealt: RulesCheck._dealt,
    e.CardsPassed: RulesCheck._cards_passed,
    e.PassesExchanged: RulesCheck._exchanged,
    e.CardPlayed: RulesCheck._played,
    e.TrickEnded: RulesCheck._trick_ended,
    e.MoonChosen: RulesCheck._moon,
    e.HandScored: RulesCheck._scored,
    e.SeatToBot: RulesCheck._seat_moved,
    e.SeatTakenBack: RulesCheck._seat_moved,
    e.KeyRotated: RulesCheck._ignored,
    e.GameEnded: RulesCheck._ended,
}
