"""Proof files: a game's public events as they are stored, and what anybody can check of them offline.

The format and the claims are ``docs/spec/audit.md``. Reading is strict: a file that is not exactly of the format is
`Malformed`. A claim `holds`, `fails` at an event, or is not shown, with what would show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, Literal

import msgspec

from domain import events as e
from domain.refusals import CorruptLog, Malformed
from domain.shuffle import genesis_head, next_head
from services.audit import Receipt, ServerKey
from services.checkpoints import Inclusion, LogProof
from services.codec import CODEC
from services.integrity import (
    HEAD_DIGITS,
    Signed,
    check_hex,
    check_signers,
)
from services.leaves import Leaf, leaf_kind
from services.notes import SignedCheckpoint, read_checkpoint
from services.store import Entry

FORMAT: Final = "hearts-audit/1"
_HEADS_PIECE: Final = 32 * 1024
"""Bytes of heads that are written at a time."""
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})+")


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """One claim of the audit and how far the file shows it."""

    name: Literal["F", "I", "R", "B"]
    title: str
    status: Literal["holds", "fails", "not shown"]
    detail: str
    event: int | None = None
    """The first event at fault."""

    @property
    def line(self) -> str:
        """The claim in one line for people."""
        if self.status == "fails":
            where = "" if self.event is None else f" at event {self.event}"
            return f"{self.name} ({self.title}) FAILS{where}: {self.detail}"
        return f"{self.name} ({self.title}) {self.status}: {self.detail}"


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


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    game: str
    server_key: str


class _Heads(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    heads: str


class _SignedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    game: str
    seq: int
    head: str
    signature: str


class _ReceiptLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    receipt: _SignedHead


class _CheckpointLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checkpoint: str


class _InclusionLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    inclusion: Inclusion


MOST_INCLUSIONS: Final = 2
"""A game has a leaf at its lock and one at its end."""


# --- writing


def proof_lines(
    entries: Iterable[Entry],
    key: ServerKey | None = None,
    expected: bytes | None = None,
    log: Callable[[Sequence[Leaf], str], LogProof | None] | None = None,
) -> Iterator[bytes]:
    """The proof file of a game's stored ``entries``, in pieces: each line with its newline, that of the heads cut up.

    With the server's ``key`` the last line is a receipt of the last event. Of what went by only the short heads are
    kept, 8 bytes an event. ``expected`` is the head that the server has answered before: where the stored bytes lead to
    another, somebody has changed them, and nothing is signed. ``log`` is asked at the end what it has of the game's leaves,
    under the key that the game was opened under.
    Raises `CorruptLog`.
    """
    entries = iter(entries)
    opening = next(entries)
    first = CODEC.decode(opening[1])
    if not isinstance(first, e.GameCreated):
        raise CorruptLog("the first event is no game_created")
    yield _line(_Header(FORMAT, first.game, first.server_key))
    head, seq = genesis_head(first.game), 0
    heads, leaves = bytearray(), []
    for seq, public, _ in chain((opening,), entries):
        head = next_head(head, public)
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
        receipt = key.receipt(first.game, seq, head)
        yield _line(_ReceiptLine(_SignedHead(*receipt)))
    logged = None if log is None else log(leaves, first.server_key)
    if logged is not None:
        yield _line(_CheckpointLine(logged.checkpoint))
        for inclusion in logged.inclusions:
            yield _line(_InclusionLine(inclusion))


def _line(what: msgspec.Struct) -> bytes:
    return msgspec.json.encode(what) + b"\n"


# --- reading


def read_proof(data: bytes) -> Proof:
    """The proof file in ``data``. Raises `Malformed`, with the number of the line, where it is none."""
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise Malformed("line 1: the file is empty")
    header = _read_line(1, lines[0], _Header)
    if header.format != FORMAT:
        raise Malformed(f"line 1: format is {header.format!r:.60}, not {FORMAT!r}")
    _require_hex(1, "server_key", header.server_key)
    count = next((at for at, line in enumerate(lines[1:]) if not line.startswith(b'{"n":')), len(lines) - 1)
    events, rest = lines[1 : count + 1], lines[count + 1 :]
    if not events:
        raise Malformed("line 2: there are no events")
    if not rest:
        raise Malformed(f"line {len(lines) + 1}: the line of heads is missing")
    heads = _read_line(count + 2, rest[0], _Heads).heads
    _require_hex(count + 2, "heads", heads)
    receipt, checkpoint, inclusions = _read_signed(count + 3, rest[1:])
    check_signers(count + 3 + (receipt is not None), checkpoint, inclusions, header.server_key)
    return Proof(header.game, header.server_key, tuple(events), heads, receipt, checkpoint, inclusions)


def _read_signed(
    first: int, lines: Sequence[bytes]
) -> tuple[Receipt | None, SignedCheckpoint | None, tuple[Inclusion, ...]]:
    """What stands behind the heads from line ``first`` on: a receipt, a checkpoint, inclusions, each only if it is there."""
    receipt = checkpoint = None
    paths: list[Inclusion] = []
    for number, line in enumerate(lines, first):
        if line.startswith(b'{"receipt":') and not (receipt or checkpoint or paths):
            receipt = _read_receipt(number, line)
        elif line.startswith(b'{"checkpoint":') and not (checkpoint or paths):
            note = _read_line(number, line, _CheckpointLine).checkpoint
            try:
                checkpoint = read_checkpoint(note)
            except Malformed as error:
                raise Malformed(f"line {number}: {error}") from error
        elif line.startswith(b'{"inclusion":') and len(paths) < MOST_INCLUSIONS:
            paths.append(_read_inclusion(number, line))
        else:
            raise Malformed(
                f"line {number}: nothing may follow the heads but a receipt, a checkpoint "
                f"and {MOST_INCLUSIONS} inclusions, in this order"
            )
    return receipt, checkpoint, tuple(paths)


def _read_receipt(number: int, line: bytes) -> Receipt:
    signed = _read_line(number, line, _ReceiptLine).receipt
    for name in ("head", "signature"):
        _require_hex(number, name, getattr(signed, name))
    return Receipt(signed.game, signed.seq, signed.head, signed.signature)


def _read_inclusion(number: int, line: bytes) -> Inclusion:
    read: Inclusion = _read_line(number, line, _InclusionLine).inclusion
    try:
        check_hex((read.leaf, *read.path))
    except ValueError as error:
        raise Malformed(f"line {number}: {error}") from error
    return read


def _read_line(number: int, line: bytes, kind: type[Any]) -> Any:
    if line.strip() != line:
        raise Malformed(f"line {number}: white space around the object")
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Malformed(f"line {number}: {error}") from error


def _require_hex(number: int, name: str, text: str) -> None:
    if not _HEX.fullmatch(text):
        raise Malformed(f"line {number}: {name} is not lower-case hex")
