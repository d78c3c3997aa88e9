"""What is kept of a token, what is told of it, and how it is spelt. `services.tokens` keeps them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from domain.refusals import HeartsError
from services.once import Key, KeyReused

SCOPES: Final = ("play", "watch", "audit", "admin")
"""What a token may be good for, `docs/served.md`."""
FIRST_SCOPES: Final = frozenset(("play", "watch"))
"""What the token of a new player is good for; the other scopes are given out by the command line alone."""
MOST_TOKENS: Final = 32
"""Tokens that a player may have at a time."""
MOST_KEYS: Final = 256
"""Idempotency keys under which a player may make and end tokens within 24 hours."""
LONGEST_LABEL: Final = 40
"""Characters of a label."""
LONGEST_LIFE: Final = 366 * 24 * 60 * 60
"""Seconds that a token which ends by itself may last."""
TOKEN: Final = re.compile(r"hearts_[A-Za-z0-9_-]{43}")
TOKEN_ID: Final = re.compile(r"t[0-9a-f]{16}")

USED: Final = b"used:"
"""Before a token's id: the field of the day of its last use."""
ONCE: Final = b"once:"
"""Before the digest of an idempotency key: the field of what was made under it."""


class TooManyTokens(HeartsError):
    """The player has as many tokens as a player may have."""


class TokenEnded(HeartsError):
    """The token that asks is not valid any more, or has been replaced by another one already."""


class Bearer(NamedTuple):
    """Whom a token speaks for."""

    player: str
    token: str
    """The token's id."""
    scopes: frozenset[str]
    expires: int | None
    """When it ends by itself, ms since 1970 UTC."""


class TokenInfo(NamedTuple):
    """A token as its owner may see it."""

    id: str
    label: str
    scopes: frozenset[str]
    created: int
    """ms since 1970 UTC."""
    expires: int | None
    used: str | None
    """The day of its last use, UTC, as in ``2026-01-31``; none where it was never used."""


class Issued(NamedTuple):
    """A token just made, or told again."""

    token: str
    info: TokenInfo
    replayed: bool = False


class Known(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept under the digest of a token."""

    player: str
    digest: str
    scopes: list[str]
    expires: int | None = None


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of a token among its player's."""

    digest: str
    scopes: list[str]
    created: int
    label: str = ""
    expires: int | None = None
    replaced: bool = False
    """Whether another one has taken its place, which happens once."""


class Draft(NamedTuple):
    """A token to be made."""

    record: Record
    most: int
    """How many tokens the player may have with it, itself and one that it replaces included."""
    old: Record | None = None
    """What is kept of the one that asks from now on, where it is replaced."""


class Once(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept under an idempotency key: the request's fingerprint, when, and what the token was derived from."""

    f: str
    at: int
    salt: str = ""
    record: Record | None = None


def digest_of(token: str) -> str:
    """SHA-256 of a token, hex: all that is kept of it."""
    return hashlib.sha256(token.encode()).hexdigest()


def id_of(digest: str) -> str:
    """The id that a token is spoken of by; it tells nothing of use about the token."""
    return f"t{digest[:16]}"


def spell(secret: bytes) -> str:
    """A token of 32 secret bytes."""
    return "hearts_" + base64.urlsafe_b64encode(secret).rstrip(b"=").decode()


def field_of(once: Key | None) -> bytes:
    """The field of an idempotency key among a player's tokens; empty for none."""
    return b"" if once is None else ONCE + hashlib.sha256(once.field).hexdigest().encode()


def check_same(once: Key, earlier: Once) -> None:
    """Raise `KeyReused` where a key was used for another request before."""
    if earlier.f != once.fingerprint:
        raise KeyReused("this idempotency key was used for another request")


def sooner(*ends: int | None) -> int | None:
    """The first of some ends, in ms, none where nothing ends."""
    return min((one for one in ends if one is not None), default=None)


def read_known(stored: bytes) -> Known:
    """What is kept under the digest of a token."""
    return msgspec.json.decode(stored, type=Known)


def info_of(record: Record, used: bytes | None) -> TokenInfo:
    """A token as its owner may see it; ``used`` is the day of its last use."""
    return TokenInfo(
        id_of(record.digest),
        record.label,
        frozenset(record.scopes),
        record.created,
        record.expires,
        None if used is None else used.decode(),
    )


def told(info: TokenInfo) -> Mapping[str, object]:
    """A token as the API and the command line show it."""
    return {
        "id": info.id,
        "label": info.label,
        "scopes": [scope for scope in SCOPES if scope in info.scopes],
        "created_at": info.created,
        "expires_at": info.expires,
        "last_used": info.used,
    }
