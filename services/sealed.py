"""Finished games sealed in one block of bytes: the proof file, compressed, and the events read back from it.

When a game is over nothing of it is secret any more, so its public events hold all that a fold needs: what was hidden
when it happened is put back from `HandScored`, and of a hand that was broken off from the secret in `GameEnded`. A practice
table that was abandoned has no such secret: its cards stand in the game that it was branched from, and in its own log.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from domain import events as e
from domain.refusals import CorruptLog
from services.codec import CODEC
from services.fairness import FairnessCheck
from services.proof import proof_lines
from services.replay import Failed, Shown
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
    scores: dict[int, e.HandScored | Shown] = {
        event.hand: event for event in events if isinstance(event, e.HandScored)
    }
    shown, ended = _broken_off(events)
    if shown is not None:
        scores[shown.hand] = shown
    dealt: e.HandScored | Shown | None = None
    for at, event in enumerate(events):
        kind = type(event)
        if kind is e.HandDealt:
            dealt = scores.get(event.hand)
            if dealt is not None:
                told = dealt.secret if isinstance(dealt, e.HandScored) else ended and ended.secret
                hidden = e.DealtSecret(secret=told or "", deal=dealt.deal, kitty=dealt.kitty)
                events[at] = msgspec.structs.replace(event, hidden=hidden)
        elif kind is e.CardsPassed and dealt is not None:
            events[at] = msgspec.structs.replace(event, hidden=_pass_of(dealt, ended, event))
    return events


def _broken_off(events: Sequence[Any]) -> tuple[Shown | None, e.GameEnded | None]:
    """The hand that the end of the game broke off, where it reveals one, and that end."""
    last = events[-1] if events else None
    if not isinstance(last, e.GameEnded) or last.secret is None:
        return None, None
    check = FairnessCheck()
    with suppress(Failed):
        check.run(events)
    return check.broken_off, last


def _pass_of(dealt: e.HandScored | Shown, ended: e.GameEnded | None, event: e.CardsPassed) -> Any:
    """What was hidden of a pass; the event's own where nothing reveals it."""
    if isinstance(dealt, Shown):
        cards, revealed = dealt.given[event.seat], None if ended is None else ended.pass_signatures
    elif dealt.passes is None:
        return event.hidden
    else:
        cards, revealed = dealt.passes[event.seat], dealt.pass_signatures
    signed = revealed[event.seat] if revealed else None
    return cards if signed is None else e.SignedPass(cards, *signed)
