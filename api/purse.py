"""The tokens of the players of this machine, by server, in a file that only its user can read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from api.private_files import write_privately

MOST_KEYS = 100
"""Keys that a server is known by."""


class Kept(msgspec.Struct, frozen=True):
    """A player that was made from here."""

    name: str
    token: str


class _Server(msgspec.Struct):
    """What is kept for one server: its players, the latest first, and the game that was played last."""

    players: list[Kept] = []
    game: str | None = None
    move_keys: dict[str, str] = {}
    """Secrets that sign a player's moves, in hex, by the digest of the player's token."""
    server_keys: list[str] = []
    """The server's own public keys, hex, as it showed them: the one first seen, and those that one vouched for."""
    given_key: str = ""
    """The server's key as the player said it, whether or not the server ever showed it; empty where it never did."""


class Purse:
    """The file. What cannot be read counts as empty: it is only ever a convenience."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def players(self, url: str) -> list[Kept]:
        """The players kept for a server, the latest first."""
        return self._read().get(url, _Server()).players

    def game(self, url: str) -> str | None:
        """The id of the game that was played last at a server."""
        return self._read().get(url, _Server()).game

    def keep(self, url: str, name: str, token: str) -> None:
        """Keep a player. Raises `OSError` where the file cannot be written."""

        def add(server: _Server) -> None:
            server.players = [Kept(name, token), *server.players]

        self._change(url, add)

    def forget(self, url: str, token: str) -> None:
        """Forget a player that the server does not know."""

        def remove(server: _Server) -> None:
            server.players = [kept for kept in server.players if kept.token != token]

        with suppress(OSError):
            self._change(url, remove)

    def move_key(self, url: str, token: str, draw: Callable[[int], bytes]) -> bytes:
        """The secret of the key that signs the moves of the player with this token; drawn where there is none yet.

        Raises `OSError` where it cannot be kept: a seat whose key is lost cannot be played.
        """
        whose = hashlib.sha256(token.encode()).hexdigest()
        known = self._read().get(url, _Server()).move_keys.get(whose, "")
        if re.fullmatch("[0-9a-f]{64}", known):
            return bytes.fromhex(known)
        secret = draw(32)
        self._change(url, lambda server: server.move_keys.update({whose: secret.hex()}))
        return secret

    def server_keys(self, url: str) -> list[str]:
        """The keys that a server showed and is known by, the one first seen first."""
        return self._read().get(url, _Server()).server_keys

    def learn_key(self, url: str, key: str) -> None:
        """Know a server by another key, which it has shown."""

        def learn(server: _Server) -> None:
            before = server.server_keys
            server.server_keys = before if key in before else [*before, key][-MOST_KEYS:]

        with suppress(OSError):
            self._change(url, learn)

    def given_key(self, url: str) -> str | None:
        """The key that the player said last that a server has."""
        return self._read().get(url, _Server()).given_key or None

    def give_key(self, url: str, key: str) -> None:
        """Expect of a server the key that the player says, and no other that it is known by."""

        def give(server: _Server) -> None:
            if server.given_key != key:
                server.given_key, server.server_keys = key, []

        with suppress(OSError):
            self._change(url, give)

    def note_game(self, url: str, game: str) -> None:
        """Remember the game that is played."""

        def note(server: _Server) -> None:
            server.game = game

        with suppress(OSError):
            self._change(url, note)

    def _change(self, url: str, change: Callable[[_Server], None]) -> None:
        servers = self._read()
        change(servers.setdefault(url, _Server()))
        # resolved, so that a link stays one
        write_privately(self._path.resolve(), msgspec.json.format(msgspec.json.encode(servers)))

    def _read(self) -> dict[str, _Server]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, _Server])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return {}
