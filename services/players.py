"""Players: an opaque id, a name, and who they are known by.

Names and tokens live outside the log, which holds ids alone, so that a person can be forgotten without touching a game.
Of a token only the SHA-256 is stored (`services.tokens`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from domain.bots import BOTS
from domain.refusals import Malformed
from domain.state import State
from services.audit import Signer
from services.cluster import Client, wire_of
from services.keys import Keys
from services.memory import Remembered
from services.standings import BOT_MARK
from services.token_forms import FIRST_SCOPES
from services.token_scripts import SET_IF_THERE
from services.tokens import BELIEVED_MS, Tokens
from services.wire import StoreUnavailable

LONGEST_NAME: Final = 40
"""Characters of a name, after trimming."""
PLAYER_ID: Final = re.compile(r"p[0-9a-f]{16}")

_NAME_MS: Final = 60_000
_REMEMBERED: Final = 8192
"""Names that a process keeps."""
_MOST_TRIES: Final = 8
_JOINERS: Final = "\u200c\u200d"
"""Format characters that writing in some scripts, and emoji, cannot do without."""
_BOT_VERSION: Final = re.compile(r"@[0-9]+(~[0-9]+)?$")
"""What may follow the name of a house bot where it is told apart from its other versions."""
_BLANK: Final = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159"
"""Letters and symbols that show nothing: fillers of Hangul and Khmer, Braille without dots, a note without a head."""
_UNSEEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Unicode's categories of what steers a display instead of standing on it."""


class Player(NamedTuple):
    """Somebody who plays: a person or an outside bot."""

    id: str
    name: str
    """``""`` once it was erased."""
    scopes: frozenset[str]
    """What the token that asks is good for; of a player that is only looked up, what its first one was."""
    token: str = ""
    """Id of the token that asks."""
    expires: int | None = None
    """When that token ends by itself, ms since 1970 UTC."""


class Players:
    """The players of a store. Every method that asks it raises `StoreUnavailable` when it does not answer."""

    def __init__(
        self,
        client: Client,
        key: Signer,
        clock: Callable[[], int],
        entropy: Callable[[int], bytes],
        replicas: int = 0,
    ) -> None:
        self._wire = wire_of(client, replicas)
        self._entropy = entropy
        self.tokens = Tokens(self._wire, key, clock, entropy, wire_of(client))
        self._known: Remembered[Player] = Remembered(clock, BELIEVED_MS, _REMEMBERED)
        self._names: Remembered[str] = Remembered(clock, _NAME_MS, _REMEMBERED)

    def create(self, name: str) -> tuple[Player, str]:
        """A new player called ``name``, and its token, which is told this once. Raises `Malformed` for the name."""
        cleaned = clean_name(name)
        player = self._claim_id(cleaned)
        token, which = self.tokens.first(player, FIRST_SCOPES)
        self._wire.call("HSET", Keys.player(player), "scopes", " ".join(sorted(FIRST_SCOPES)))
        return Player(player, cleaned, FIRST_SCOPES, which), token

    def name(self, name: str) -> str:
        """An id for somebody who is only spoken of, and has no token. Raises `Malformed` as `clean_label` does."""
        return self._claim_id(clean_label(name))

    def by_token(self, token: str) -> Player | None:
        """Whose token this is, none where it is nobody's. Believed for a few seconds without asking again."""
        bearer = self.tokens.bearer(token)
        if bearer is None:
            return None
        known = self._known.get(bearer.player)
        if known is None:
            memory = self._known.state
            known = self.get(bearer.player)
            if known is None:
                return None
            self._known.put(bearer.player, known, memory)
        return Player(bearer.player, known.name, bearer.scopes, bearer.token, bearer.expires)

    def is_alive(self, player: Player) -> bool:
        """Whether the token that asks is valid now, for what outlasts the belief in it. The store is asked."""
        if self.tokens.is_alive(player.id, player.token) and self.get(player.id) is not None:
            return True
        self._forget(player.id)
        return False

    def get(self, player: str) -> Player | None:
        """The player of an id, none where there is none."""
        if PLAYER_ID.fullmatch(player) is None:
            return None
        name, scopes = self._wire.call("HMGET", Keys.player(player), "name", "scopes")
        if scopes is None:
            return None
        return Player(player, (name or b"").decode(), frozenset(scopes.decode().split()))

    def exists(self, player: str) -> bool:
        """Whether there is or was such a player, its name erased or not."""
        return PLAYER_ID.fullmatch(player) is not None and bool(
            self._wire.call("EXISTS", Keys.player(player))
        )

    def all(self) -> Iterator[Player]:
        """Every player that has not been erased, in no order; also those who are only spoken of, without scopes."""
        for found in self._wire.scan(Keys.player("*"), 500):
            replies = self._wire.pipeline([("HMGET", key, "name", "scopes") for key in found])
            for key, (name, scopes) in zip(found, replies, strict=True):
                if name:
                    player = key.decode().rpartition(":")[2]
                    yield Player(player, name.decode(), frozenset((scopes or b"").decode().split()))

    def rename(self, player: str, name: str) -> str | None:
        """Call a player otherwise: the name as it is kept, none where there is no such player. Raises `Malformed`."""
        cleaned = clean_name(name)
        if not self._wire.run(SET_IF_THERE, [Keys.player(player)], ["scopes", "name", cleaned]):
            return None
        self._forget(player)
        return cleaned

    def erase(self, player: str) -> None:
        """Forget who a player is: the name, and every token. The id stays in the games, and is given to nobody else.

        It is told at once by this process, within a minute by others. What has been erased may be erased again.
        """
        # without scopes no token is believed, so that one which breaks off here has shut the door already
        self._wire.pipeline(
            [("HDEL", Keys.player(player), "scopes"), ("HSET", Keys.player(player), "name", "")]
        )
        self._forget(player)
        self.tokens.end_all(player)

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
            memory = self._names.state
            replies = self._wire.pipeline([("HGET", Keys.player(player), "name") for player in asked])
            for player, reply in zip(asked, replies, strict=True):
                found[player] = (reply or b"").decode()
                self._names.put(player, found[player], memory)
        return found

    def seat_names(self, state: State) -> list[str]:
        """The names at a table, clockwise; of a player whose name was erased, its id."""
        names = self.names(one.player for one in state.seats if one.player)
        return [
            one.bot.name if one.bot is not None else names.get(one.player) or one.player
            for one in state.seats
        ]

    def _forget(self, player: str) -> None:
        self._known.clear()
        self._names.drop(player)

    def _claim_id(self, name: str) -> str:
        for _ in range(_MOST_TRIES):
            player = "p" + self._entropy(8).hex()
            if self._wire.call("HSETNX", Keys.player(player), "name", name):
                return player
        raise StoreUnavailable("no free id for a player was found")


def clean_name(text: str) -> str:
    """``text`` as the name of a player: as `clean_label` has it, and not that of a house bot.

    Raises `Malformed`, saying what is wrong.
    """
    name = clean_label(text)
    plain = "".join(one for one in unicodedata.normalize("NFKC", name) if _is_seen(one)).casefold()
    bot = _BOT_VERSION.sub("", plain.removeprefix(BOT_MARK))
    if bot in BOTS:
        raise Malformed(f"a name is not that of a house bot; {bot} is one")
    return name


def clean_label(text: str) -> str:
    """``text`` as a line to be shown: in normal form C, trimmed, 1 to 40 characters, one at least that can be seen.

    Raises `Malformed`, saying what is wrong with it as a name.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Malformed(f"a name has 1 to {LONGEST_NAME} characters; this one has {len(name)}")
    for one in name:
        if unicodedata.category(one) in _UNSEEN and one not in _JOINERS:
            raise Malformed(f"a name holds no control characters; this one has U+{ord(one):04X}")
    if not any(_is_seen(one) for one in name):
        raise Malformed("a name holds at least one character that can be seen")
    return name


def _is_seen(one: str) -> bool:
    return unicodedata.category(one)[0] in "LNPS" and one not in _BLANK
