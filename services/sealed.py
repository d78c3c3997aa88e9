"""Finished games sealed in one block of bytes, and read back from it.

A block is the game's proof file, compressed by gzip; behind it, in a second member, stand the hidden bytes that the proof
file does not reveal, above all the secret of the chain. So it holds all that the store held, to the byte.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from itertools import zip_longest
from typing import Final, cast

import msgspec

from domain import events as e
from domain.refusals import CorruptLog
from services.chain import HEAD_DIGITS
from services.codec import CODEC
from services.proof import proof_lines
from services.revealed import restore_hidden
from services.store import Entry

LARGEST: Final = 64 * 1024 * 1024
"""Bytes that a sealed game may unpack to."""


class EventChanged(CorruptLog):
    """A sealed game whose event ``seq`` is not the one that was sealed, by the heads in it."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(why)
        self.seq = seq


_Kept = dict[int, bytes]
"""Hidden bytes by seq that the proof file does not reveal; b"" where it would reveal some and there are none."""
_DECODE_KEPT: Final = msgspec.json.Decoder(_Kept).decode


def seal(entries: Sequence[Entry]) -> bytes:
    """The stored entries of a finished game in one block. Raises `CorruptLog` where they are no game, or too large a one."""
    text = b"".join(proof_lines(entries))
    if len(text) > LARGEST:
        raise CorruptLog(f"a game of {len(text)} bytes is too large to be sealed")
    block = gzip.compress(text, mtime=0)
    told = _hidden(_events(text))
    kept = {seq: hidden for (seq, _, hidden), same in zip(entries, told, strict=True) if hidden != same}
    return block + gzip.compress(msgspec.json.encode(kept), mtime=0) if kept else block


def proof_text(block: bytes) -> bytes:
    """The proof file in a block. Raises `CorruptLog`."""
    return _unpack(block)[0]


def plain_text(data: bytes) -> bytes:
    """What gzip has compressed, in any number of members; of a sealed game the proof file alone. Raises `CorruptLog`."""
    with suppress(CorruptLog):
        return proof_text(data)
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            text = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptLog(str(error)) from error
    if len(text) > LARGEST:
        raise CorruptLog(f"it unpacks to more than {LARGEST} bytes")
    return text


def unseal(block: bytes) -> list[e.AnyEvent]:
    """The events of a sealed game, ready to be folded. Raises `CorruptLog`."""
    text, kept = _unpack(block)
    lines = _lines(text)
    try:
        events = _events(text)
        public = lines.split(b"\n") if kept else []
        for seq, hidden in kept.items():
            events[seq - 1] = cast("e.AnyEvent", CODEC.decode(public[seq - 1], hidden))
    except (ValueError, LookupError, CorruptLog) as error:
        raise _unreadable(error) from error
    return events


def unpack(block: bytes) -> list[Entry]:
    """The entries of a sealed game as they were stored. Raises `CorruptLog`."""
    text, kept = _unpack(block)
    public = _lines(text).split(b"\n")[:-1]
    try:
        hidden = _hidden(_events(text))
    except (ValueError, CorruptLog) as error:
        raise _unreadable(error) from error
    if len(hidden) != len(public):
        raise _unreadable("a line holds no event")
    entries = [
        (seq, line, kept.get(seq, told))
        for seq, (line, told) in enumerate(zip(public, hidden, strict=True), 1)
    ]
    wanted = b"".join(proof_lines(entries))
    if wanted != text:
        raise _unlike(text, wanted)
    return entries


def _unlike(text: bytes, wanted: bytes) -> CorruptLog:
    """What is wrong with a proof file that has the events of the one that is ``wanted``, and is another one."""
    heads = wanted.rindex(b'{"heads":"') + len(b'{"heads":"')
    if text[:heads] != wanted[:heads]:
        return _unreadable("its header is not that of its events")
    pairs = enumerate(zip_longest(text[heads:], wanted[heads:]))
    seq = next(at for at, (one, other) in pairs if one != other) // HEAD_DIGITS + 1
    return EventChanged(seq, f"a sealed game cannot be read: its heads say that event {seq} was another one")


def _unpack(block: bytes) -> tuple[bytes, _Kept]:
    """The proof file and what it does not reveal."""
    try:
        text, rest = _inflate(block)
        more, end = _inflate(rest) if rest else (b"{}", b"")
        if end:
            raise CorruptLog("there is something behind its end")
        return text, _DECODE_KEPT(more)
    except (zlib.error, ValueError, RecursionError, CorruptLog) as error:
        raise _unreadable(error) from error


def _inflate(block: bytes) -> tuple[bytes, bytes]:
    """The first member of a block, and what follows it."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = unpacker.decompress(block, LARGEST)
    if not unpacker.eof:
        raise CorruptLog("it is cut short or too large")
    return text, unpacker.unused_data


def _lines(text: bytes) -> bytes:
    """The lines of the events, each with its newline: those between the first and the last of a proof file."""
    try:
        return text[text.index(b"\n") + 1 : text.rindex(b"\n", 0, -1) + 1]
    except ValueError as error:
        raise _unreadable(error) from error


def _events(text: bytes) -> list[e.AnyEvent]:
    return restore_hidden(CODEC.decode_lines(_lines(text)))


def _hidden(events: Sequence[e.AnyEvent]) -> list[bytes]:
    """The hidden bytes of events, which stand at their places from 1."""
    return [CODEC.encode_hidden(event) for event in events]


def _unreadable(error: object) -> CorruptLog:
    return CorruptLog(f"a sealed game cannot be read: {error}")
