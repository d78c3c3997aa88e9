"""Which server key signs for which event of a game (``docs/spec/audit.md``, ``key_rotated``)."""

from __future__ import annotations

from collections.abc import Sequence

from domain import events as e
from services.audit import verify_rotation
from services.faults import Failed


class KeysOverTime:
    """The keys that a game names: the first one, and each that the one before it vouches for."""

    def __init__(self, game: str, first: str) -> None:
        self.first = first
        """The key that the game was opened under."""
        self._game = game
        self._keys = [(0, first)]
        self._number = 0

    def feed(self, events: Sequence[e.AnyEvent]) -> None:
        """Take note of what comes next of the game. Raises `Failed` at a rotation not signed by the key before it."""
        before = self._number
        self._number += len(events)
        if e.KeyRotated not in map(type, events):  # most often, and asked so it is quick
            return
        for number, event in enumerate(events, before + 1):
            if type(event) is e.KeyRotated:
                if not verify_rotation(self._game, number, event, self._keys[-1][1]):
                    raise Failed(number, "the new server key is not signed by the one before it")
                self._keys.append((number, event.server_key))

    def all(self) -> tuple[str, ...]:
        """Every key that was named so far, the first one first."""
        return tuple(key for _, key in self._keys)

    def at(self, seq: int) -> str:
        """The key that is valid at event ``seq`` (from 1): one that an event names is so at later ones."""
        return next(key for since, key in reversed(self._keys) if since < seq)
