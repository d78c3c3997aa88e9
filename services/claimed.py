"""The plays of a claim in a proof: they are what a claim gives (``docs/spec/audit.md``, public events).

An accepted claim is the rest of the hand, at one moment: the claimant takes every trick, and the others play the first
legal card of their lists. It was not certain where, by the cards that the end of the hand shows, somebody could have
taken a trick by other plays. Whether the plays are legal and who takes a trick is `services.replay`'s to judge.
"""

from __future__ import annotations

from domain import events as e
from domain.cards import CARDS, NAMES, Card, Seat, distinct_cards
from domain.claim import could_be_beaten
from domain.rules import legal_plays
from domain.ruleset import Terms
from domain.state import HandState


class ClaimCheck:
    """Follows the claims of a game."""

    def __init__(self) -> None:
        self._claimant: Seat | None = None
        """Whose claim is being played out; none between claims."""
        self._at = 0
        self._before: HandState | None = None
        """The hand before the claim, where the cards of all are known."""
        self._order: list[Card] = []
        """What the claimant has played."""

    def fault(
        self, event: e.AnyEvent, terms: Terms, hand: HandState | None, *, house: bool, shown: bool
    ) -> str | None:
        """Why ``event`` cannot be, as far as a claim is concerned; none where it can.

        ``hand`` is the hand before it, ``house`` whether a bot plays the event's seat, ``shown`` whether the cards of
        all are known.
        """
        if self._claimant is None:
            return self._begin(event, hand if shown else None, house)
        claimant = self._claimant
        if not isinstance(event, e.CardPlayed | e.TrickEnded):
            return f"the claim of seat {claimant} is not played out"
        if event.at != self._at:
            return f"the claim of seat {claimant} was made at another time"
        assert hand is not None
        if isinstance(event, e.CardPlayed):
            return self._fault_of_play(event, terms, hand if shown else None)
        if event.seat != claimant:
            taker = "nobody" if event.seat is None else f"seat {event.seat}"
            return f"seat {claimant} claimed every trick, and {taker} takes this one"
        if len(hand.history) + 1 < terms.hand:
            return None
        self._claimant = None
        rival = None if self._before is None else could_be_beaten(terms, self._before, self._order)
        return None if rival is None else f"seat {rival} could have taken a trick of this claim"

    def _begin(self, event: e.AnyEvent, hand: HandState | None, house: bool) -> str | None:
        if not isinstance(event, e.CardPlayed | e.CardsPassed | e.MoonChosen) or event.by != "claim":
            return None
        if not isinstance(event, e.CardPlayed):
            return "a claim plays cards and nothing else"
        if house:
            return f"a claim at seat {event.seat}, which is a bot's"
        self._claimant, self._at = event.seat, event.at
        self._before = None if hand is None else hand.copy()
        self._order = [CARDS[event.card]]
        return None

    def _fault_of_play(self, event: e.CardPlayed, terms: Terms, hand: HandState | None) -> str | None:
        if event.by != "claim":
            return f"a play by {event.by}, and seat {self._claimant} has claimed the rest of the hand"
        if event.seat == self._claimant:
            self._order.append(CARDS[event.card])
            return None
        if hand is None or event.seat != hand.turn:
            return None
        first = distinct_cards(legal_plays(terms, hand))[0]
        if CARDS[event.card] != first:
            return f"{event.card} by seat {event.seat}, whose first legal card is {NAMES[first]}"
        return None
