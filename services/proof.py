"""Proof files: a game's public events as they are stored, and what anybody can check of them offline.

The format and the claims are ``docs/spec/audit.md``. A claim `holds`, `fails` at an event, or is not shown, with what would show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import chain
from typing import Final, Literal

import msgspec

from domain import events as e
from domain.refusals import CorruptLog
from domain.shuffle import genesis_head, next_head
from services.audit import Receipt, Signer
from services.chain import HEAD_DIGITS
from services.checkpoints import Inclusion, LogProof
from services.codec import CODEC
from services.integrity import Signed
from services.leaves import Leaf, leaf_kind
from services.levels import Level
from services.notes import SignedCheckpoint
from services.proof_file import (
    FORMAT,
    CheckpointLine,
    Header,
    InclusionLine,
    ProofFile,
    ReceiptLine,
    SignedHead,
)
from services.store import Entry

_ROTATED: Final = b'"key_rotated"'
_LONGEST_START: Final = 40
"""Number and name of an event that names a key stand in so many of its first bytes."""
_HEADS_PIECE: Final = 32 * 1024
"""Bytes of heads that are written at a time."""


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """One claim of the audit and how far the file shows it."""

    name: Literal["F", "I", "R", "B"]
    title: str
    status: Literal["holds", "fails", "not shown"]
    detail: str
    event: int | None = None
    """The first event at fault."""
    level: int | None = None
    """How far it is shown, of `top`; none where there are no steps to climb, or it fails."""
    top: int | None = None
    reached: str = ""
    """What the level means."""
    next: str = ""
    """What would show more; empty where nothing would."""
    cause: str = ""
    """Of a claim that fails because an event cannot be read: what the program that reads it said."""

    @property
    def line(self) -> str:
        """The claim in one line for people."""
        if self.status == "fails":
            where = "" if self.event is None else f" at event {self.event}"
            return f"{self.name} ({self.title}) FAILS{where}: {self.detail}"
        told = f"{self.name} ({self.title}) {self._status}: {self.detail}"
        if self.level is None:
            return told
        return f"{told}. Level {self.level} of {self.top}" + (f"; {self.next}" if self.next else "")

    @property
    def _status(self) -> str:
        """The status in words by which nobody takes the server's word for more than that."""
        by_server = self.name == "I" and self.status == "holds" and self.level == 1
        return "holds only by the word of this file's own server" if by_server else self.status

    def at(self, level: Level) -> Claim:
        """The claim with what it reaches and what would show more."""
        return msgspec.structs.replace(
            self, level=level.level, top=level.top, reached=level.reached, next=level.next
        )


class Proof(msgspec.Struct, frozen=True):
    """A proof file as it was read."""

    game: str
    server_key: str
    lines: tuple[bytes, ...]
    """The stored public bytes of the events."""
    heads: str
    receipt: Receipt | None
    checkpoint: SignedCheckpoint | None = None
    inclusions: tuple[Inclusion, ...] = ()

    @property
    def signed(self) -> Signed:
        """All that the server has signed of the game."""
        receipts = () if self.receipt is None else (self.receipt,)
        return Signed(receipts, self.checkpoint, self.inclusions)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a proof file shows."""

    ok: bool
    """Whether no claim fails."""
    game: str
    events: int
    head: str
    claims: tuple[Claim, ...]
    key_pinned: bool
    """Whether the reader got the server's key elsewhere than from the file."""


# --- writing


def proof_lines(
    entries: Iterable[Entry],
    key: Signer | None = None,
    expected: bytes | None = None,
    log: Callable[[Sequence[Leaf], str], LogProof | None] | None = None,
) -> Iterator[bytes]:
    """The proof file of a game's stored ``entries``, in pieces: each line with its newline, that of the heads cut up.

    With the server's ``key``, or keys, the last line is a receipt of the last event, by the one that the events themselves
    name for it. Of what went by only the short heads are kept, 8 bytes an event. ``expected`` is the head that the server has answered before: where the stored bytes lead to
    another, somebody has changed them, and nothing is signed. ``log`` is asked at the end what it has of the game's leaves,
    under the key that the game was opened under.
    Raises `CorruptLog`, and `KeyMissing` where that key is not there.
    """
    entries = iter(entries)
    opening = next(entries)
    first = CODEC.decode(opening[1])
    if not isinstance(first, e.GameCreated):
        raise CorruptLog("the first event is no game_created")
    yield _line(Header(FORMAT, first.game, first.server_key))
    head, seq = genesis_head(first.game), 0
    heads, leaves = bytearray(), []
    valid = named = first.server_key
    for seq, public, _ in chain((opening,), entries):
        head, valid = next_head(head, public), named
        if _ROTATED in public[:_LONGEST_START]:
            named = _named_by(public) or named
        kind = leaf_kind(seq, public)
        if kind is not None:
            leaves.append(Leaf(first.game, kind, seq, head))
        heads += head[: HEAD_DIGITS // 2]
        yield public + b"\n"
    yield b'{"heads":"'
    for at in range(0, len(heads), _HEADS_PIECE):
        yield heads[at : at + _HEADS_PIECE].hex().encode()
    yield b'"}\n'
    if expected is not None and head != expected:
        raise CorruptLog(
            f"game {first.game}: its stored events are not those it was played by; nothing is signed"
        )
    if key is not None:
        receipt = key.of(valid).receipt(first.game, seq, head)
        yield _line(ReceiptLine(SignedHead(*receipt)))
    logged = None if log is None else log(leaves, first.server_key)
    if logged is not None:
        yield _line(CheckpointLine(logged.checkpoint))
        for inclusion in logged.inclusions:
            yield _line(InclusionLine(inclusion))


def _named_by(public: bytes) -> str:
    """The key that is valid at all events behind this one, where it is one that says so."""
    event = CODEC.decode(public)
    return event.server_key if isinstance(event, e.KeyRotated) else ""


def _line(what: msgspec.Struct) -> bytes:
    return msgspec.json.encode(what) + b"\n"


# --- reading


def read_proof(data: bytes) -> Proof:
    """The proof file in ``data``. Raises `Malformed`, with the number of the line, where it is none."""
    file = ProofFile(BytesIO(data).read)
    lines = tuple(line for some, _ in file.events() for line in some)
    heads, signed = file.behind()
    receipt = signed.receipts[0] if signed.receipts else None
    return Proof(file.game, file.server_key, lines, heads, receipt, signed.checkpoint, signed.inclusions)
