"""Hashes whose values a test chooses, so that other cards have the public bytes of the true ones.

What hides a card in public bytes is a keyed hash: who does not have the key cannot tell its value from any other. A twin
world has other cards and other secrets, and would have other commitments; but to its reader every value is as good as
any. So for the secret of a twin the hashes are programmed: commitments to what the reader may not open have the values of
the true world, keys that the reader has been told are the true ones, and the next deal is the one that the twin wants.
All else is hashed as ever. Whatever still differs does so by cards or secrets, and that is a leak.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from domain import shuffle
from domain.cards import Card

Hands = tuple[list[list[Card]], list[Card]]
"""Hands by seat, and the kitty."""


class Oracle:
    """The programmed hashes of all twins."""

    def __init__(self) -> None:
        self.keys: dict[tuple[bytes, str, str], bytes] = {}
        """Hiding keys by secret, whose and of what."""
        self.commitments: dict[bytes, bytes] = {}
        """Commitments by key, whatever the cards."""
        self.deals: dict[bytes, Hands] = {}
        """What is dealt, by seed."""

    def forget(self) -> None:
        """Hash as ever."""
        self.keys.clear()
        self.commitments.clear()
        self.deals.clear()

    def program(self, secret: bytes, who: str, what: shuffle.Hidden, commitment: str | None) -> None:
        """Give the cards that ``who`` hides as ``what`` under a twin's secret the true commitment, where there is one."""
        if commitment is not None:
            self.commitments[self.hiding_key(secret, who, what)] = bytes.fromhex(commitment)

    def hiding_key(self, secret: bytes, who: str, what: shuffle.Hidden) -> bytes:
        """In the place of `domain.shuffle.hiding_key`."""
        return self.keys.get((secret, who, what)) or _HIDING_KEY(secret, who, what)

    def commit_cards(self, key: bytes, text: str) -> bytes:
        """In the place of `domain.shuffle.commit_cards`."""
        return self.commitments.get(key) or _COMMIT_CARDS(key, text)

    def deal_cards(self, deck: Sequence[Card], seats: int, hand: int, seed: bytes) -> Hands:
        """In the place of `domain.shuffle.deal_cards`."""
        return self.deals.get(seed) or _DEAL_CARDS(deck, seats, hand, seed)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let every module hash by this oracle."""
        replaced: list[tuple[Any, str, Any]] = []
        for name, plain in (
            ("hiding_key", _HIDING_KEY),
            ("commit_cards", _COMMIT_CARDS),
            ("deal_cards", _DEAL_CARDS),
        ):
            for module in [one for one in list(sys.modules.values()) if one.__name__.startswith(_FLOORS)]:
                if vars(module).get(name) is plain:
                    setattr(module, name, getattr(self, name))
                    replaced.append((module, name, plain))
        try:
            yield
        finally:
            for module, name, plain in replaced:
                setattr(module, name, plain)


_HIDING_KEY = shuffle.hiding_key
_COMMIT_CARDS = shuffle.commit_cards
_DEAL_CARDS = shuffle.deal_cards
_FLOORS = ("domain", "services", "workers", "api")
