"""Claim I of a proof: no event was altered, dropped or reordered (``docs/spec/audit.md`` 6, 7, 10).

What shows it is the server's signed word that it can be held to: receipts, and checkpoints of its transparency log with
a path to the game's leaves. Some of it stands in the file; what the reader kept is worth more, for the server cannot
change it any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

import msgspec

from domain.refusals import HeartsError, Malformed
from services.audit import Receipt, verify_receipt
from services.chain import Chain
from services.checkpoints import Inclusion
from services.faults import Failed
from services.json_fields import told_wrong
from services.keylist import KeyList
from services.leaves import Leaf
from services.levels import Level, integrity_level
from services.merkle import verify_inclusion
from services.notes import SignedCheckpoint, read_checkpoint
from services.plain_json import read_evidence
from services.rotations import KeysOverTime

LAST_SEQ: Final = 2**53 - 1
"""No receipt is of a later event, so that every reader of JSON can hold its number."""
_OTHER_KEY: Final = (
    "the file names another server key than you have: another server, or the key was changed in between; "
    "the server's list of keys would show which (--server-keys)"
)
_OLDER_KEY: Final = (
    "the file names a server key from before yours, for which yours does not vouch: take that one"
)
_FOREIGN_KEY: Final = "the file names a server key that does not follow from yours in your list of keys"
_LATER_KEY: Final = "; its server key follows from yours by your list of keys"
_OTHER_SIGNER: Final = (
    "your checkpoint is signed by another key than the game's: another server's, or the key was changed in between; "
    "your key and the server's list of keys would show which (--server-key, --server-keys)"
)
_UNSIGNED: Final = "is not signed by this game's server: it was changed, or is another server's"
_NOT_PINNED: Final = "; key not pinned"


class Signed(NamedTuple):
    """What the server has signed of a game, as it stands in a file."""

    receipts: tuple[Receipt, ...] = ()
    checkpoint: SignedCheckpoint | None = None
    inclusions: tuple[Inclusion, ...] = ()


class KeptCheckpoint(NamedTuple):
    """A checkpoint that a reader kept, and the leaf of the game that it was shown with, where it was."""

    signed: SignedCheckpoint
    leaf: Leaf | None = None
    inclusion: Inclusion | None = None


class Kept(NamedTuple):
    """What a reader kept itself."""

    receipts: tuple[Receipt, ...] = ()
    checkpoints: tuple[KeptCheckpoint, ...] = ()
    keys: KeyList | None = None
    """The server's list of keys, which tells what follows from the key that the reader has."""


class WrongEvidence(HeartsError):
    """What a reader kept is no evidence of the file: of another game, or not signed by its server. Nothing follows for the game."""


def check_evidence(kept: Kept, game: str) -> None:
    """Raise `WrongEvidence` unless the receipts that a reader kept may be of ``game``."""
    for receipt in kept.receipts:
        if receipt.game != game:
            raise WrongEvidence(
                f"your receipt is of game {receipt.game:.64}, and the file of game {game:.64}: "
                "you have mixed up two games"
            )


class IntegrityCheck:
    """Holds a file's events to what its server has signed."""

    def __init__(self, game: str, keys: KeysOverTime, chain: Chain) -> None:
        self._game, self._keys, self._events, self._chain = game, keys, chain.events, chain
        self._receipt = 0
        """The last event that a receipt shows."""
        self._leaf: Leaf | None = None
        """The last leaf that a checkpoint shows, and how large the log was."""
        self._size = 0
        self._trusted: tuple[str, ...] = (keys.first,)
        """Keys by which a checkpoint may be signed that the reader kept."""
        self._hints: list[str] = []
        self.kept_to = 0
        """The last event that something shows which the reader kept."""
        self._unjudged = ""
        """Why a checkpoint that the reader kept says nothing of the file, whatever the file itself shows."""

    def run(
        self, in_file: Signed, kept: Kept, pinned: str | None
    ) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds; ``pinned`` is the server's key as the reader got it elsewhere.

        Raises `Failed`, and `WrongEvidence` where what the reader kept is not signed by the game's server.
        """
        if pinned is not None:
            self._check_key(pinned, kept.keys)
        for receipt in in_file.receipts:
            self._check_receipt(receipt, "the receipt")
        for receipt in kept.receipts:
            self._check_signer(receipt)
            self._check_receipt(receipt, "your receipt")
            self._keep(receipt.seq)
        if in_file.checkpoint is not None:
            if not in_file.checkpoint.is_signed_by(self._keys.first):
                raise Failed(self._events, "the signature of the checkpoint is not the server's")
            for path in in_file.inclusions:
                self._check_inclusion(path, in_file.checkpoint, None, "the checkpoint")
        for one in kept.checkpoints:
            self._check_kept(one, in_file)
        return self._result(pinned)

    def _keep(self, seq: int) -> None:
        self.kept_to = max(self.kept_to, seq)

    def _check_key(self, pinned: str, keys: KeyList | None) -> None:
        """Hold the key that the game names first to the one that the reader has, or to what follows from that."""
        first = self._keys.first
        if keys is not None:
            self._trusted = tuple({first, *keys.since(pinned)})
        if pinned == first:
            return
        if keys is None:
            raise Failed(1, _OTHER_KEY)
        if first not in keys.since(pinned):
            raise Failed(1, _OLDER_KEY if pinned in keys.since(first) else _FOREIGN_KEY)
        self._hints.append(_LATER_KEY)

    def level(self, *, holds: bool, pinned: bool, audit: bool = False) -> Level:
        """How far what was shown is, to readers of a file or of an ``audit``."""
        return integrity_level(
            holds=holds, kept_to=self.kept_to, pinned=pinned, events=self._events, audit=audit
        )

    def _result(self, pinned: str | None) -> tuple[Literal["holds", "not shown"], str]:
        by, upto, hint = [], self._receipt, "".join(self._hints)
        if self._receipt:
            by.append(f"by a receipt of event {self._receipt}")
        if self._leaf is not None:
            by.append(
                f"by a log of {self._size} that has the game's {self._leaf.kind}, event {self._leaf.seq}"
            )
            upto = max(upto, self._leaf.seq)
        if not by:
            return "not shown", (self._unjudged or "a receipt or a checkpoint would show it") + hint
        told = f"up to event {upto} of {self._events}, {' and '.join(by)}"
        if self._unjudged:
            return "not shown", f"{self._unjudged}; without it the claim would hold {told}{hint}"
        return "holds", told + hint + ("" if pinned else _NOT_PINNED)

    def _check_signer(self, receipt: Receipt) -> None:
        """A receipt that a reader brings can accuse the server only if one of its keys has signed it, whatever it says."""
        if not any(verify_receipt(receipt, key) for key in {*self._keys.all(), *self._trusted}):
            raise WrongEvidence(f"your receipt {_UNSIGNED}")

    def _check_receipt(self, receipt: Receipt, which: str) -> None:
        if receipt.game != self._game:
            raise Failed(1, f"{which} is of game {receipt.game:.64}, not of this one")
        if receipt.seq > self._events:
            why = f"{which} is of event {receipt.seq}, and the file ends with event {self._events}: it was cut off"
            raise Failed(self._events + 1, why)
        if receipt.seq < 1 or receipt.head != self._chain.head_of(receipt.seq).hex():
            raise Failed(receipt.seq, f"{which} was given for other events")
        if not verify_receipt(receipt, self._keys.at(receipt.seq)):
            raise Failed(receipt.seq, f"the signature of {which} is not the server's")
        self._receipt = max(self._receipt, receipt.seq)

    def _check_inclusion(
        self, one: Inclusion, signed: SignedCheckpoint, named: Leaf | None, which: str
    ) -> int:
        """The event that a leaf shows; ``named`` is the leaf where a reader brings it. Raises as `_no_path` has it."""
        size, root = signed.checkpoint.size, signed.checkpoint.root
        if one.size != size:
            raise self._no_path(
                f"the inclusion is of a log of {one.size}, and {which} of one of {size}", named
            )
        path = [bytes.fromhex(step) for step in one.path]
        if not verify_inclusion(bytes.fromhex(one.leaf), one.index, size, path, root):
            raise self._no_path(f"the inclusion does not lead to {which}", named)
        leaf = self._chain.leaf(one.leaf)
        if leaf is None:
            raise self._foreign_leaf(named, which)
        if self._leaf is None or self._leaf.seq <= leaf.seq:
            self._leaf, self._size = leaf, size
        return leaf.seq

    def _no_path(self, why: str, named: Leaf | None) -> Failed | WrongEvidence:
        """A path that leads nowhere is a fault of the file, or of what the reader brings."""
        if named is None:
            return Failed(self._events, why)
        return WrongEvidence(why)

    def _foreign_leaf(self, named: Leaf | None, which: str) -> Failed:
        """A leaf of none of the file's events: told as closely as its fields allow."""
        if named is None:
            why = f"{which} has a leaf that is of none of the file's events: they were changed or cut off"
            return Failed(self._events, why)
        if named.seq > self._events:
            return Failed(
                self._events + 1,
                f"{which} has the {named.kind} of the game at event {named.seq}, and the file ends with event "
                f"{self._events}: it was cut off",
            )
        return Failed(named.seq, f"{which} has other events up to the {named.kind} of the game")

    def _check_kept(self, kept: KeptCheckpoint, in_file: Signed) -> None:
        """A checkpoint that the reader kept, with the leaf beside it, or with those in the file for the same size."""
        which, (origin, size, root) = "your checkpoint", kept.signed.checkpoint
        signed = kept.signed.judge(self._trusted)
        if signed is None:
            self._unjudged = _OTHER_SIGNER
            return
        if not signed:
            raise WrongEvidence(f"{which} {_UNSIGNED}")
        theirs = in_file.checkpoint
        same = theirs is not None and (theirs.checkpoint.origin, theirs.checkpoint.size) == (origin, size)
        if theirs is not None and same and theirs.checkpoint.root != root:
            why = f"{which} and that of the file are of logs of {size} that differ: the log was forked"
            raise Failed(self._events, why)
        # the leaf of another game that a checkpoint came with says nothing of this one: the checkpoint is of the whole log
        mine = kept.leaf is not None and kept.leaf.game == self._game
        paths = [kept.inclusion] if mine and kept.inclusion else in_file.inclusions if same else ()
        for path in paths:
            self._keep(self._check_inclusion(path, kept.signed, kept.leaf if mine else None, which))
        if paths:
            return
        if theirs is not None and theirs.checkpoint.origin != origin:
            self._unjudged = f"{which} is of the log {origin}, and the file's of {theirs.checkpoint.origin}"
            return
        self._hints.append(
            f"; the file has no inclusion for your checkpoint, of a log of {size}, which may be from before the game "
            f"and then shows nothing of it; if it is later, get the file with /v1/games/{self._game}/proof?size={size}"
        )


# --- reading what a reader kept


class _SignedHead(msgspec.Struct, frozen=True):
    game: str
    seq: int
    head: str
    signature: str


class _KeptLeaf(msgspec.Struct, frozen=True):
    leaf: str
    index: int
    size: int
    path: tuple[str, ...]
    game: str
    kind: Literal["lock", "end"]
    seq: int
    head: str
    checkpoint: str


def read_kept_receipt(data: bytes) -> Receipt:
    """A receipt as a command answered it: alone, or the whole answer, or a line of a proof file. Raises `Malformed`."""
    found = read_evidence(data, "a receipt")
    if isinstance(found, dict) and isinstance(found.get("receipt"), dict):
        found = found["receipt"]
    try:
        receipt = Receipt(*msgspec.structs.astuple(msgspec.convert(found, _SignedHead)))
    except msgspec.ValidationError as error:
        raise Malformed(f"no receipt: {told_wrong(found, _SignedHead)}") from error
    if not 1 <= receipt.seq <= LAST_SEQ:
        raise Malformed("no receipt: seq is not a number from 1 to 2^53")
    for name, text, size in (("head", receipt.head, 32), ("signature", receipt.signature, 64)):
        if not is_hex(text, size):
            raise Malformed(f"no receipt: {name} is not {size} bytes in lower-case hex")
    return receipt


def read_kept_checkpoint(data: bytes) -> KeptCheckpoint:
    """A checkpoint as `/v1/log/checkpoint` answered it, or with a leaf, as `/v1/log/proof` did. Raises `Malformed`."""
    if not data.lstrip().startswith(b"{"):
        try:
            return KeptCheckpoint(read_checkpoint(data.decode()))
        except UnicodeDecodeError as error:
            raise Malformed("a checkpoint is UTF-8") from error
    found = read_evidence(data, "a checkpoint")
    if isinstance(found, dict) and found.keys() == {"checkpoint"} and isinstance(found["checkpoint"], str):
        return KeptCheckpoint(read_checkpoint(found["checkpoint"]))
    try:
        kept = msgspec.convert(found, _KeptLeaf)
        if not all(is_hex(one) for one in (kept.head, kept.leaf, *kept.path)):
            raise Malformed("no proof of a leaf: a hash is not 32 bytes in lower-case hex")
        leaf = Leaf(kept.game, kept.kind, kept.seq, bytes.fromhex(kept.head))
        inclusion = Inclusion(kept.leaf, kept.index, kept.size, kept.path)
    except msgspec.ValidationError as error:
        raise Malformed(f"no proof of a leaf: {told_wrong(found, _KeptLeaf)}") from error
    if leaf.hash.hex() != kept.leaf:
        raise Malformed("the proof's leaf is not that of its fields")
    return KeptCheckpoint(read_checkpoint(kept.checkpoint), leaf, inclusion)


def is_hex(text: str, size: int = 32) -> bool:
    """Whether a text is so many bytes in lower-case hex."""
    return re.fullmatch(f"[0-9a-f]{{{2 * size}}}", text) is not None


def check_hex(hashes: Iterable[str]) -> None:
    """Raise ValueError where one is not 32 bytes in lower-case hex."""
    for text in hashes:
        if not is_hex(text):
            raise ValueError(f"{text!r:.80} is not 32 bytes in lower-case hex")
