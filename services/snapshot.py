"""A folded table as bytes, kept beside its stream so that a long game need not be folded from its first event.

A snapshot is a shortcut and never the truth: it is dropped when its version is another than this program's, and the
fold of all events says the same (tests hold it to that). It holds secrets, as the stream does, and is never published.
"""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

import msgspec

from domain.cards import Card, Mask, Seat
from domain.events import BotName, Branch, Choice, Reason
from domain.ruleset import RuleSet, Terms, terms_of
from domain.state import HandState, Phase, SeatState, State, Trick

VERSION: Final = 4
"""Raise it with every change of `State`, `HandState` or the fold: what was stored under another one is not used."""
EVERY: Final = 8
"""A snapshot is stored with an append that reaches or passes a multiple of so many events."""

_MASK_BYTES: Final = 13


class _Hand(msgspec.Struct, array_like=True):
    """`HandState`; its masks as one run of bytes."""

    number: int
    offset: int
    opener: Seat
    secret: str
    masks: bytes
    passed: list[bool]
    exchanged: bool
    leader: Seat
    turn: Seat
    forced: Card
    trick: list[Card]
    history: list[Trick]
    broken: bool
    pile: list[Card]
    penalty: list[int]
    penalties_taken: list[int]
    bonus: list[int]
    bonus_taken: list[int]
    choice: Choice | None
    pass_signatures: tuple[tuple[int, str] | None, ...]


class Snapshot(msgspec.Struct, array_like=True):
    """A table after event ``seq``: its state, the head of its chain, and when the event happened (Unix ms)."""

    version: int
    seq: int
    head: bytes
    at: int
    game: str
    rules: bytes
    """The rule set as JSON: thousands of tables share a few, which are worked out once."""
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
    branch: Branch | None
    deal_group: str
    seats: list[SeatState]
    first_ready_at: int | None
    root: str
    phase: Phase
    hand: _Hand | None
    hands: list[tuple[int, ...]]
    moons: tuple[Seat | None, ...]
    totals: list[int]
    since: int
    last_at: int
    winners: tuple[Seat, ...]
    reason: Reason | None
    mark: tuple[int, bytes]
    """The earliest event that a move may be signed at, and its head."""
    signer: str
    """The server key that is valid at event ``seq``."""
    sealed: list[_Hand]

    def state(self) -> State:
        """The folded state."""
        state = State.__new__(State)
        for name, value in zip(_SHARED, _shared_of(self), strict=True):
            setattr(state, name, value)
        state.terms = _terms(self.rules)
        state.hand = None if self.hand is None else _unpack_hand(self.hand)
        state.sealed = tuple(_unpack_hand(one) for one in self.sealed)
        return state


_SHARED: Final = tuple(name for name in State.__slots__ if name not in ("terms", "hand", "sealed"))
_HAND_SHARED: Final = tuple(
    name for name in HandState.__slots__ if name not in ("dealt", "kitty", "held", "passes")
)
_shared_of: Final = attrgetter(*_SHARED)
_hand_shared_of: Final = attrgetter(*_HAND_SHARED)


@lru_cache(maxsize=256)
def _terms(rules: bytes) -> Terms:
    return terms_of(msgspec.json.decode(rules, type=RuleSet))


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Snapshot).decode


def take_snapshot(
    state: State, seq: int, head: bytes, at: int, mark: tuple[int, bytes], signer: str
) -> bytes:
    """The bytes of a table after event ``seq``; the arguments are those of a `services.folded.Table`."""
    fields: dict[str, Any] = {name: getattr(state, name) for name in _SHARED}
    hand = None if state.hand is None else _pack_hand(state.hand)
    return _encode(
        Snapshot(
            version=VERSION,
            seq=seq,
            head=head,
            at=at,
            rules=msgspec.json.encode(state.terms.rules),
            hand=hand,
            mark=mark,
            signer=signer,
            sealed=[_pack_hand(one) for one in state.sealed],
            **fields,
        )
    )


def read_snapshot(data: bytes) -> Snapshot | None:
    """The snapshot in ``data``; none where it is of another version or cannot be read, for then the events serve."""
    try:
        snapshot = _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return snapshot if snapshot.version == VERSION else None


def is_of_other_version(data: bytes) -> bool:
    """Whether this is a snapshot that a program of another version took, which nobody uses and nothing is wrong with."""
    try:
        fields = msgspec.msgpack.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        return False
    return isinstance(fields, list) and bool(fields) and type(fields[0]) is int and fields[0] != VERSION


def _pack_hand(hand: HandState) -> _Hand:
    masks = [*hand.dealt, hand.kitty, *hand.held, *[mask or 0 for mask in hand.passes]]
    return _Hand(
        masks=b"".join([mask.to_bytes(_MASK_BYTES, "little") for mask in masks]),
        passed=[mask is not None for mask in hand.passes],
        **{name: getattr(hand, name) for name in _HAND_SHARED},
    )


def _unpack_hand(packed: _Hand) -> HandState:
    raw, size = packed.masks, _MASK_BYTES
    masks: list[Mask] = [int.from_bytes(raw[at : at + size], "little") for at in range(0, len(raw), size)]
    seats = len(packed.passed)
    hand = HandState.__new__(HandState)
    for name, value in zip(_HAND_SHARED, _hand_shared_of(packed), strict=True):
        setattr(hand, name, value)
    hand.dealt, hand.kitty, hand.held = masks[:seats], masks[seats], masks[seats + 1 : 2 * seats + 1]
    passes = zip(masks[2 * seats + 1 :], packed.passed, strict=True)
    hand.passes = [mask if passed else None for mask, passed in passes]
    return hand
