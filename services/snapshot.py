"""A folded table as bytes, kept beside its stream so that a long game need not be folded from its first event.

A snapshot is a shortcut and never the truth: it is dropped where another fold than this program's made it, which a hash of
that fold's sources in it tells, or where its checksum says that it was damaged; and the fold of all events says the same
(tests hold it to that). It holds secrets, as the stream does, and is never published.
"""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from operator import attrgetter
from typing import Any, Final
from zlib import crc32

import msgspec

from domain.cards import Card, Mask, Seat
from domain.events import BotName, Branch, Choice, Reason
from domain.ruleset import RuleSet, Terms, terms_of
from domain.state import HandState, Phase, SeatState, State, Trick

FOLD_BYTES: Final = 8
"""Of the hash of the fold, with which a snapshot begins; a checksum of four bytes and the table follow."""
_CHECKSUM_BYTES: Final = 4
_FEW: Final = 15
"""Fields, of which a numbered snapshot has more: so many a damaged byte at its beginning could let one of today look like."""
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

    seq: int
    head: bytes
    at: int
    game: str
    rules: bytes
    """What of the rule set is not as by default, as JSON: thousands of tables share a few, which are worked out once."""
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


@lru_cache(maxsize=256)
def _brief(rules: bytes) -> bytes:
    """A rule set without what it has by default. What that is cannot change, for then the fold is another one."""
    plain = msgspec.json.decode(msgspec.json.encode(RuleSet(variant="")))
    whole = msgspec.json.decode(rules)
    return msgspec.json.encode({name: value for name, value in whole.items() if value != plain.get(name)})


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Snapshot).decode


def take_snapshot(
    state: State, seq: int, head: bytes, at: int, mark: tuple[int, bytes], signer: str
) -> bytes:
    """The bytes of a table after event ``seq``; the arguments are those of a `services.folded.Table`."""
    fields: dict[str, Any] = {name: getattr(state, name) for name in _SHARED}
    hand = None if state.hand is None else _pack_hand(state.hand)
    return seal(
        Snapshot(
            seq=seq,
            head=head,
            at=at,
            rules=_brief(msgspec.json.encode(state.terms.rules)),
            hand=hand,
            mark=mark,
            signer=signer,
            sealed=[_pack_hand(one) for one in state.sealed],
            **fields,
        )
    )


def seal(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot, which begin with the hash of the fold and a checksum."""
    fold, table = fold_hash(), _encode(snapshot)
    return fold + _checksum(fold, table) + table


def read_snapshot(data: bytes) -> Snapshot | None:
    """The snapshot in ``data``; none where another fold made it or it cannot be read, for then the events serve."""
    fold, checksum, table = _parts(data)
    if fold != fold_hash() or checksum != _checksum(fold, table):
        return None
    try:
        return _decode(table)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def is_of_other_version(data: bytes) -> bool:
    """Whether this is a whole snapshot that a program with another fold took, which nobody uses and nothing is wrong with."""
    fold, checksum, table = _parts(data)
    if fold == fold_hash():
        return False
    return checksum == _checksum(fold, table) or _is_numbered(data)


@cache
def fold_hash() -> bytes:
    """A hash of the sources that a snapshot follows from: events, rules, the fold, and what of a table is stored.

    What was folded by others is folded again, be the difference only a comment: nobody has to think of raising a number.
    """
    digest = sha256()
    of_domain = [file for file in files("domain").iterdir() if file.name.endswith(".py")]
    of_domain.sort(key=lambda file: file.name)
    for file in [
        *of_domain,
        *(files("services") / name for name in ("codec.py", "folded.py", "snapshot.py")),
    ]:
        source = file.read_bytes()
        digest.update(f"{file.name} {len(source)} ".encode() + source)
    return digest.digest()[:FOLD_BYTES]


def _parts(data: bytes) -> tuple[bytes, bytes, bytes]:
    behind = FOLD_BYTES + _CHECKSUM_BYTES
    return data[:FOLD_BYTES], data[FOLD_BYTES:behind], data[behind:]


def _checksum(fold: bytes, table: bytes) -> bytes:
    return crc32(table, crc32(fold)).to_bytes(_CHECKSUM_BYTES, "little")


def _is_numbered(data: bytes) -> bool:
    """Whether it is from before snapshots had checksums, with a number as its first field."""
    try:
        fields = msgspec.msgpack.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError):
        return False
    return isinstance(fields, list) and len(fields) > _FEW and type(fields[0]) is int


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
