"""A client that signs the moves of its player (``docs/signing.md``)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from api.client import Client, ClientError, Problem, Strange, Table
from domain.shuffle import genesis_head, next_head
from services.signing import MoveKey

SecretsOf = Callable[[str, str, Callable[[int], bytes]], bytes]
"""The 32 secret bytes of a player's key, by the server's address and the player's token; drawn where there are none."""


class KeyNotKept(ClientError):
    """The player's key cannot be kept, so no seat is taken with it."""


class SigningClient(Client):
    """A client whose player has one key for all its tables at a server.

    With ``signs`` it registers the key with every seat that it takes; where the key cannot be kept and there is ``on_no_key``,
    that is told, and the seat is taken without. It signs at every table that asks for it, also where
    the seat was taken by an earlier process; ``secrets_of`` is where the key outlives this one. What is signed is the history
    that it was sent.
    """

    def __init__(
        self,
        *args: Any,
        secrets_of: SecretsOf,
        signs: bool = False,
        on_no_key: Callable[[KeyNotKept], None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.signs = signs
        self._secrets_of, self._on_no_key = secrets_of, on_no_key
        self._signing: set[str] = set()
        """Tables known to be signed at."""
        self._seen: dict[str, tuple[int, bytes]] = {}
        """By table the last event whose head was worked out, and that head."""

    @property
    def key(self) -> MoveKey:
        """The player's key. Raises `KeyNotKept`."""
        try:
            return MoveKey(self._secrets_of(self.url, self.token or "", secrets.token_bytes))
        except OSError as error:
            raise KeyNotKept(f"the key that signs your moves cannot be kept: {error}") from error

    def _take_seat(self, path: str, body: Mapping[str, Any], opening: bytes | None, **more: str) -> Table:
        key = self._key_of_seat() if self.signs else None
        if key is None:
            return super()._take_seat(path, body, opening, **more)
        table = super()._take_seat(path, body, opening, public_key=key.public, **more)
        self._signing.add(table.id)
        return table

    def _key_of_seat(self) -> MoveKey | None:
        """The key to register; none where it cannot be kept and that was told instead."""
        try:
            return self.key
        except KeyNotKept as error:
            if self._on_no_key is None:
                raise
            self.signs = False
            self._on_no_key(error)
            return None

    def _move(self, game: str, move: Mapping[str, Any]) -> Table:
        if game not in self._signing:
            try:
                return super()._move(game, move)
            except Problem as problem:
                if problem.code != "move/unsigned":
                    raise
            self._signing.add(game)
        seq, head = self._history(game)
        return super()._move(game, self.key.sign_move(game, seq, head.hex(), move))

    def _history(self, game: str) -> tuple[int, bytes]:
        """The last event of a table and its head, worked out from the events that this client was sent.

        Raises `Strange` where the server tells another head: the player would sign for a history that it has not seen.
        """
        seq, head = self._seen.get(game, (0, genesis_head(game)))
        while items := self.events(game, seq).events:
            for item in items:
                seq, head = seq + 1, next_head(head, item.event.encode())
                if (item.seq, item.head) != (seq, head.hex()):
                    raise Strange(
                        f"{self.url} tells another history of game {game} than before, so nothing is signed"
                    )
        self._seen[game] = seq, head
        return seq, head
