"""Signed moves: the keys of seats, what they sign, and whether they did (``docs/spec/audit.md`` 8).

A client signs with `MoveKey`. The server judges a signature against the table that the move is decided on: `check_signed`
runs between the decision and the append, so a writer that was behind judges it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain.cards import parse_card
from domain.events import Event
from domain.refusals import Malformed, Refused
from domain.shuffle import next_head
from domain.signing import Signed, moon_action, move_message, pass_action, play_action, signed_move
from domain.state import State
from services import audit

_P: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _P) % _P


class SeenTable(Protocol):
    """A folded table, as `services.folded.Table` is one."""

    @property
    def state(self) -> State:
        """Its state."""

    @property
    def seq(self) -> int:
        """Events so far."""

    @property
    def head(self) -> bytes:
        """The head of the last."""

    @property
    def mark(self) -> tuple[int, bytes]:
        """The earliest event that a move may be signed at now, and its head."""


class MoveKey:
    """A key that signs a seat's moves. ``seed`` is its secret: 32 random bytes, for one table or for many."""

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public: str = self._private.public_key().public_bytes_raw().hex()
        """What a seat registers as ``public_key``."""

    def sign(self, game: str, seq: int, head: bytes, action: str) -> Signed:
        """The signature of ``action`` after event ``seq``, whose head has 32 bytes."""
        return Signed(seq, self._private.sign(move_message(game, seq, head, action)).hex())

    def sign_move(self, game: str, seq: int, head: str, move: Mapping[str, Any]) -> dict[str, Any]:
        """A body of ``POST /v1/games/{id}/moves`` with ``signed_seq`` and ``signature``.

        ``seq`` and ``head`` are those of the table that the player sees, ``move`` is ``{"play": "QS"}``,
        ``{"pass": ["2C", "QS"]}`` or ``{"moon": "add"}``. Raises `Malformed` for what is none.
        """
        try:
            signed = self.sign(game, seq, bytes.fromhex(head), action_of(move))
        except ValueError as error:
            raise Malformed(f"a head is 32 bytes in hex: {error}") from error
        return {**move, "signed_seq": signed.seq, "signature": signed.signature}


def action_of(move: Mapping[str, Any]) -> str:
    """The text that is signed of a move as it is sent. Raises `Malformed`."""
    match dict(move):
        case {"play": str(card), **rest} if not rest:
            return play_action(parse_card(card))
        case {"pass": [*cards], **rest} if not rest:
            return pass_action([parse_card(card) for card in cards])
        case {"moon": ("add" | "subtract") as choice, **rest} if not rest:
            return moon_action(choice)
    raise Malformed('a move is one of {"pass": [...]}, {"play": "QS"} and {"moon": "add"}')


def check_public_key(text: str) -> None:
    """Raise `Malformed` where ``text`` is no Ed25519 public key that only its owner can sign for.

    That is 32 bytes in lower-case hex, a point of the curve in its one encoding (RFC 8032 5.1.3), and none of the eight
    points of small order, whose signatures anybody can make.
    """
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != 32 or raw.hex() != text:
        raise Malformed("not 32 bytes in lower-case hex, which are 64 digits")
    number = int.from_bytes(raw, "little")
    y = number & (1 << 255) - 1
    square = y * y % _P
    above, below = square - 1, _D * square + 1
    if y >= _P or pow(above * below, (_P - 1) // 2, _P) == _P - 1:
        raise Malformed("not an Ed25519 public key: these 32 bytes are no point of its curve")
    # y of the points of orders 1 and 2, of order 4, and of order 8, where x * x = -y * y
    if square == 1 or y == 0 or (above + square * below) % _P == 0:
        raise Malformed("not an Ed25519 public key: anybody could sign for this point of the curve")


def is_signed(public_key: str, signature: str, message: bytes) -> bool:
    """Whether the signature of ``message`` is by the key, both in lower-case hex."""
    try:
        raw = bytes.fromhex(signature)
    except ValueError:
        return False
    return raw.hex() == signature and audit.is_signed(public_key, message, raw)


Read = Callable[[str, int, int], Iterable[tuple[int, bytes, bytes]]]
"""The stored entries of a game after one event and up to another, such as `services.store.Store.read`."""


def check_signed(table: SeenTable, event: Event, read: Read) -> None:
    """Judge the signature of a move that ``table`` was just found to allow; ``event`` is what it causes first.

    The head that was signed follows from the stored events since the earliest that may be signed at; they are read only
    where the last one was not signed. Raises `Refused` as ``move/wrong_signature``.
    """
    move = signed_move(event)
    if move is None:
        return
    state, (first, head) = table.state, table.mark
    seq, signature = move.signed
    if not first <= seq <= table.seq:
        raise Refused(
            "move/wrong_signature",
            f"the move is signed at event {seq}, and counts only at one from {first} to {table.seq}",
            hint=f"sign it at event {table.seq}, the last one, with its head {table.head.hex()}",
        )
    if seq == table.seq:
        head = table.head
    else:
        for _, public, _ in read(state.game, first, seq):
            head = next_head(head, public)
    message = move_message(state.game, seq, head, move.action)
    if not is_signed(state.seats[move.seat].public_key or "", signature, message):
        raise Refused(
            "move/wrong_signature",
            f"the signature is not that of this move at event {seq} by the key of your seat",
            hint=f'what is signed is H("hearts/v1/move", "{state.game}", "{seq}", the head {head.hex()},'
            f' "{move.action}"), the 32 bytes {message.hex()}',
        )
