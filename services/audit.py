"""The server's own signing key, and the receipts it gives (``docs/spec/audit.md`` 7)."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from domain.events import KeyRotated
from domain.refusals import HeartsError
from domain.shuffle import hash_parts
from services.keys import Keys
from services.whole_files import create_whole

if TYPE_CHECKING:  # not at run time: proofs are verified without a store, and redis-py takes long to load
    from services.wire import Wire

KEY_BYTES = 32


class KeyFileError(HeartsError):
    """The file of the server's key cannot be used."""


class ServerKeyMismatch(KeyFileError):
    """The store was used with another key: what it holds could not be proved with this one."""

    def __init__(self, stored: str, path: Path, found: str | None) -> None:
        self.stored, self.path, self.found = stored, path, found
        what = f"which is not there ({path})" if found is None else f"and {path} holds that of {found}"
        super().__init__(
            f"the games of this store are proved by the server key {stored}, {what}; "
            "put the right file back, or name it with HEARTS_KEY_FILE"
        )


class KeyMissing(KeyFileError):
    """A game, or the store, names a server key whose secret half this process cannot find in its key file."""

    def __init__(self, public: str) -> None:
        self.public = public
        super().__init__(
            f"the key file has not got the secret of the server key {public}: copy the newest one here"
        )


class Signer(Protocol):
    """Who signs for a server: one key, or a ring of them."""

    @property
    def public(self) -> str:
        """The public key that new games name, hex."""

    @property
    def first(self) -> ServerKey:
        """The key that the first games named."""

    def all(self) -> tuple[ServerKey, ...]:
        """Every key up to the one that new games name now, in the order in which they came. Raises `KeyMissing`."""

    def of(self, public: str) -> ServerKey:
        """The key with this public half. Raises `KeyMissing`."""

    def derive(self, purpose: str, *parts: str) -> bytes:
        """32 bytes that follow from the server's secret, the purpose and the parts, and tell nothing of the secret."""


class Receipt(NamedTuple):
    """Signed word of the server that event ``seq`` of ``game`` is in the log, all before it included."""

    game: str
    seq: int
    head: str
    """Hex of ``head_seq``."""
    signature: str
    """Hex, Ed25519."""


def receipt_message(game: str, seq: int, head: bytes) -> bytes:
    """What a receipt signs."""
    return hash_parts("hearts/v1/receipt", game.encode(), str(seq).encode(), head)


def rotation_message(game: str, seq: int, new: str) -> bytes:
    """What the old key signs when event ``seq`` of a game names ``new``, in hex, as its next one."""
    return hash_parts("hearts/v1/rotate", game.encode(), str(seq).encode(), bytes.fromhex(new))


def verify_rotation(game: str, seq: int, event: KeyRotated, old: str) -> bool:
    """Whether the event, number ``seq``, was signed by the key before it, in hex."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(old))
        new = bytes.fromhex(event.server_key)
        if len(new) != KEY_BYTES or new.hex() != event.server_key:
            return False
        key.verify(bytes.fromhex(event.signature), rotation_message(game, seq, event.server_key))
    except (ValueError, InvalidSignature):
        return False
    return True


def verify_receipt(receipt: Receipt, server_key: str) -> bool:
    """Whether the receipt was signed by the key, both in hex."""
    try:
        message = receipt_message(receipt.game, receipt.seq, bytes.fromhex(receipt.head))
        signature = bytes.fromhex(receipt.signature)
    except ValueError:
        return False
    return is_signed(server_key, message, signature)


def is_signed(server_key: str, message: bytes, signature: bytes) -> bool:
    """Whether the key (hex) has signed ``message``."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(server_key)).verify(signature, message)
    except (ValueError, InvalidSignature):
        return False
    return True


class ServerKey:
    """The Ed25519 key of a server, and secrets derived from it. It never leaves the process but as signatures."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public: str = self._private.public_key().public_bytes_raw().hex()
        """The public key, hex."""

    def sign(self, message: bytes) -> bytes:
        """The signature of a message, 64 bytes."""
        return self._private.sign(message)

    def receipt(self, game: str, seq: int, head: bytes) -> Receipt:
        """A receipt for the event at ``seq``."""
        signature = self.sign(receipt_message(game, seq, head))
        return Receipt(game, seq, head.hex(), signature.hex())

    @property
    def first(self) -> ServerKey:
        """This key."""
        return self

    def all(self) -> tuple[ServerKey, ...]:
        """This key alone."""
        return (self,)

    def of(self, public: str) -> ServerKey:
        """This key, if it is the one. Raises `KeyMissing`."""
        if public != self.public:
            raise KeyMissing(public)
        return self

    def derive(self, purpose: str, *parts: str) -> bytes:
        """32 bytes that follow from the key, the purpose and the parts, and tell nothing of the key."""
        message = hash_parts(f"hearts/v1/server/{purpose}", *(part.encode() for part in parts))
        return hmac.digest(self._seed, message, "sha256")


def load_key(path: Path, entropy: Callable[[int], bytes]) -> ServerKey:
    """The first key kept in ``path``; made there, readable by its owner alone, where there is none.

    Raises `KeyFileError` where the file holds something else or cannot be read or made.
    """
    try:
        if not path.exists():
            _make_key_file(path, entropy(KEY_BYTES))
    except (OSError, ValueError) as error:
        why = error.strerror or error if isinstance(error, OSError) else "its name cannot be one"
        raise KeyFileError(f"the server key in {path} cannot be used: {why}") from error
    return load_keys(path)[0]


def load_keys(path: Path) -> list[ServerKey]:
    """The keys kept in ``path``, a line of hex each, the first one first. Raises `KeyFileError`."""
    try:
        text = path.read_bytes().strip()
    except (OSError, ValueError) as error:
        why = error.strerror or error if isinstance(error, OSError) else "its name cannot be one"
        raise KeyFileError(f"the server key in {path} cannot be used: {why}") from error
    return [_read_key(path, line.strip()) for line in text.split(b"\n")]


def _read_key(path: Path, text: bytes) -> ServerKey:
    if re.fullmatch(rb"[0-9a-fA-F]*", text) is None:
        what = f"something else than the {2 * KEY_BYTES} digits of hex that a key is"
        raise KeyFileError(f"the server key in {path} cannot be used: the file holds {what}")
    if len(text) != 2 * KEY_BYTES:
        raise KeyFileError(
            f"the server key in {path} has {len(text)} digits of hex and should have {2 * KEY_BYTES}"
        )
    return ServerKey(bytes.fromhex(text.decode()))


def exposure(path: Path) -> str | None:
    """What is wrong with who may use the key file in ``path``, in a sentence; none where its owner alone may."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    may = [word for word, bits in (("read", 0o044), ("write", 0o022)) if mode & bits]
    if not may:
        return None
    return f"others may {' and '.join(may)} the server key in {path}: make it yours alone (chmod 600)"


def server_key(wire: Wire, path: Path, entropy: Callable[[int], bytes]) -> ServerKey:
    """The key kept in ``path``, which must be the one that the store was first used with.

    A new store is given it; a key file is made only for a store that has no key yet. Raises `ServerKeyMismatch`,
    `KeyFileError`, `StoreUnavailable`.
    """
    stored: bytes | None = wire.call("GET", Keys.server_key)
    if stored is not None and _is_missing(path):
        raise ServerKeyMismatch(stored.decode(errors="replace"), path, None)
    key = load_key(path, entropy)
    if stored is None:
        wire.call("SET", Keys.server_key, key.public, "NX")
        stored = wire.call("GET", Keys.server_key)
    if stored is not None and stored != key.public.encode():
        raise ServerKeyMismatch(stored.decode(errors="replace"), path, key.public)
    return key


def _is_missing(path: Path) -> bool:
    try:
        return not path.exists()
    except OSError:
        return False  # it cannot be read, which `load_key` tells


def _make_key_file(path: Path, seed: bytes) -> None:
    """Two processes may start at once: the first to link its file wins, and both read the same key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    create_whole(path, f"{seed.hex()}\n".encode())
