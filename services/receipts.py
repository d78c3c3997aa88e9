"""Receipts that players send to the operator: whether each is of the events in the store, and who has signed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import msgspec

from domain import events as e
from domain.refusals import CorruptLog
from services.audit import Receipt, Signer, verify_receipt
from services.codec import CODEC
from services.faults import Failed
from services.rotations import KeysOverTime
from services.store import Entry


class ReceiptReport(msgspec.Struct, frozen=True):
    """What was found of one receipt."""

    seq: int
    """The event that it is of."""
    status: Literal["holds", "fails", "foreign"]
    """Foreign: this server has not signed it, so that it says nothing of the game."""
    signed_by: str | None
    """The server's key, hex, that has signed it."""
    detail: str

    @property
    def line(self) -> str:
        """The finding in one line for people."""
        told = {"holds": "holds", "fails": "FAILS", "foreign": "is not this server's"}[self.status]
        return f"receipt of event {self.seq} {told}: {self.detail}"


def signer_of(receipt: Receipt, ring: Signer) -> str | None:
    """The key of this server, hex, that has signed a receipt; none where none has."""
    return next((key.public for key in ring.all() if verify_receipt(receipt, key.public)), None)


def judge_receipt(
    receipt: Receipt, heads: Sequence[bytes], entries: Sequence[Entry], ring: Signer
) -> ReceiptReport:
    """Hold a receipt of a game to the head after each of its events, that of no event first, and to the server's keys."""
    signer, seq, last = signer_of(receipt, ring), receipt.seq, len(heads) - 1
    if signer is None:
        return ReceiptReport(seq, "foreign", None, "none of the server's keys has signed it")
    if not 0 < seq <= last:
        there = f"there are {last} events that can be read" if last else "nothing of the game can be read"
        why = f"the server signed that there is an event {seq}, by its key {signer}, and {there}: cut off"
        return ReceiptReport(seq, "fails", signer, why)
    if bytes.fromhex(receipt.head) != heads[seq]:
        why = (
            f"the server signed head {receipt.head}, by its key {signer}, and the event that is there has "
            f"{heads[seq].hex()}: it, or one before it, was changed"
        )
        return ReceiptReport(seq, "fails", signer, why)
    valid = _key_at(receipt.game, seq, entries)
    if valid not in (None, signer):
        why = f"it is signed by the server's key {signer}, and at this event the game's was {valid}"
        return ReceiptReport(seq, "fails", signer, why)
    return ReceiptReport(
        seq, "holds", signer, f"the event there has the same head; signed by the server's key {signer}"
    )


def _key_at(game: str, seq: int, entries: Sequence[Entry]) -> str | None:
    """The key that is valid at an event by the game's own events; none where these cannot tell."""
    try:
        events = cast(
            "list[e.AnyEvent]", CODEC.decode_all([(n, public, b"") for n, public, _ in entries[:seq]])
        )
        first = events[0]
        if not isinstance(first, e.GameCreated):
            return None
        keys = KeysOverTime(game, first.server_key)
        keys.feed(events)
        return keys.at(seq)
    except (CorruptLog, Failed, KeyError):
        return None
