"""What a seat signs with a move of its own (``docs/spec/audit.md`` 8).

A signature binds the move to the game's history up to an event of the signer's choice, its ``signed_seq``, by the head
of that event. The domain only says what is signed; the signatures are checked by `services.signing`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from domain import events as e
from domain.cards import NAMES, Card, Seat, format_cards
from domain.refusals import Refused
from domain.shuffle import hash_parts
from domain.state import HandState, State

HISTORY_MARKS: Final[frozenset[type[e.Event]]] = frozenset((e.HandDealt, e.PassesExchanged, e.TrickEnded))
"""A move is signed at the last of these events or a later one, so that its signature serves for no other move."""


class Signed(NamedTuple):
    """A signature of a move, as events carry it."""

    seq: int
    """The event whose head was signed, ``signed_seq``."""
    signature: str
    """Ed25519, 64 bytes in hex."""


class SignedMove(NamedTuple):
    """A move of a seat's own and its signature."""

    seat: Seat
    action: str
    signed: Signed


def play_action(card: Card) -> str:
    """The text that stands for a play: ``play QS``."""
    return f"play {NAMES[card]}"


def pass_action(cards: Iterable[Card]) -> str:
    """The text that stands for a pass, its cards in the order of a card list: ``pass 2C QS AH``."""
    return f"pass {format_cards(cards)}"


def moon_action(choice: e.Choice) -> str:
    """The text that stands for a moon choice: ``moon add``."""
    return f"moon {choice}"


def move_message(game: str, seq: int, head: bytes, action: str) -> bytes:
    """The 32 bytes that are signed: ``head`` is that of event ``seq``, 32 raw bytes."""
    return hash_parts("hearts/v1/move", game.encode(), str(seq).encode(), head, action.encode())


def signed_move(event: e.Event) -> SignedMove | None:
    """The move and its signature in an event, hidden part included; none where it is no move or is not signed."""
    match event:
        case e.CardPlayed(signed_seq=int(seq), signature=str(signature)):
            return SignedMove(event.seat, f"play {event.card}", Signed(seq, signature))
        case e.MoonChosen(signed_seq=int(seq), signature=str(signature)):
            return SignedMove(event.seat, moon_action(event.choice), Signed(seq, signature))
        case e.CardsPassed(hidden=e.SignedPass() as hidden):
            return SignedMove(event.seat, f"pass {hidden.cards}", Signed(hidden.signed_seq, hidden.signature))
    return None


def require_signed(state: State, seat: Seat, by: e.By, action: str, signed: Signed | None) -> Signed | None:
    """The signature that the event of this move carries, none for moves of the house and of seats without a key.

    Raises `Refused` where a seat with a key does not sign its own move, or one without a key does.
    """
    if by != "player":
        return None
    if state.seats[seat].public_key is None:
        if signed is not None:
            raise Refused(
                "request/invalid",
                "your seat has no public_key, so its moves are not signed",
                hint="leave out signed_seq and signature; a key is registered when sitting down",
            )
        return None
    if signed is None:
        raise Refused(
            "move/unsigned",
            "your seat has a public_key, and this move is not signed",
            hint=f'send signed_seq and signature, by its key, of H("hearts/v1/move", "{state.game}",'
            f' str(signed_seq), the head of that event, "{action}")',
        )
    return signed


def pass_signatures(
    state: State, hand: HandState | None = None
) -> tuple[tuple[int, str] | None, ...] | UnsetType:
    """What reveals the signatures of the passes of a hand, the one in play: a seat each; unset where none can have signed."""
    hand = hand or state.hand
    if hand is None or not hand.offset or all(seat.public_key is None for seat in state.seats):
        return UNSET
    return hand.pass_signatures or (None,) * len(state.seats)
