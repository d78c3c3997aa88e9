"""A table as the fold of its events.

A `State` that was handed out is never changed: `domain.game.fold` works on a private copy. A hand in play is a
`HandState`; replaying a record moves the same object with the same methods, so the two cannot disagree.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from domain.cards import BITS, NAMES, SECOND_BITS, Card, Mask, Seat, add_masks, subtract_masks
from domain.events import BotName, Branch, Choice, Kind, Reason
from domain.ruleset import Terms

Phase = Literal["seats", "pass", "play", "moon", "over"]
Trick = tuple[Seat, tuple[Card, ...], Seat | None]
"""A finished trick: its leader, its cards in the order played, and who took it (none: dead)."""


INVITED: Final = "invited"
"""What stands for whoever is invited; no player's id."""


class SeatState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who has a seat, and what was said there before the lock."""

    kind: Kind | Literal["open"] = "open"
    player: str = ""
    bot: BotName | None = None
    reserved: str = ""
    """The player an open seat is kept for, `INVITED` where that is whoever is invited to it, or ``""``."""
    entropy_commit: str | None = None
    public_key: str | None = None
    entropy: str = ""
    """The opened entropy, hex."""
    ready: bool = False
    away: bool = False
    """Whether the stand-in bot plays a person's seat."""
    returning: bool = False
    """Whether the person takes over again with the next hand."""

    @property
    def house_plays(self) -> bool:
        """Whether a house bot moves for this seat."""
        return self.kind == "bot" or self.away


class HandState:
    """One hand in play. Lists are by seat unless said otherwise."""

    __slots__ = (
        "bonus",
        "bonus_taken",
        "broken",
        "choice",
        "dealt",
        "exchanged",
        "forced",
        "held",
        "history",
        "kitty",
        "leader",
        "number",
        "offset",
        "opener",
        "pass_signatures",
        "passes",
        "penalties_taken",
        "penalty",
        "pile",
        "secret",
        "trick",
        "turn",
    )

    def __init__(
        self, number: int, offset: int, opener: Seat, dealt: list[Mask], kitty: Mask, secret: str = ""
    ) -> None:
        seats = len(dealt)
        self.number = number
        """Hand number, from 1."""
        self.offset = offset
        """To whom cards are passed, in seats to the left; 0 is a hold hand."""
        self.opener = opener
        """The dealer's left."""
        self.secret = secret
        """``s_r`` in hex, ``""`` where the deal has none."""
        self.dealt = dealt
        """Hands as dealt, before the pass; never changed."""
        self.kitty = kitty
        self.held = dealt[:]
        self.passes: list[Mask | None] = [None] * seats
        self.pass_signatures: tuple[tuple[int, str] | None, ...] = ()
        """The signature of each seat's pass, and of which event; ``()`` as long as none is signed."""
        self.exchanged = False
        self.leader: Seat = -1
        """Who leads the current trick; -1 before the first."""
        self.turn: Seat = -1
        """Whose turn it is to play; -1 when nobody's."""
        self.forced: Card = -1
        """The card that must open the hand; -1 when any may."""
        self.trick: list[Card] = []
        """The cards of the trick on the table, in the order played."""
        self.history: list[Trick] = []
        self.broken = False
        self.pile: list[Card] = []
        """Cards of dead tricks that wait for a winner."""
        self.penalty = [0] * seats
        """Positive points taken."""
        self.penalties_taken = [0] * seats
        """How many cards of positive points."""
        self.bonus = [0] * seats
        """Negative points taken."""
        self.bonus_taken = [0] * seats
        """How many cards of negative points."""
        self.choice: Choice | None = None
        """The chosen effect of the moon."""

    def copy(self) -> HandState:
        """A copy that can be moved on without touching this one."""
        twin = HandState.__new__(HandState)
        twin.number, twin.offset, twin.opener, twin.secret = (
            self.number,
            self.offset,
            self.opener,
            self.secret,
        )
        twin.dealt, twin.kitty = self.dealt, self.kitty
        twin.held, twin.passes, twin.exchanged = self.held[:], self.passes[:], self.exchanged
        twin.pass_signatures = self.pass_signatures
        twin.leader, twin.turn, twin.forced = self.leader, self.turn, self.forced
        twin.trick, twin.history, twin.broken, twin.pile = (
            self.trick[:],
            self.history[:],
            self.broken,
            self.pile[:],
        )
        twin.penalty, twin.penalties_taken = self.penalty[:], self.penalties_taken[:]
        twin.bonus, twin.bonus_taken, twin.choice = self.bonus[:], self.bonus_taken[:], self.choice
        return twin

    def seats(self) -> int:
        """How many seats play."""
        return len(self.dealt)

    def receives_from(self, seat: Seat) -> Seat:
        """Who passes to ``seat`` in this hand."""
        return (seat - self.offset) % len(self.dealt)

    def note_signature(self, seat: Seat, seq: int, signature: str) -> None:
        """Keep the signature of a seat's pass until it may be shown."""
        known = self.pass_signatures or (None,) * len(self.dealt)
        self.pass_signatures = (*known[:seat], (seq, signature), *known[seat + 1 :])

    def exchange(self) -> None:
        """Hand every pass to its receiver."""
        given = [mask or 0 for mask in self.passes]
        for seat, mask in enumerate(given):
            self.held[seat] = subtract_masks(self.held[seat], mask)
        for seat in range(len(given)):
            self.held[seat] = add_masks(self.held[seat], given[self.receives_from(seat)])
        self.exchanged = True

    def lead_with(self, seat: Seat, forced: Card) -> None:
        """Give the opening lead to ``seat``, which must play ``forced`` (-1: any card)."""
        self.leader = self.turn = seat
        self.forced = forced

    def lay(self, card: Card, breakers: Mask) -> None:
        """Move ``card`` from the hand of the seat to play onto the table."""
        seat, trick = self.turn, self.trick
        held, bit, second = self.held[seat], BITS[card], SECOND_BITS[card]
        if not held & bit:
            raise ValueError(f"seat {seat} does not hold {NAMES[card]}")
        self.held[seat] = held ^ second if held & second else held ^ bit
        trick.append(card)
        if breakers & bit:
            self.broken = True
        seats = len(self.dealt)
        self.turn = (seat + 1) % seats if len(trick) < seats else -1

    def take(self, seat: Seat | None, terms: Terms, extra: list[Card]) -> None:
        """Clear the full trick: its cards and ``extra`` (a kitty) join the pile, which ``seat`` takes if not none."""
        pile = self.pile
        pile.extend(self.trick)
        pile.extend(extra)
        self.history.append((self.leader, tuple(self.trick), seat))
        self.trick = []
        if seat is not None:
            values = terms.values
            for card in pile:
                value = values[card]
                if not value:
                    continue
                if value > 0:
                    self.penalty[seat] += value
                    self.penalties_taken[seat] += 1
                else:
                    self.bonus[seat] += value
                    self.bonus_taken[seat] += 1
            self.pile = []
            self.leader = seat
        self.turn = self.leader if len(self.history) < terms.hand else -1

    def tricks_taken(self) -> list[int]:
        """How many tricks each seat took."""
        counts = [0] * len(self.dealt)
        for _, _, winner in self.history:
            if winner is not None:
                counts[winner] += 1
        return counts


class State:
    """A table. Changed only inside `domain.game.fold`, on a private copy."""

    __slots__ = (
        "abandon_seconds",
        "anchor",
        "branch",
        "chain",
        "chain_secret",
        "clock",
        "deal_group",
        "first_ready_at",
        "game",
        "hand",
        "hands",
        "hints",
        "last_at",
        "moons",
        "phase",
        "rated",
        "ready_seconds",
        "reason",
        "root",
        "sealed",
        "seats",
        "server_key",
        "since",
        "stand_in",
        "terms",
        "totals",
        "winners",
    )

    game: str
    terms: Terms
    chain_secret: str
    anchor: str | None
    chain: int
    server_key: str
    ready_seconds: int
    stand_in: BotName
    rated: bool
    hints: bool
    clock: int | None
    abandon_seconds: int | None
    """None at tables that were opened before there was such a time."""
    branch: Branch | None
    """Where a practice table comes from; none at any other."""
    deal_group: str
    """The group of tables that are dealt the same hands; ``""`` at any other."""
    sealed: tuple[HandState, ...]
    """The hands of a duplicate table that are over, and whose cards wait for the other tables; never changed."""
    seats: list[SeatState]
    first_ready_at: int | None
    """When the first entropy was opened, in ms; none before."""
    root: str
    """E in hex; ``""`` before the lock."""
    phase: Phase
    hand: HandState | None
    """The hand in play, or the last one when the game is over; none before the first deal."""
    hands: list[tuple[int, ...]]
    """Points of the finished hands."""
    moons: tuple[Seat | None, ...]
    """Who shot the moon in each of them, if anybody; of a sealed hand with a kitty it is known when that is revealed."""
    totals: list[int]
    since: int
    """When the table came to wait for whom it waits for, in ms."""
    last_at: int
    """When the last event happened, in ms."""
    winners: tuple[Seat, ...]
    reason: Reason | None

    def copy(self) -> State:
        """A copy that can be moved on without touching this one."""
        # written out, for it runs with every command: twice as quick as a loop over the slots
        twin = State.__new__(State)
        twin.game, twin.terms, twin.chain_secret, twin.anchor = (
            self.game,
            self.terms,
            self.chain_secret,
            self.anchor,
        )
        twin.chain, twin.server_key, twin.ready_seconds = self.chain, self.server_key, self.ready_seconds
        twin.stand_in, twin.rated, twin.hints, twin.clock = (
            self.stand_in,
            self.rated,
            self.hints,
            self.clock,
        )
        twin.abandon_seconds, twin.branch, twin.last_at = self.abandon_seconds, self.branch, self.last_at
        twin.deal_group, twin.sealed = self.deal_group, self.sealed
        twin.seats, twin.hands, twin.totals = self.seats[:], self.hands[:], self.totals[:]
        twin.moons = self.moons
        twin.first_ready_at, twin.root, twin.phase = self.first_ready_at, self.root, self.phase
        twin.since, twin.winners, twin.reason = self.since, self.winners, self.reason
        twin.hand = None if self.hand is None else self.hand.copy()
        return twin

    @property
    def deal_name(self) -> str:
        """What stands for the game in the formulas of entropy and deal."""
        return self.deal_group or self.game

    def seat_of(self, player: str) -> Seat | None:
        """The seat of a player, or none."""
        for seat, state in enumerate(self.seats):
            if state.kind == "player" and state.player == player:
                return seat
        return None
