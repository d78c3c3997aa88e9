"""A proof file read once from its beginning, a piece at a time: strictly, and without ever holding all of it.

What is kept is what stands behind the events. Every bound here is far above what a game comes to, and is there so that a
hostile file costs no more memory than an honest one.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from domain.refusals import Malformed
from services.audit import Receipt
from services.chain import HEAD_DIGITS
from services.checkpoints import Inclusion
from services.integrity import Signed, is_hex
from services.json_fields import told_wrong
from services.notes import SignedCheckpoint, read_checkpoint
from services.plain_json import NotPlain, read_plain

FORMAT: Final = "hearts-audit/1"
MOST_INCLUSIONS: Final = 2
"""A game has a leaf at its lock and one at its end."""
PIECE: Final = 64 * 1024
"""Bytes that are read at a time."""
MOST_EVENTS: Final = 2**20
"""Events of a file at most. A game of 4096 hands, 11 seats and two decks has some 600,000."""
LONGEST_LINE: Final = MOST_EVENTS * HEAD_DIGITS + 1024
"""Bytes of the longest line, which is that of the heads."""
_MOST_BEHIND: Final = 4 + MOST_INCLUSIONS
"""One line more than may stand behind the events."""
_HIDDEN: Final = re.compile(rb'\{("[0-9]+":"|\}$)')
_OF_THE_ARCHIVE: Final = (
    "; this looks like what the archive keeps behind a proof file in a second part of the compressed one, which can be "
    "verified as it is"
)
_EVENT: Final = b'{"n":'


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    format: str
    game: str
    server_key: str


class Heads(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The line behind the events."""

    heads: str


class SignedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A receipt."""

    game: str
    seq: int
    head: str
    signature: str


class ReceiptLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A receipt's line."""

    receipt: SignedHead


class CheckpointLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The line of a signed checkpoint, which is a note."""

    checkpoint: str


class InclusionLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The line of a path from a leaf of the game to the checkpoint."""

    inclusion: Inclusion


def why_no_header(first: bytes) -> str:
    """Why a first line is at first sight none of a proof file; "" where it may be one."""
    if first.startswith(BOM_UTF8):
        return "a byte order mark stands before the header: an editor has made another file of it"
    if not first.strip():
        return "it is empty, and the header should stand there"
    return "the header is missing: the file begins with an event" if first.startswith(_EVENT) else ""


class Behind(NamedTuple):
    """What stands behind the events: the line of heads, and what the server has signed."""

    heads: str
    signed: Signed


class ProofFile:
    """A proof file whose header was read.

    ``read`` gives up to so many of its next bytes, none at its end; ``begun`` are bytes of it that were read before.
    Every method raises `Malformed`, with the number of the line, where the file is no proof file.
    """

    def __init__(self, read: Callable[[int], bytes], begun: bytes = b"") -> None:
        self._blocks = _read_blocks(read, begun)
        first, self._rest = self._split(next(self._blocks, None))
        if why := why_no_header(first):
            raise Malformed(f"line 1: {why}")
        header = _read_line(1, first, Header)
        if header.format != FORMAT:
            raise Malformed(f"line 1: format is {header.format!r:.60}, not {FORMAT!r}")
        _require_hex(1, "server_key", header.server_key)
        self.game: str = header.game
        self.server_key: str = header.server_key
        self._events = 0

    @staticmethod
    def _split(block: bytes | None) -> tuple[bytes, bytes | None]:
        """The first line, and what was read behind it; none where nothing was."""
        if block is None:
            raise Malformed("line 1: the file is empty")
        first, end, rest = block.partition(b"\n")
        return first, rest if end else None

    def events(self) -> Iterator[tuple[list[bytes], bytes]]:
        """The lines of the events, some at a time: as a list, and the same in one piece, joined by line ends."""
        while (block := self._next()) is not None:
            lines = block.split(b"\n")
            if not block.startswith(_EVENT) or block.count(b"\n" + _EVENT) != len(lines) - 1:
                count = next(at for at, line in enumerate(lines) if not line.startswith(_EVENT))
                self._rest = b"\n".join(lines[count:])
                if count:
                    yield self._counted(lines[:count], b"\n".join(lines[:count]))
                return
            yield self._counted(lines, block)

    def _counted(self, lines: list[bytes], together: bytes) -> tuple[list[bytes], bytes]:
        self._events += len(lines)
        if self._events > MOST_EVENTS:
            raise Malformed(
                f"line {MOST_EVENTS + 2}: a proof file has {MOST_EVENTS} events at most, and this is one more"
            )
        return lines, together

    def _next(self) -> bytes | None:
        """The next whole lines that were not looked at yet; none at the end."""
        rest, self._rest = self._rest, None
        return next(self._blocks, None) if rest is None else rest

    def behind(self) -> Behind:
        """What stands behind the events, once they were read."""
        if not self._events:
            raise Malformed("line 2: there are no events")
        number, lines = self._events + 2, self._lines_behind()
        if not lines:
            raise Malformed(f"line {number}: the line of heads is missing")
        heads = _read_line(number, lines[0], Heads).heads
        _require_hex(number, "heads", heads)
        signed = _read_signed(number + 1, lines[1:])
        first = number + 1 + len(signed.receipts)
        _check_signers(first, signed.checkpoint, signed.inclusions, self.server_key)
        return Behind(heads, signed)

    def _lines_behind(self) -> list[bytes]:
        """The lines behind the events, or so many of them that one is wrong."""
        lines: list[bytes] = []
        while len(lines) < _MOST_BEHIND and (block := self._next()) is not None:
            lines += block.split(b"\n")
        return lines[:_MOST_BEHIND]


def _read_blocks(read: Callable[[int], bytes], begun: bytes) -> Iterator[bytes]:
    """A file in pieces of whole lines, without the last line end of each."""
    line, held = 1, bytearray()
    piece = begun or read(PIECE)
    while piece:
        cut = piece.rfind(b"\n")
        if cut >= 0:
            held += memoryview(piece)[:cut]
            block = bytes(held)
            held = bytearray(memoryview(piece)[cut + 1 :])
            yield block
            line += block.count(b"\n") + 1
            del block
        else:
            held += piece
        if len(held) > LONGEST_LINE:
            raise Malformed(f"line {line}: longer than the {LONGEST_LINE} bytes that a line may have")
        piece = read(PIECE)
    if held:
        yield bytes(held)


def _read_signed(first: int, lines: Sequence[bytes]) -> Signed:
    """What stands behind the heads from line ``first`` on: a receipt, a checkpoint, inclusions, each only if it is there."""
    receipts: tuple[Receipt, ...] = ()
    checkpoint: SignedCheckpoint | None = None
    paths: tuple[Inclusion, ...] = ()
    for number, line in enumerate(lines, first):
        if line.startswith(b'{"receipt":') and not (receipts or checkpoint or paths):
            receipts = (_read_receipt(number, line),)
        elif line.startswith(b'{"checkpoint":') and not (checkpoint or paths):
            note = _read_line(number, line, CheckpointLine).checkpoint
            try:
                checkpoint = read_checkpoint(note)
            except Malformed as error:
                raise Malformed(f"line {number}: {error}") from error
        elif line.startswith(b'{"inclusion":') and len(paths) < MOST_INCLUSIONS:
            paths = (*paths, _read_inclusion(number, line))
        else:
            raise Malformed(
                f"line {number}: nothing may follow the heads but a receipt, a checkpoint "
                f"and {MOST_INCLUSIONS} inclusions, in this order{_OF_THE_ARCHIVE if _HIDDEN.match(line) else ''}"
            )
    return Signed(receipts, checkpoint, paths)


def _check_signers(
    line: int, checkpoint: SignedCheckpoint | None, inclusions: Sequence[Inclusion], server_key: str
) -> None:
    """Raise `Malformed` where a file has from ``line`` on what nobody could judge.

    That is an inclusion without a checkpoint, and a signature of the checkpoint that is not by the key of the header.
    """
    if checkpoint is None and inclusions:
        raise Malformed(f"line {line}: an inclusion, and no checkpoint before it that it is to lead to")
    if checkpoint is not None and not checkpoint.is_only_by(server_key):
        raise Malformed(
            f"line {line}: the checkpoint has a signature that is not by the server key of line 1"
        )


def _read_receipt(number: int, line: bytes) -> Receipt:
    signed = _read_line(number, line, ReceiptLine).receipt
    for name in ("head", "signature"):
        _require_hex(number, name, getattr(signed, name))
    return Receipt(signed.game, signed.seq, signed.head, signed.signature)


def _read_inclusion(number: int, line: bytes) -> Inclusion:
    read: Inclusion = _read_line(number, line, InclusionLine).inclusion
    if not all(map(is_hex, (read.leaf, *read.path))):
        raise Malformed(f"line {number}: a hash is not 32 bytes in lower-case hex")
    return read


def _read_line(number: int, line: bytes, kind: type[Any]) -> Any:
    if line.strip() != line:
        raise Malformed(f"line {number}: white space around the object")
    try:
        found = read_plain(line)
    except NotPlain as error:
        raise Malformed(f"line {number}: {error}") from error
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise Malformed(f"line {number}: {told_wrong(found, kind)}") from error


def _require_hex(number: int, name: str, text: str) -> None:
    try:
        right = text != "" and bytes.fromhex(text).hex() == text
    except ValueError:
        right = False
    if not right:
        raise Malformed(f"line {number}: {name} is not lower-case hex")
