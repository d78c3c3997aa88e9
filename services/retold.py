"""A game retold: its events in words, the table after each as a seat could see it, why a card was legal, what changed.

What a seat is shown comes from its `View` alone, so that nobody is told what that seat did not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from domain import events as e
from domain.cards import NAMES, Card, Seat, format_mask
from domain.fold import apply
from domain.reasons import explain_pass, explain_play
from domain.refusals import CorruptLog
from domain.state import State
from domain.view import View, is_open, view

_WAYS: Final = {
    0: "nobody passes",
    1: "cards pass to the left",
    -1: "cards pass to the right",
    2: "cards pass across",
}
_BY: Final = {"player": "", "bot": " (bot)", "clock": " (by the clock)", "claim": " (claimed)"}


STATION: Final = 256
"""Between two of these the tables are folded when they are asked for: a long game has too many to keep."""


class NotShown(Exception):
    """What was asked for cannot be told; the message says why."""


class Retold:
    """The events of a game and the tables after them. ``names`` are those of the seats."""

    def __init__(self, events: Sequence[e.AnyEvent], names: Callable[[State], Sequence[str]]) -> None:
        self._events, self._names = events, names
        self._stations: list[State] = []
        """The table after every `STATION`-th event."""
        self._last = State.__new__(State)
        self.known = 0
        """The last event after which the table is known."""
        self.broken = ""
        """Why it is not known after later ones, where there are any: their cards are still secret."""
        for event in events:
            try:
                apply(self._last, event)
            except CorruptLog as error:
                self.broken = str(error)
                self._last = self._folded(self.known)
                break
            self.known += 1
            if self.known % STATION == 0:
                self._stations.append(self._last.copy())

    def __len__(self) -> int:
        return len(self._events)

    def lines(self, first: int = 1) -> Iterator[tuple[int, str]]:
        """Each event from ``first`` on in words, with its seq; whose hands are still in play stay out of it."""
        state = self._folded(min(first - 1, self.known))
        for seq in range(first, len(self._events) + 1):
            event = self._events[seq - 1]
            # who leaves is named as it was before
            names = self._names(state) if isinstance(event, e.SeatLeft) else None
            if seq <= self.known:
                apply(state, event)
            yield seq, self._tell(event, state, names or self._names(state))

    def board(self, seq: int, seat: Seat | None, *, everybody: bool = False) -> list[str]:
        """The table after an event as ``seat`` could see it, as a spectator could (none), or with all cards.

        Raises `NotShown` for an event that there is not, and for cards that are secret still.
        """
        state = self._state(seq)
        self._check_seat(state, seat)
        if (seat is not None or everybody) and not is_open(state, self._last):
            raise NotShown("the cards of a hand are shown when it is over")
        seen = view(state, seat)
        return [
            *self._head(seq, seen, state.terms.hand),
            *self._seats(state, seen, everybody),
            *self._tail(seen, state),
        ]

    def why(self, seq: int, card: Card, seat: Seat | None = None) -> str:
        """Whether a seat might play or pass a card, and by which rule. Raises `NotShown`.

        Where event ``seq`` is itself that card played or passed, it is that move which is explained; else what was possible
        after it, for ``seat`` or for the seat to play.
        """
        state = self._state(seq)
        if not is_open(state, self._last):  # before anything is looked at that depends on a card
            raise NotShown("the cards of a hand are shown when it is over")
        mover = _mover_of(self._events[seq - 1], card)
        if mover is None or seat not in (None, mover):
            mover = self._mover(state, seq, seat)
        else:
            state = self._state(seq - 1)
        hand = state.hand
        assert hand is not None
        explain = explain_pass(state.terms, hand, mover, card) if state.phase == "pass" else None
        reason = explain or explain_play(state.terms, hand, card)
        may = "may" if reason.allowed else "may not"
        hint = f"; {reason.hint}" if reason.hint else ""
        return f"{self._name(state, mover)} {may}: {reason.detail} ({reason.code}{hint})"

    def whys(self, card: Card, seat: Seat | None = None) -> Iterator[tuple[int, str]]:
        """Each time that a card was played or passed, by ``seat`` alone if named, and by which rule it might be.

        Hands in play are left out.
        """
        self._check_seat(self._last, seat)
        for seq in range(1, self.known + 1):
            mover = _mover_of(self._events[seq - 1], card)
            if mover is not None and seat in (None, mover):
                with suppress(NotShown):
                    yield seq, self.why(seq, card)

    def changes(self, before: int, after: int, seat: Seat | None) -> list[str]:
        """What a seat, or a spectator, sees otherwise after one event than after another. Raises `NotShown`."""
        old, new = self._parts(before, seat), self._parts(after, seat)
        names = [*new, *(name for name in old if name not in new)]
        return [
            f"{name}: {old.get(name, '-') or '-'} -> {new.get(name, '-') or '-'}"
            for name in names
            if old.get(name) != new.get(name)
        ]

    # --- inside

    def _mover(self, state: State, seq: int, seat: Seat | None) -> Seat:
        """Who is asked about after event ``seq``, at ``state``: ``seat`` in a pass, else whose turn it is."""
        hand = state.hand
        self._check_seat(state, seat)
        if state.phase == "pass" and hand is not None:
            if seat is None:
                raise NotShown(f"after event {seq} cards are passed; --seat says by whom")
            return seat
        if state.phase != "play" or hand is None or hand.turn < 0:
            raise NotShown(f"after event {seq} nobody is to play or pass a card")
        if seat not in (None, hand.turn):
            raise NotShown(f"after event {seq} {self._name(state, hand.turn)} is to play")
        return hand.turn

    @staticmethod
    def _check_seat(state: State, seat: Seat | None) -> None:
        if seat is not None and not 0 <= seat < len(state.seats):
            raise NotShown(f"there is no seat {seat}; seats are 0 to {len(state.seats) - 1}")

    def _state(self, seq: int) -> State:
        if not 1 <= seq <= len(self._events):
            raise NotShown(f"there is no event {seq}; the game has {len(self._events)}")
        if seq > self.known:
            raise NotShown(f"the table is known up to event {self.known}: {self.broken}")
        return self._folded(seq)

    def _folded(self, seq: int) -> State:
        station = seq // STATION
        state = self._stations[station - 1].copy() if station else State.__new__(State)
        for event in self._events[station * STATION : seq]:
            apply(state, event)
        return state

    def _name(self, state: State, seat: Seat | None) -> str:
        return _spoken(self._names(state), seat)

    def _tell(self, event: e.AnyEvent, state: State, names: Sequence[str]) -> str:
        seat = getattr(event, "seat", None)
        told = _TELLERS[type(event)](event, _spoken(names, seat) if names else "")
        if isinstance(event, e.CardsPassed) and event.text and is_open(state, self._last):
            told += f": {event.text}"
        if isinstance(event, e.HandScored | e.GameEnded):
            told += self._score(event, state)
        return told

    def _score(self, event: e.HandScored | e.GameEnded, state: State) -> str:
        names = self._names(state)
        if isinstance(event, e.HandScored):
            each = zip(names, event.points, event.totals, strict=True)
            return "".join(f" {name} {points:+d} = {total};" for name, points, total in each).rstrip(";")
        return (
            f" {', '.join(names[seat] for seat in event.winners) or 'nobody'} won"
            if event.reason != "abandoned"
            else ""
        )

    def _head(self, seq: int, seen: View, tricks: int) -> list[str]:
        where = f"event {seq}, {seen.phase}"
        if seen.hand_number:
            where += f", hand {seen.hand_number}, {_WAYS.get(seen.pass_offset, '')}, {_trick_of(len(seen.history), tricks)}"
            where += ", hearts broken" if seen.hearts_broken else ""
        return [where]

    def _seats(self, state: State, seen: View, everybody: bool) -> Iterator[str]:
        for one in seen.seats:
            of = view(state, one.seat) if everybody else seen if seen.seat == one.seat else None
            cards = (
                format_mask(of.own.hand) if of is not None and of.own is not None else f"{one.cards} cards"
            )
            laid = dict(self._trick(seen)).get(one.seat, "")
            mark = "*" if seen.turn == one.seat else " "
            total = seen.totals[one.seat] if seen.totals else 0
            name = self._name(state, one.seat)
            yield f"{mark} {name:<24} {total:>4}  {one.taken} tricks  {laid:<3}  {cards}".rstrip()

    def _tail(self, seen: View, state: State) -> Iterator[str]:
        if seen.own is not None and seen.own.legal:
            yield f"legal: {format_mask(seen.own.legal)}"
        if seen.phase == "over":
            yield f"over: {', '.join(self._name(state, seat) for seat in seen.winners) or 'nobody'} won"

    @staticmethod
    def _trick(seen: View) -> list[tuple[Seat, str]]:
        count = len(seen.seats)
        return [((seen.leader + at) % count, NAMES[card]) for at, card in enumerate(seen.trick)]

    def _parts(self, seq: int, seat: Seat | None) -> dict[str, str]:
        """What can be seen, in words, by what it is."""
        self.board(seq, seat)
        state = self._state(seq)
        seen, names = view(state, seat), self._names(state)
        parts = {
            "phase": seen.phase,
            "hand": str(seen.hand_number),
            "trick": ", ".join(f"{_spoken(names, one)} {card}" for one, card in self._trick(seen)),
            "tricks finished": str(len(seen.history)),
            "turn": "" if seen.turn is None else _spoken(names, seen.turn),
            "hearts broken": "yes" if seen.hearts_broken else "no",
            "totals": ", ".join(f"{_spoken(names, one)} {total}" for one, total in enumerate(seen.totals)),
        }
        for one in seen.seats:
            marks = [mark for mark in ("ready", "passed", "away") if getattr(one, mark)]
            who = "open" if one.kind == "open" else f"{names[one.seat]}, {one.kind}"
            parts[f"seat {one.seat}"] = ", ".join([who, *marks, f"{one.cards} cards", f"{one.taken} tricks"])
        if seen.own is not None:
            parts["cards held"] = format_mask(seen.own.hand)
            parts["may play"] = format_mask(seen.own.legal)
        return parts


def _mover_of(event: e.Event, card: Card) -> Seat | None:
    """Who plays or passes a card by an event; none where nobody does, or a pass is not known."""
    if isinstance(event, e.CardPlayed):
        return event.seat if event.card == NAMES[card] else None
    if isinstance(event, e.CardsPassed):
        return event.seat if NAMES[card] in event.text.split() else None
    return None


def _trick_of(done: int, tricks: int) -> str:
    """Which trick of a hand is played, where ``done`` are over of all its ``tricks``."""
    return f"trick {done + 1}" if done < tricks else f"all {tricks} tricks played"


def _spoken(names: Sequence[str], seat: Seat | None) -> str:
    return "nobody" if seat is None else f"{names[seat] or 'open'} ({seat})"


def _opened(event: Any, _: str) -> str:
    of = f", practice from {event.branch.game} at {event.branch.at}" if event.branch else ""
    return f"a table of {event.rules.variant} for {event.rules.players} is opened{of}"


def _sat(event: Any, who: str) -> str:
    signs = ", and signs its moves" if event.public_key else ""
    return f"{who} takes a seat{' (house bot)' if event.kind == 'bot' else ''}{signs}"


_TELLERS: Final[Mapping[type[e.Event], Callable[[Any, str], str]]] = {
    e.GameCreated: _opened,
    e.SeatTaken: _sat,
    e.SeatLeft: lambda _, who: f"{who} leaves",
    e.SeatReady: lambda event, who: f"{who} is ready" + (", with entropy" if event.entropy else ""),
    e.GameLocked: lambda event, _: f"the table is locked; root {event.root}",
    e.HandDealt: lambda event, _: f"hand {event.hand} is dealt",
    e.CardsPassed: lambda event, who: f"{who} passes{_BY[event.by]}",
    e.PassesExchanged: lambda _, __: "the passed cards change hands",
    e.CardPlayed: lambda event, who: f"{who} plays {event.card}{_BY[event.by]}",
    e.TrickEnded: lambda _, who: f"{who} takes the trick",
    e.MoonChosen: lambda event, who: f"{who} shot the moon: {event.choice}{_BY[event.by]}",
    e.HandScored: lambda event, _: f"hand {event.hand} is scored:",
    e.HandsRevealed: lambda event, _: (
        f"the cards of hand {event.hand} are shown: every table of the group is through"
    ),
    e.SeatToBot: lambda _, who: f"{who} is played by the stand-in bot from here on",
    e.SeatTakenBack: lambda _, who: f"{who} plays again",
    e.KeyRotated: lambda event, _: f"the server signs with another key: {event.server_key}",
    e.GameEnded: lambda event, _: f"the game is over ({event.reason}):",
}
