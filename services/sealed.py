"""Finished games sealed in one block of bytes: the proof file, compressed, and the events read back from it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

from domain import events as e
from domain.refusals import CorruptLog
from services.codec import CODEC
from services.proof import proof_lines
from services.revealed import restore_hidden
from services.store import Entry

LARGEST: Final = 64 * 1024 * 1024
"""Bytes that a sealed game may unpack to."""


def seal(entries: Sequence[Entry]) -> bytes:
    """The stored entries of a finished game in one compressed block."""
    return zlib.compress(b"".join(proof_lines(entries)))


def unseal(block: bytes) -> list[e.AnyEvent]:
    """The events of a sealed game, ready to be folded. Raises `CorruptLog`."""
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(block, LARGEST)
        if unpacker.eof:
            first, last = text.index(b"\n") + 1, text.rindex(b"\n", 0, -1) + 1
            return restore_hidden(CODEC.decode_lines(text[first:last]))
    except (zlib.error, ValueError, CorruptLog) as error:
        raise CorruptLog(f"a sealed game cannot be read: {error}") from error
    raise CorruptLog("a sealed game is cut short or too large")
