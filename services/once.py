"""Idempotency keys: who used one for what, and the outcome that is kept under it."""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NamedTuple

from domain.refusals import HeartsError
from services.store import Once, Seq

_PLACE_BYTES: Final = 8
_REQUEST_BYTES: Final = 4
"""So much of each hash is kept, for answers are most of what a table of persons takes beside its events: that two keys of one
game and day share a place, or another request under a key is taken for the first, comes about once in thousands of millions."""


class KeyReused(HeartsError):
    """The idempotency key was used for another request."""


class Key(NamedTuple):
    """An idempotency key: who used it for which route, and the digest of what was asked."""

    caller: str
    route: str
    key: str
    fingerprint: str

    @property
    def field(self) -> bytes:
        """Whose key it is, for what."""
        return f"{self.caller}|{self.route}|{self.key}".encode()

    @property
    def place(self) -> bytes:
        """Where the outcome is kept among those of a game."""
        return sha256(self.field).digest()[:_PLACE_BYTES]

    def once(self, last: Seq) -> Once:
        """What to keep of a request that caused the events up to ``last``: which request it was, and that."""
        return Once(self.place, self._request + last.to_bytes((last.bit_length() + 7) // 8))

    def last(self, answer: bytes) -> Seq:
        """The last event that the request kept as ``answer`` caused. Raises `KeyReused` where it was another request."""
        if answer[:_REQUEST_BYTES] != self._request:
            raise KeyReused("this idempotency key was used for another request")
        return int.from_bytes(answer[_REQUEST_BYTES:])

    @property
    def _request(self) -> bytes:
        return sha256(self.fingerprint.encode()).digest()[:_REQUEST_BYTES]
