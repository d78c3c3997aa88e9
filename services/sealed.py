"""Finished games sealed in one block of bytes: the proof file, compressed, and the events read back from it.

When a game is over nothing of it is secret any more, so its public events hold all that a fold needs: what was hidden
when it happened is put back from `HandScored`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain import events as e
from domain.refusals import CorruptLog
from services.codec import CODEC
from services.proof import proof_lines
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


def restore_hidden(events: list[Any]) -> list[e.AnyEvent]:
    """``events`` with the hidden parts put back that later events reveal."""
    scores = {event.hand: event for event in events if isinstance(event, e.HandScored)}
    dealt: e.HandScored | None = None
    for at, event in enumerate(events):
        kind = type(event)
        if kind is e.HandDealt:
            dealt = scores.get(event.hand)
            if dealt is not None:
                hidden = e.DealtSecret(secret=dealt.secret or "", deal=dealt.deal, kitty=dealt.kitty)
                events[at] = msgspec.structs.replace(event, hidden=hidden)
        elif kind is e.CardsPassed and dealt is not None and dealt.passes is not None:
            events[at] = msgspec.structs.replace(event, hidden=dealt.passes[event.seat])
    return events
