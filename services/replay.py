"""Claim R of a proof: every move was legal and every score follows (``docs/spec/audit.md``).

The public events are moved through the same `HandState` and judged by the same `domain.rules` as a live table. A
finished hand has revealed its cards and is checked whole, and so is one that was broken off, as far as it was played;
of a hand in play the order of play is. A hand without anything unusual is handed to the compiled kernel first
(`services.whole_hands`), which says the same of it or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Final, Literal

from msgspec import UNSET

from domain import events as e
from domain.cards import mask_of, parse_cards
from domain.commands import ABANDON_SECONDS, LONGEST_CLOCK
from domain.refusals import CorruptLog, Malformed
from domain.rules import End, add_points, check_deal, find_opener, game_end, hand_points, moon_chooser
from domain.ruleset import terms_of
from domain.state import HandState
from services.claimed import ClaimCheck
from services.faults import LATEST, Failed, Shown
from services.groups import SealedHands, group_of
from services.replayed_moves import MoveRules
from services.whole_hands import WholeHands


class RulesCheck(MoveRules):
    """Replays a game's public events against the rules.

    It is fed the events in order, a hand at a time: what `services.hands` calls a hand, which is up to a `hand_scored` or
    `game_ended`, for the cards of a hand are known from its end.
    """

    def __init__(self) -> None:
        super().__init__()
        self._scored_hands = 0
        self._broken_off = False
        self._before = 0
        """When the event before the one at hand happened, in ms."""
        self._over = False
        self._done = 0
        """The last hand that was scored."""
        self._end: End | None = None
        self._opened = False
        """Whether a seat has said that it is ready."""
        self._group: SealedHands | None = None
        """What waits for its reveal at a duplicate table; none at any other."""
        self._is_twin = False
        """Whether this judges a hand once more whose cards were sealed."""

    def feed(self, events: Sequence[e.AnyEvent], broken_off: Shown | None = None) -> None:
        """Judge what comes next of the game; ``broken_off`` is the hand that the end of the game reveals in it.

        Raises `Failed`, after which it must not be fed again.
        """
        last = events[-1]
        self._shown = last if isinstance(last, e.HandScored) and last.deal is not None else broken_off
        self._broken_off |= broken_off is not None
        for at, event in enumerate(events):
            if type(event) is e.HandDealt:
                if self._group is not None:
                    self._group.keep(event.hand, self._twin(), events[at:])
                elif self._judge_whole(events[at:] if at else events):
                    return
            self._number += 1
            self._judge(event)

    def skip(self, events: Sequence[e.AnyEvent], number: int) -> bool:
        """Go on behind a hand that failed, ``number`` being its last event, as if its score were right; whether that can be."""
        scored = events[-1]
        if not isinstance(scored, e.HandScored) or scored.deal is None or self._group is not None:
            return False
        if not len(scored.points) == len(scored.totals) == self._terms.players:
            return False
        for event in events:
            if isinstance(event, e.SeatToBot | e.SeatTakenBack) and event.seat in range(self._terms.players):
                self._seat_moved(event)
        self._number, self._at, self._before = number, scored.at, scored.at
        self._claims = ClaimCheck()
        self._hand = HandState(scored.hand, 0, 0, [], 0)
        self._note_score(list(scored.points), list(scored.totals))
        return True

    def result(self) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds of all that it was fed."""
        done = self._scored_hands
        if self._group is not None and self._group.waiting:
            count = f"; {_hands(done)} checked to the last card" if done else ""
            return "not shown", self._group.why + count
        if not done and not self._broken_off:
            return "not shown", "no hand is over yet"
        rest = "" if self._over else "; of the hand in play the order of play is"
        if self._broken_off:
            rest = "; the one that was broken off is as far as it was played"
        return "holds", f"{_hands(done)} checked to the last card{rest}"

    @property
    def is_sealed(self) -> bool:
        """Whether hands of a duplicate table wait for their reveal."""
        return self._group is not None and bool(self._group.waiting)

    def _twin(self) -> RulesCheck:
        """This check as it is, to judge the next hand once more when its cards are known."""
        twin = copy(self)
        twin._claims, twin._group, twin._is_twin = ClaimCheck(), None, True
        twin._house, twin._returning = [*self._house], {*self._returning}
        return twin

    def _judge(self, event: e.AnyEvent) -> None:
        if self._over and type(event) is not e.HandsRevealed:
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
        except LookupError as error:
            raise Failed(self._number, "it names a seat or a card that there is not", repr(error)) from error
        except (CorruptLog, Malformed, ValueError) as error:
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
        self._scored_hands += 1
        return True

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
        group = group_of(event)
        if group is not None:
            if self._branch:
                self._fail("a practice table is no duplicate table")
            self._group = SealedHands(group)
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
            hands = [parse_cards(text) for text in shown.deal or ()]
            extras = parse_cards(shown.kitty or "")
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

    def _scored(self, event: e.HandScored) -> None:
        hand = self._playing()
        if event.deal is None or event.kitty is None:
            self._scored_sealed(event, hand)
            return
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
        self._scored_hands += 1

    def _scored_sealed(self, event: e.HandScored, hand: HandState) -> None:
        """The score of a hand whose cards are sealed: its points are judged with them, the sums now."""
        if self._group is None:
            raise Failed(self._number, "the cards of this hand are not revealed")
        if event.hand != hand.number or len(hand.history) < self._terms.hand:
            self._fail("the hand is not played out")
        if len(event.points) != self._terms.players:
            self._fail("there are points for other seats than there are")
        totals = add_points(self._terms, self._totals, list(event.points))
        if list(event.totals) != totals:
            self._fail(f"the totals are {totals}")
        self._group.close(event.hand)
        self._note_score(list(event.points), totals)

    def _shows(self, event: e.HandsRevealed) -> None:
        """Judge a hand again from its deal on, now that its cards are known."""
        if self._is_twin:
            return
        shown = None if isinstance(self._shown, e.HandScored) else self._shown
        if self._group is None or not self._group.reveal(event, shown):
            self._fail("no such hand is the next to be revealed")
        self._scored_hands += shown is None or shown.hand != event.hand

    def _note_score(self, points: list[int], totals: list[int]) -> None:
        hand = self._playing()
        self._totals, self._done = totals, hand.number
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
        if self._group is not None and self._hand is not None and self._hand.number > self._done:
            self._group.close(self._hand.number)

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


def _hands(count: int) -> str:
    return f"{count} {'hand' if count == 1 else 'hands'}"


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
    e.HandsRevealed: RulesCheck._shows,
    e.SeatToBot: RulesCheck._seat_moved,
    e.SeatTakenBack: RulesCheck._seat_moved,
    e.KeyRotated: RulesCheck._ignored,
    e.GameEnded: RulesCheck._ended,
}
