"""Checkpoints of the transparency log as signed notes (C2SP ``signed-note`` and ``tlog-checkpoint``).

A checkpoint is three lines: the log's origin, the number of its leaves, the root in base64. A blank line and a
signature follow: a dash, the signer's name, and base64 of the first 4 bytes of the key's hash and the signature. Go's
``golang.org/x/mod/sumdb/note`` reads it, with `verifier_key` as the key.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import Final, NamedTuple

from domain.refusals import Malformed
from services.audit import ServerKey, is_signed
from services.merkle import HASH_BYTES
from services.settings import is_origin

LONGEST_NOTE: Final = 64 * 1024
"""Characters of a note that is read."""
MOST_LEAVES: Final = 2**53 - 1
"""No log is larger, so that every reader of JSON can hold its size."""
_ED25519: Final = b"\x01"
_DASH: Final = "\N{EM DASH} "
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,15}")


class Checkpoint(NamedTuple):
    """What a log is at one moment: under ``origin`` so many leaves, with this root."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


class Signature(NamedTuple):
    """A signature of a note: by whom, the start of the hash of the key, and the signature itself."""

    name: str
    key_hash: bytes
    value: bytes


class SignedCheckpoint(NamedTuple):
    """A checkpoint as it was read, with the text that was signed, further lines included, and all signatures."""

    checkpoint: Checkpoint
    text: str
    signatures: tuple[Signature, ...]

    def is_signed_by(self, server_key: str) -> bool:
        """Whether it was signed under its origin by the key (hex); signatures of others, such as witnesses, are let be."""
        return self.judge([server_key]) is True

    def judge(self, server_keys: Iterable[str]) -> bool | None:
        """Whether all signatures under its origin by these keys (hex) are right; none where there is none by any of them."""
        found: list[bool] = []
        for key in server_keys:
            mine = [one for one in self.signatures if _is_by(one, self.checkpoint.origin, key)]
            found += [is_signed(key, self.text.encode(), one.value) for one in mine]
        return all(found) if found else None

    def signers(self, server_keys: Iterable[str]) -> list[str]:
        """Those of the keys (hex) by which it has a signature under its origin, right or wrong."""
        name = self.checkpoint.origin
        return [key for key in server_keys if any(_is_by(one, name, key) for one in self.signatures)]

    def strangers(self, server_keys: Collection[str]) -> int:
        """How many of the signatures under its origin are by none of the keys (hex)."""
        name = self.checkpoint.origin
        mine = [one for one in self.signatures if one.name == name]
        return sum(not any(_is_by(one, name, key) for key in server_keys) for one in mine)

    def is_only_by(self, server_key: str) -> bool:
        """Whether every signature, right or wrong, is one under its origin by the key (hex)."""
        return all(_is_by(one, self.checkpoint.origin, server_key) for one in self.signatures)


def sign_checkpoint(checkpoint: Checkpoint, keys: Iterable[ServerKey]) -> str:
    """The signed note of a checkpoint, with a signature by each key."""
    name, text = checkpoint.origin, checkpoint.text
    lines = []
    for key in keys:
        value = _key_hash(name, bytes.fromhex(key.public)) + key.sign(text.encode())
        lines.append(f"{_DASH}{name} {b64encode(value).decode()}\n")
    return f"{text}\n{''.join(lines)}"


def verifier_key(origin: str, server_key: str) -> str:
    """The key (hex) in the form that readers of signed notes take: name, hash and key, joined by plus signs."""
    public = bytes.fromhex(server_key)
    return f"{origin}+{_key_hash(origin, public).hex()}+{b64encode(_ED25519 + public).decode()}"


def read_checkpoint(note: str) -> SignedCheckpoint:
    """The checkpoint in a signed note. Raises `Malformed`, which says what is wrong with it."""
    if len(note) > LONGEST_NOTE:
        raise Malformed(f"a checkpoint has at most {LONGEST_NOTE} characters")
    head, gap, tail = note.rpartition("\n\n")
    if not gap or not tail.endswith("\n"):
        raise Malformed("a checkpoint is text, an empty line and signatures, each line ended")
    lines = head.split("\n")
    if len(lines) < 3 or not all(lines):
        raise Malformed("the text of a checkpoint is an origin, a size and a root, each on its line")
    origin, size, root = lines[:3]
    if not is_origin(origin):
        raise Malformed("its first line is no origin")
    if _SIZE.fullmatch(size) is None or int(size) > MOST_LEAVES:
        raise Malformed("its second line is no number of leaves")
    checkpoint = Checkpoint(origin, int(size), _base64(root, "the root"))
    if len(checkpoint.root) != HASH_BYTES:
        raise Malformed(f"its root has {len(checkpoint.root)} bytes and not {HASH_BYTES}")
    signatures = tuple(_signature(line) for line in tail[:-1].split("\n"))
    return SignedCheckpoint(checkpoint, head + "\n", signatures)


def _signature(line: str) -> Signature:
    name, _, value = line.removeprefix(_DASH).partition(" ")
    raw = _base64(value, "a signature")
    if not line.startswith(_DASH) or not is_origin(name) or len(raw) < 5:
        raise Malformed("a signature is a dash, a name and some base64")
    return Signature(name, raw[:4], raw[4:])


def _is_by(signature: Signature, origin: str, server_key: str) -> bool:
    try:
        key_hash = _key_hash(origin, bytes.fromhex(server_key))
    except ValueError:
        return False
    return (signature.name, signature.key_hash) == (origin, key_hash)


def _base64(text: str, what: str) -> bytes:
    try:
        raw = b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed(f"{what} is no base64") from error
    if b64encode(raw).decode() != text:
        raise Malformed(f"{what} is base64 with something left over")
    return raw


def _key_hash(name: str, public: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:4]
