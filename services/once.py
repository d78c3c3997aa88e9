"""Idempotency keys: who used one for what, and the outcome that is kept under it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from domain.refusals import HeartsError
from services.store import Once, Seq


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
        """Where the outcome is kept."""
        return f"{self.caller}|{self.route}|{self.key}".encode()

    def once(self, last: Seq) -> Once:
        """What to keep of a request that caused the events up to ``last``."""
        return Once(self.field, msgspec.json.encode(_Kept(self.fingerprint, last)))

    def last(self, answer: bytes) -> Seq:
        """The last event that the request kept as ``answer`` caused. Raises `KeyReused` where it was another request."""
        kept = msgspec.json.decode(answer, type=_Kept)
        if kept.f != self.fingerprint:
            raise KeyReused("this idempotency key was used for another request")
        return kept.n


class _Kept(msgspec.Struct, frozen=True):
    """The request's fingerprint and the last seq it caused."""

    f: str
    n: int
