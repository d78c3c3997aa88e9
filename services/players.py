"""Players: an opaque id, a name, and the token that proves to be one.

Names and tokens live outside the log, which holds ids alone, so that a person can be forgotten without touching a game.
Of a token only the SHA-256 is stored.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeVar

import redis

from domain.refusals import Malformed
from domain.state import State
from services.keys import Keys
from services.wire import StoreUnavailable, Wire

LONGEST_NAME: Final = 40
"""Characters of a name, after trimming."""
SCOPES: Final = frozenset(("play", "watch"))
"""What the token of a new player is good for."""
TOKEN: Final = re.compile(r"hearts_[A-Za-z0-9_-]{43}")
PLAYER_ID: Final = re.compile(r"p[0-9a-f]{16}")

_TOKEN_MS: Final = 5_000
"""How long a token is believed without asking the store again."""
_NAME_MS: Final = 60_000
_REMEMBERED: Final = 8192
"""Tokens, and names, that a process keeps."""
_MOST_TRIES: Final = 8
_JOINERS: Final = "\u200c\u200d"
"""Format characters that writing in some scripts, and emoji, cannot do without."""
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Unicode's categories of what steers a display instead of standing on it."""

T = TypeVar("T")


class Player(NamedTuple):
    """Somebody who plays: a person or an outside bot."""

    id: str
    name: str
    """``""`` once it was erased."""
    scopes: frozenset[str]


class Players:
    """The players of a store. Every method that asks it raises `StoreUnavailable` when it does not answer."""

    def __init__(
        self, client: redis.Redis, clock: Callable[[], int], entropy: Callable[[int], bytes]
    ) -> None:
        self._wire = Wire(client)
        self._entropy = entropy
        self._tokens: Remembered[Player] = Remembered(clock, _TOKEN_MS, _REMEMBERED)
        self._names: Remembered[str] = Remembered(clock, _NAME_MS, _REMEMBERED)

    def create(self, name: str) -> tuple[Player, str]:
        """A new player called ``name``, and its token, which is told this once. Raises `Malformed` for the name."""
        cleaned = clean_name(name)
        player = Player(self._claim_id(cleaned), cleaned, SCOPES)
        token = "hearts_" + base64.urlsafe_b64encode(self._entropy(32)).rstrip(b"=").decode()
        self._wire.pipeline(
            [
                ("HSET", Keys.player(player.id), "scopes", " ".join(sorted(player.scopes))),
                ("SET", Keys.token(_digest(token)), player.id),
            ]
        )
        return player, token

    def name(self, name: str) -> str:
        """An id for somebody who is only spoken of, and has no token. Raises `Malformed` for the name."""
        return self._claim_id(clean_name(name))

    def by_token(self, token: str) -> Player | None:
        """Whose token this is, none where it is nobody's. Believed for a few seconds without asking again."""
        if TOKEN.fullmatch(token) is None:
            return None
        digest = _digest(token)
        known = self._tokens.get(digest)
        if known is not None:
            return known
        found = self._wire.call("GET", Keys.token(digest))
        player = None if found is None else self.get(found.decode())
        if player is not None:
            self._tokens.put(digest, player)
        return player

    def get(self, player: str) -> Player | None:
        """The player of an id, none where there is none."""
        if PLAYER_ID.fullmatch(player) is None:
            return None
        name, scopes = self._wire.call("HMGET", Keys.player(player), "name", "scopes")
        if scopes is None:
            return None
        return Player(player, (name or b"").decode(), frozenset(scopes.decode().split()))

    def names(self, ids: Iterable[str]) -> dict[str, str]:
        """The name of each of ``ids``, ``""`` for one that is not known or was erased."""
        found: dict[str, str] = {}
        asked: list[str] = []
        for player in ids:
            name = self._names.get(player)
            if name is None:
                asked.append(player)
            else:
                found[player] = name
        if asked:
            replies = self._wire.pipeline([("HGET", Keys.player(player), "name") for player in asked])
            for player, reply in zip(asked, replies, strict=True):
                found[player] = (reply or b"").decode()
                self._names.put(player, found[player])
        return found

    def seat_names(self, state: State) -> list[str]:
        """The names at a table, clockwise; of a player whose name was erased, its id."""
        names = self.names(one.player for one in state.seats if one.player)
        return [
            one.bot.name if one.bot is not None else names.get(one.player) or one.player
            for one in state.seats
        ]

    def _claim_id(self, name: str) -> str:
        for _ in range(_MOST_TRIES):
            player = "p" + self._entropy(8).hex()
            if self._wire.call("HSETNX", Keys.player(player), "name", name):
                return player
        raise StoreUnavailable("no free id for a player was found")


class Remembered(Generic[T]):
    """A bounded memory of what was read a little while ago. Safe for threads."""

    def __init__(self, clock: Callable[[], int], keep_ms: int, most: int) -> None:
        self._clock, self._keep_ms, self._most = clock, keep_ms, most
        self._entries: OrderedDict[str, tuple[int, T]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> T | None:
        """What was put under ``key`` not too long ago, or none."""
        entry = self._entries.get(key)
        if entry is None or entry[0] < self._clock():
            return None
        return entry[1]

    def put(self, key: str, value: T) -> None:
        """Remember ``value``; the oldest entry makes room."""
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = (self._clock() + self._keep_ms, value)
            if len(self._entries) > self._most:
                self._entries.popitem(last=False)


def clean_name(text: str) -> str:
    """``text`` as a name: in normal form C, trimmed, 1 to 40 characters that can be seen.

    Raises `Malformed`, saying what is wrong.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Malformed(f"a name has 1 to {LONGEST_NAME} characters; this one has {len(name)}")
    kinds = [unicodedata.category(one) for one in name]
    for one, kind in zip(name, kinds, strict=True):
        if kind in _UNSEEN and one not in _JOINERS:
            raise Malformed(f"a name holds no control characters; this one has U+{ord(one):04X}")
    if not any(kind[0] in "LNPS" for kind in kinds):
        raise Malformed("a name holds at least one character that can be seen")
    return name


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
