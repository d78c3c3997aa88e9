"""Which server key signs for which event of a game (``docs/spec/audit.md``, ``key_rotated``)."""

from __future__ import annotations

from collections.abc import Sequence

from domain import events as e
from services.audit import verify_rotation
from services.replay import Failed


class KeysOverTime:
    """The keys that a game names: the first one, and each that the one before it vouches for."""

    def __init__(self, game: str, first: str, events: Sequence[e.AnyEvent]) -> None:
        """Raises `Failed` at a rotation that was not signed by the key before it."""
        self.first = first
        """The key that the game was opened under."""
        self._keys = [(0, first)]
        for number, event in enumerate(events, 1):
            if isinstance(event, e.KeyRotated):
                if not verify_rotation(game, number, event, self._keys[-1][1]):
                    raise Failed(number, "the new server key is not signed by the one before it")
                self._keys.append((number, event.server_key))

    def at(self, seq: int) -> str:
        """The key that is valid at event ``seq`` (from 1): one that an event names is so at later ones."""
        return next(key for since, key in reversed(self._keys) if since < seq)
