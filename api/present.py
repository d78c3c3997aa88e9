"""Tables, receipts and events as the JSON that ``docs/spec/http.md`` promises.

What a reader may know of the cards comes from its `View` and nowhere else; the settings beside it are public from the
first event on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from api.outlooks import claim_outcome, moon_outcomes
from domain.cards import NAMES, Card, Seat, format_cards, format_mask
from domain.outlook import cards_won, pass_receiver, places_of
from domain.rules import add_points
from domain.state import State
from domain.view import SeatView, View, view
from services.audit import Receipt
from services.folded import Item, Table

encode: Final = msgspec.json.encode


def players_of(state: State) -> list[str]:
    """The ids of the persons who have a seat."""
    return [one.player for one in state.seats if one.player]


def table_body(table: Table, seat: Seat | None, names: Mapping[str, str]) -> dict[str, Any]:
    """``table`` as ``seat`` may see it, a spectator where it is none. ``names`` has the players' names by id.

    The keys of the contract come first, in its order; what we add to them stands behind.
    """
    state = table.state
    seen = view(state, seat)
    # a practice table has one hand, under the number that it had
    first = 1 if state.branch is None else seen.hand_number
    body: dict[str, Any] = {
        "id": seen.game,
        "seq": table.seq,
        "head": table.head.hex(),
        "status": status_of(seen.phase),
        "phase": seen.phase,
        "variant": seen.rules.variant,
        "rules": seen.rules,
        "seats": [_seat(one, names, won) for one, won in zip(seen.seats, cards_won(seen), strict=True)],
        "hand_number": seen.hand_number,
        "pass_offset": seen.pass_offset,
        "turn": seen.turn,
        "deadline": seen.deadline,
        "hearts_broken": seen.hearts_broken,
        "trick": _laid(seen.leader, seen.trick, len(seen.seats)),
        **_last_trick(seen),
        "totals": seen.totals,
        "hands": _hands(state, first),
        "winners": seen.winners,
    }
    if seat is not None:
        body |= _own(seen, seat)
    if seen.phase == "moon":
        body["moon"] = moon_outcomes(seen)
    body["counting"] = format_cards(card for card, value in enumerate(state.terms.values) if value)
    body["places"] = places_of(seen.totals)
    body["reason"] = seen.reason
    body["rated"] = state.rated
    body["hints"] = state.hints
    body["clock"] = state.clock
    body["ready_seconds"] = state.ready_seconds
    body["abandon_seconds"] = state.abandon_seconds
    body["abandoned_at"] = seen.abandoned_at
    if state.branch is not None:
        body["branch"] = state.branch
    elif state.anchor is None:
        body["imported"] = True
    return body


def open_hands(state: State) -> list[dict[str, Any]]:
    """The cards of every seat, of a hand that is open by `domain.view.is_open`."""
    found = []
    for seat in range(len(state.seats)):
        own = _own(view(state, seat), seat)
        found.append({"seat": seat, **{name: own[name] for name in ("hand", "received", "given")}})
    return found


def status_of(phase: str) -> str:
    """``open`` while seats are taken, ``playing``, or ``over``."""
    return "open" if phase == "seats" else "over" if phase == "over" else "playing"


def receipt_body(receipt: Receipt) -> dict[str, Any]:
    """A receipt as it is sent."""
    return receipt._asdict()


def item_body(item: Item) -> bytes:
    """An event as a reader gets it."""
    return encode(
        {"seq": item.seq, "head": item.head.hex(), "event": item.public.decode(), "private": item.private}
    )


def _seat(one: SeatView, names: Mapping[str, str], won: Sequence[Card]) -> dict[str, Any]:
    return {
        "seat": one.seat,
        "kind": one.kind,
        "name": one.bot.name if one.bot is not None else names.get(one.player, ""),
        "ready": one.ready,
        "cards": one.cards,
        "taken": one.taken,
        "passed": one.passed,
        "player": one.player or None,
        "away": one.away,
        "returning": one.returning,
        "won": format_cards(won),
    }


def _own(seen: View, seat: Seat) -> dict[str, Any]:
    """What stands there for a seat alone; ``given`` are the cards it has passed in this hand."""
    own = seen.own
    if own is None:
        return {"you": seat, "hand": "", "received": "", "given": ""}
    body = {"you": seat, "hand": format_mask(own.hand), "received": format_mask(own.received)}
    if own.legal and not seen.seats[seat].away:
        body["legal"] = format_mask(own.legal)
        claim = claim_outcome(seen)
        if claim is not None:
            body["claim"] = claim
    body["given"] = format_mask(own.given)
    body["pass_to"] = pass_receiver(seen, seat)
    return body


def _last_trick(seen: View) -> dict[str, Any]:
    if not seen.history:
        return {"last_trick": [], "last_winner": None}
    leader, cards, winner = seen.history[-1]
    return {"last_trick": _laid(leader, cards, len(seen.seats)), "last_winner": winner}


def _hands(state: State, first: int) -> list[dict[str, Any]]:
    """The finished hands; ``first`` is the number of the first one."""
    found = []
    totals = [0] * state.terms.players
    for number, (points, moon) in enumerate(zip(state.hands, state.moons, strict=True), first):
        totals = add_points(state.terms, totals, points)
        way = state.terms.pass_way(number)
        found.append({"hand": number, "points": points, "totals": totals, "pass_offset": way, "moon": moon})
    return found


def _laid(leader: Seat, cards: Sequence[int], seats: int) -> list[dict[str, Any]]:
    return [{"seat": (leader + at) % seats, "card": NAMES[card]} for at, card in enumerate(cards)]
