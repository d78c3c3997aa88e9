"""The list of a server's keys in order, each signed by the one before it: whoever has one of them believes those behind it.

A game says itself how its keys follow one another (`services.rotations`). The list links the keys of different games, and
those of the transparency log; ``docs/audit.md`` has its form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from domain.refusals import Malformed
from domain.shuffle import hash_parts
from services.audit import ServerKey, is_signed
from services.json_fields import told_wrong
from services.plain_json import read_evidence

MOST_KEYS: Final = 200
"""Keys that a server may have: so many signatures a note of the longest origin has room for (`services.notes`)."""
_KEY: Final = re.compile("[0-9a-f]{64}")
_SIGNATURE: Final = re.compile("[0-9a-f]{128}")


def link_message(first: str, number: int, new: str) -> bytes:
    """What the key before it signs of ``new``, the key at place ``number``, from 1, of the list that begins with ``first``."""
    return hash_parts("hearts/v1/next-key", bytes.fromhex(first), str(number).encode(), bytes.fromhex(new))


def key_links(keys: Sequence[ServerKey]) -> list[dict[str, str | None]]:
    """The entries of the list of ``keys``: `server_key`, and `signature` by the one before it, null of the first."""
    first = keys[0].public
    entries: list[dict[str, str | None]] = [{"server_key": first, "signature": None}]
    for number, (old, new) in enumerate(pairwise(keys), 2):
        signature = old.sign(link_message(first, number, new.public)).hex()
        entries.append({"server_key": new.public, "signature": signature})
    return entries


class KeyList(NamedTuple):
    """A list as it was read, every signature in it right."""

    keys: tuple[str, ...]

    def since(self, key: str) -> tuple[str, ...]:
        """``key`` and those behind it, for which it vouches; none where it is not in the list."""
        return self.keys[self.keys.index(key) :] if key in self.keys else ()


class _Entry(msgspec.Struct, frozen=True):
    server_key: str
    signature: str | None


class _List(msgspec.Struct, frozen=True):
    keys: tuple[_Entry, ...]


def read_key_list(data: bytes) -> KeyList:
    """The list as `/v1/log/keys` answers it; further members are let be. Raises `Malformed`, which says what is wrong."""
    found = read_evidence(data, "a list of keys")
    try:
        entries = msgspec.convert(found, _List).keys
    except msgspec.ValidationError as error:
        raise Malformed(f"no list of keys: {told_wrong(found, _List)}") from error
    keys = tuple(one.server_key for one in entries)
    if not 0 < len(keys) <= MOST_KEYS or not all(map(_KEY.fullmatch, keys)) or len(set(keys)) < len(keys):
        raise Malformed(f"no list of 1 to {MOST_KEYS} different keys, each 64 digits of lower-case hex")
    if entries[0].signature is not None:
        raise Malformed("the first key has nobody before it who could sign it")
    for number, (old, new) in enumerate(pairwise(entries), 2):
        if not _is_link(keys[0], number, old.server_key, new):
            raise Malformed(f"key {number} is not signed by the one before it")
    return KeyList(keys)


def _is_link(first: str, number: int, old: str, new: Any) -> bool:
    signature = new.signature or ""
    if not _SIGNATURE.fullmatch(signature):
        return False
    return is_signed(old, link_message(first, number, new.server_key), bytes.fromhex(signature))
