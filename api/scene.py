"""A table as a client has followed it: its events so far, worked into what can be shown.

The server's view of a table (`api.client.Table`) is the truth about it; a scene adds what a view of one moment does not
hold: the tricks of the hand, who took which points, who shot the moon. What follows from the rules is asked of `domain`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from api.client import Item, SeatInfo, Strange, Table
from domain.cards import (
    Card,
    Mask,
    Seat,
    add_masks,
    cards_of,
    mask_of,
    parse_card,
    parse_cards,
    remove_cards,
    subtract_masks,
)
from domain.refusals import HeartsError, Malformed
from domain.rules import End, add_points, game_end, hand_points, kitty_in_trick, moon_shooter, trick_winner
from domain.ruleset import Terms, check_rules, terms_of
from domain.shuffle import genesis_head, next_head
from domain.state import HandState, Trick
from services.printable import printable

BOT_NAMES = ("Bo", "Cleo", "Dag", "Eva", "Finn", "Greta", "Hal", "Iris", "Jon", "Kaja", "Lars")
"""What house bots are called at our table, where the server knows them by their kind alone."""
LONGEST_NAME = 12
"""Characters of a name that are shown."""


class Scored(NamedTuple):
    """A finished hand: what it added to each total, and who shot the moon (none: nobody)."""

    hand: int
    points: tuple[int, ...]
    shooter: Seat | None


class Outcome(NamedTuple):
    """What a moon choice would lead to: points added, totals after it, and the end of the game where it is one."""

    points: list[int]
    totals: list[int]
    end: End | None


class Scene:
    """A table followed event by event. Lists are by seat unless said otherwise.

    Raises `Strange` where a view or an event cannot be read.
    """

    def __init__(self, table: Table) -> None:
        self.game = table.id
        self.terms = _terms(table)
        self.you = table.you
        self.seq = 0
        """Events followed so far."""
        self._head = genesis_head(table.id)
        self.tally = _fresh_hand(self.terms, 0, 0)
        """What all have seen of the hand: its tricks, points taken (kitty left out), whether hearts are broken."""
        self.own: Mask = 0
        """The cards this client's seat holds; those it passed stay until the exchange."""
        self.given: Mask = 0
        self.received: Mask = 0
        self.passed: set[Seat] = set()
        self.scored: list[Scored] = []
        """The finished hands."""
        self.totals = [0] * self.terms.players
        self.table = table
        """The server's view, as of the last `settle`."""
        self.names = display_names(table.seats, table.you)

    # --- following

    def settle(self, table: Table) -> None:
        """Take over the server's own view; it must be of the event followed last."""
        self.table = table
        self.you = table.you
        self.names = display_names(table.seats, table.you)
        if table.you is None:
            return
        try:
            self.own, self.received = mask_of(parse_cards(table.hand)), mask_of(parse_cards(table.received))
        except Malformed as error:
            raise Strange(f"the hand cannot be read: {error}") from error

    def follow(self, item: Item) -> Mapping[str, Any]:
        """Take in the next event and return it, decoded.

        Raises `Strange` where it does not fit the chain of heads, which means that the past was changed, and where it
        cannot be read.
        """
        raw = item.event.encode()
        head = next_head(self._head, raw)
        if item.seq != self.seq + 1 or head.hex() != item.head:
            raise Strange(
                f"event {item.seq} does not follow from the events before it; the server changed the past"
            )
        self.seq, self._head = item.seq, head
        try:
            event: dict[str, Any] = msgspec.json.decode(raw, type=dict[str, Any])
            self._take_in(event, item.private or {})
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, HeartsError) as error:
            raise Strange(f"event {item.seq} cannot be read: {error}") from error
        return event

    def _take_in(self, event: Mapping[str, Any], private: Mapping[str, str]) -> None:
        if event.get("seat") not in (None, *range(self.players)):
            raise ValueError(f"there is no seat {event['seat']}")
        match event["t"]:
            case "hand_dealt":
                self._deal(event["hand"], private.get("cards", ""))
            case "cards_passed":
                self.passed.add(event["seat"])
                self.given |= mask_of(parse_cards(private.get("cards", "")))
            case "passes_exchanged":
                self.received = mask_of(parse_cards(private.get("received", "")))
                self.own = add_masks(subtract_masks(self.own, self.given), self.received)
            case "card_played":
                self._lay(event["seat"], parse_card(event["card"]))
            case "trick_ended":
                self.tally.take(event["seat"], self.terms, [])
            case "hand_scored":
                self._score(event)

    def _deal(self, number: int, cards: str) -> None:
        self.tally = _fresh_hand(self.terms, number, self.terms.pass_offset(number))
        self.own, self.given, self.received, self.passed = mask_of(parse_cards(cards)), 0, 0, set()

    def _lay(self, seat: Seat, card: Card) -> None:
        tally = self.tally
        if not tally.trick:
            tally.leader = seat
        tally.trick.append(card)
        tally.broken = tally.broken or bool(self.terms.breakers >> card & 1)
        if seat == self.you:
            self.own = remove_cards(self.own, [card])

    def _score(self, event: Mapping[str, Any]) -> None:
        """Count the hand again with its kitty, which is known only now, for who shot the moon; at a duplicate table not yet."""
        hand = _fresh_hand(self.terms, event["hand"], 0, mask_of(parse_cards(event["kitty"] or "")))
        for leader, cards, taker in self.tally.history:
            hand.leader, hand.trick = leader, list(cards)
            hand.take(taker, self.terms, cards_of(hand.kitty) if kitty_in_trick(self.terms, hand) else [])
        self.scored.append(Scored(event["hand"], tuple(event["points"]), moon_shooter(self.terms, hand)))
        self.totals = list(event["totals"])

    # --- questions

    @property
    def players(self) -> int:
        """Seats."""
        return self.terms.players

    @property
    def passed_already(self) -> bool:
        """Whether this client's seat has passed in this hand."""
        return self.you in self.passed

    @property
    def passing(self) -> bool:
        """Whether cards are being passed."""
        return self.tally.offset != 0 and len(self.passed) < self.players

    @property
    def trick(self) -> dict[Seat, Card]:
        """The cards on the table by seat, in the order laid."""
        return _laid(self.tally.leader, self.tally.trick, self.players)

    @property
    def last_trick(self) -> Trick | None:
        """The last finished trick of the hand, or none."""
        return self.tally.history[-1] if self.tally.history else None

    def last_laid(self) -> dict[Seat, Card]:
        """The cards of the last finished trick by seat, in the order laid."""
        last = self.last_trick
        return {} if last is None else _laid(last[0], last[1], self.players)

    def winning(self) -> Seat | None:
        """Whose card would take the trick as it lies; none where there is none, or all cancel."""
        trick = self.tally.trick
        at = trick_winner(self.terms, 0, trick) if trick else None
        return None if at is None else (self.tally.leader + at) % self.players

    def cards_left(self, seat: Seat) -> int:
        """How many cards a seat holds."""
        if not self.tally.number:
            return 0
        return self.terms.hand - len(self.tally.history) - (seat in self.trick)

    def points_so_far(self, seat: Seat) -> int:
        """The points a seat has taken in the hand, as far as all can see."""
        return self.tally.penalty[seat] + self.tally.bonus[seat]

    def neighbour(self, offset: int) -> Seat:
        """The seat so many places to the left of this client's."""
        return ((self.you or 0) + offset) % self.players

    def seen(self, card: Card) -> list[Seat | None]:
        """Where the copies of ``card`` went that were played: who took each; none: still lying."""
        takers: list[Seat | None] = []
        for at, (_, cards, _) in enumerate(self.tally.history):
            if card in cards:
                takers += [self._taker(at)] * cards.count(card)
        return takers + [None] * self.tally.trick.count(card)

    def _taker(self, at: int) -> Seat | None:
        """Who got the pile of trick ``at``: its taker, or that of the next trick that had one."""
        return next((taker for _, _, taker in self.tally.history[at:] if taker is not None), None)

    def moon_outcome(self, choice: Any) -> Outcome:
        """What choosing ``add`` or ``subtract`` would lead to, this client's seat having shot the moon.

        Negative points that lie unseen in a kitty are left out.
        """
        hand = self.tally.copy()
        shot = self.table.turn
        hand.penalties_taken = [self.terms.penalty_cards * (seat == shot) for seat in range(self.players)]
        hand.bonus_taken = [self.terms.bonus_cards * (seat == shot) for seat in range(self.players)]
        points = hand_points(self.terms, hand, self.totals, choice)
        totals = add_points(self.terms, self.totals, points)
        return Outcome(points, totals, game_end(self.terms, totals, points, hand.number))


def display_names(seats: Sequence[SeatInfo], you: Seat | None) -> list[str]:
    """What each seat is called: players by their names, bots by names of ours, all different and safe to print."""
    shown: list[str] = []
    taken = {seat.name.casefold() for seat in seats if seat.kind == "player"}
    spare = [name for name in BOT_NAMES if name.casefold() not in taken]
    for seat in seats:
        name = printable(seat.name).strip() if seat.kind == "player" else ""
        if seat.kind == "bot":
            name = spare.pop(0)
        elif seat.kind == "open":
            name = "(open)"
        name = name[:LONGEST_NAME] or f"seat {seat.seat}"
        if name in shown and seat.kind == "player" and seat.seat != you:
            name = f"{name[: LONGEST_NAME - 3]} {seat.seat}"
        shown.append(name)
    return shown


def _terms(table: Table) -> Terms:
    try:
        terms = terms_of(check_rules(table.ruleset()))
    except (msgspec.MsgspecError, HeartsError) as error:
        raise Strange(f"the rules of the table cannot be read: {error}") from error
    if len(table.seats) != terms.players:
        raise Strange(f"the table has {len(table.seats)} seats, and its rules {terms.players}")
    return terms


def _fresh_hand(terms: Terms, number: int, offset: int, kitty: Mask = 0) -> HandState:
    return HandState(number, offset, 0, [0] * terms.players, kitty)


def _laid(leader: Seat, cards: Sequence[Card], seats: int) -> dict[Seat, Card]:
    return {(leader + at) % seats: card for at, card in enumerate(cards)}
