"""The server's keys over time: the first, which a store is known by, and those that followed it.

The file of the server's key has a line a key, the first one first. Games go on naming the key they were opened under until
a `key_rotated` event names the next, so every key is kept for as long as the store is. Which one signs a receipt follows
from the game; which one new games name, from the store. A process that lacks a key reads the file again, so processes
need not be told of a rotation.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from domain import events as e
from domain.commands import RotateKey
from domain.game import advance, is_over
from domain.state import State
from services.audit import (
    KEY_BYTES,
    KeyFileError,
    KeyMissing,
    ServerKey,
    load_keys,
    rotation_message,
    server_key,
)
from services.folded import Table
from services.keylist import MOST_KEYS
from services.keys import Keys
from services.whole_files import put_whole
from services.wire import StoreUnavailable

if TYPE_CHECKING:
    from services.tables import Tables
    from services.wire import Wire


class KeyRing:
    """All keys of a server, and the store that says which one new games name."""

    def __init__(self, wire: Wire, path: Path, entropy: Callable[[int], bytes]) -> None:
        """Make the first key where file and store are new.

        Raises as `services.audit.server_key` does, and `KeyMissing` where the file is older than the last rotation.
        """
        self._wire, self._path = wire, path
        self._first = server_key(wire, path, entropy)
        self._held: dict[str, ServerKey] = {}
        self._read()
        self.latest: str = self.first.public
        """The public key that was current when the store was last asked."""
        self.of(self._ask())

    @property
    def first(self) -> ServerKey:
        """The key that the store was first used with; what is derived from a secret follows from this one for ever."""
        return self._first

    @property
    def public(self) -> str:
        """The public key that new games name now, as the store has it. Raises `KeyMissing`, `StoreUnavailable`."""
        return self.of(self._ask()).public

    def shown(self) -> str:
        """The public key that new games name, as far as is known where the store does not answer."""
        with suppress(StoreUnavailable):
            self._ask()
        return self.latest

    @property
    def held(self) -> tuple[str, ...]:
        """The public keys whose secrets the file has, in order."""
        self._read()
        return tuple(self._held)

    def all(self) -> tuple[ServerKey, ...]:
        """Every key up to the one that new games name now, in order: the same in every process.

        One question to the store; the file is read only where it is newer. Raises `KeyMissing`, `StoreUnavailable`.
        """
        current = self.of(self._ask()).public
        held = tuple(self._held.values())
        return held[: [key.public for key in held].index(current) + 1]

    def of(self, public: str) -> ServerKey:
        """The key of this public half, from the file if it is newer than this process. Raises `KeyMissing`."""
        known = self._held.get(public)
        if known is None:
            self._read()
            known = self._held.get(public)
        if known is None:
            raise KeyMissing(public)
        return known

    def derive(self, purpose: str, *parts: str) -> bytes:
        """As `ServerKey.derive`, by the first key: what follows from it does not change with a rotation."""
        return self.first.derive(purpose, *parts)

    def add(self, entropy: Callable[[int], bytes]) -> str:
        """The public key that the next rotation turns to: one that the file has already, or a new one put there.

        Raises `KeyFileError` where the file cannot be written, `StoreUnavailable`.
        """
        with _alone(self._path):
            held = self.held
            after = held.index(self._ask()) + 1 if self._ask() in held else len(held)
            if after < len(held):
                return held[after]
            if len(held) >= MOST_KEYS:
                raise KeyFileError(f"{self._path} has {MOST_KEYS} keys, and may have no more")
            _append_line(self._path, entropy(KEY_BYTES).hex())
        return self.held[-1]

    def turn_to(self, public: str) -> None:
        """Let new games name this key. Raises `KeyMissing` where its secret is not here, `StoreUnavailable`."""
        self.of(public)
        self._wire.call("SET", Keys.server_key_now, public)
        self._ask()

    def _ask(self) -> str:
        told: bytes | None = self._wire.call("GET", Keys.server_key_now)
        self.latest = self.first.public if told is None else told.decode()
        return self.latest

    def _read(self) -> None:
        keys = load_keys(self._path)
        if keys[0].public != self.first.public:
            raise KeyFileError(f"{self._path} begins with another key than before: put the right file back")
        self._held = {key.public: key for key in keys}


def rotate_game(tables: Tables, ring: KeyRing, game: str) -> bool:
    """Let the receipts of a game be signed by the current key from now on, if it is not over. Whether it was not before.

    The key before is the one that its events name: a snapshot that is wrong must not lead to an event that is.
    Raises `KeyMissing` where its secret is not here, `UnknownGame`, `CorruptStream`, `StoreUnavailable`.
    """
    new = ring.public
    rotated = False

    def rotation(table: Table, at: int) -> tuple[list[e.Event], State]:
        nonlocal rotated
        rotated = table.state.server_key != new and not is_over(table.state)
        if not rotated:
            return [], table.state
        old = ring.of(table.state.server_key)
        signature = old.sign(rotation_message(table.state.game, table.seq + 1, new)).hex()
        return advance(table.state, RotateKey(at=at, server_key=new, signature=signature))

    tables.fold_anew(game)
    tables.act(game, rotation)
    return rotated


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process at a time change the file."""
    try:
        folder = os.open(path.resolve().parent, os.O_RDONLY)
    except OSError as error:
        raise KeyFileError(f"the server key in {path} cannot be used: {error.strerror}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _append_line(path: Path, line: str) -> None:
    """Add a line to the file."""
    try:
        text = path.read_text(encoding="ascii").strip()
        put_whole(path, f"{text}\n{line}\n".encode("ascii"))
    except OSError as error:
        raise KeyFileError(f"no key can be added to {path}: {error.strerror or error}") from error
