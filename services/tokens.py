"""The tokens of players: what is kept of each, who may do what by it, and how it ends.

A token is told once. The store has its SHA-256, and of one made under an idempotency key what it was derived from
beside the server's secret key, so that a repeat can be told the same token though nothing holds it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import msgspec
import redis

from services.audit import Signer
from services.keys import Keys
from services.memory import Remembered
from services.once import Key
from services.token_forms import (
    MOST_KEYS,
    MOST_TOKENS,
    ONCE,
    TOKEN,
    TOKEN_ID,
    USED,
    Bearer,
    Issued,
    Known,
    Once,
    Record,
    TokenInfo,
    TooManyTokens,
    check_same,
    digest_of,
    field_of,
    id_of,
    info_of,
    read_known,
    spell,
)
from services.wire import Script, StoreUnavailable, Wire

BELIEVED_MS: Final = 5_000
"""How long a token is believed without asking the store again: so long one that was ended elsewhere may go on."""
_REMEMBERED: Final = 8192
"""Tokens that a process keeps."""
_KEEP_KEY_MS: Final = 24 * 60 * 60 * 1000


CLAIM: Final = Script("""
-- KEYS[1] a player's tokens
-- ARGV[1] field of the idempotency key, or empty   ARGV[2] what is kept under it
-- ARGV[3] the token's id   ARGV[4] its record   ARGV[5] how many tokens a player may have
-- Returns what was kept under the key before; 0 where there are too many tokens; 1 where it is done.
if ARGV[1] ~= '' then
  local kept = redis.call('HGET', KEYS[1], ARGV[1])
  if kept then return kept end
end
local count = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 1) == 't' then count = count + 1 end
end
if count >= tonumber(ARGV[5]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
if ARGV[1] ~= '' then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
""")

SET_IF_THERE: Final = Script("""
-- KEYS[1] a hash   ARGV[1] a field that must be there   ARGV[2], ARGV[3] the field to be set, and its value
-- Returns whether it was there.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
""")


class Tokens:
    """The tokens of a store. Every method that asks it raises `StoreUnavailable` when it does not answer."""

    def __init__(
        self, wire: Wire, key: Signer, clock: Callable[[], int], entropy: Callable[[int], bytes]
    ) -> None:
        self._wire, self._key, self._clock, self._entropy = wire, key, clock, entropy
        self._believed: Remembered[Bearer] = Remembered(clock, BELIEVED_MS, _REMEMBERED)
        self._noted: Remembered[str] = Remembered(clock, _KEEP_KEY_MS, _REMEMBERED)

    # --- who

    def bearer(self, token: str) -> Bearer | None:
        """Whom a token speaks for, none where it is nobody's. Believed for a few seconds without asking again."""
        if TOKEN.fullmatch(token) is None:
            return None
        digest = digest_of(token)
        found = self._believed.get(digest)
        if found is None:
            memory = self._believed.state
            found = self._read(digest)
            if found is None:
                return None
            self._note_use(found)
            self._believed.put(digest, found, memory)
        if found.expires is not None and found.expires <= self._clock():
            return None
        return found

    def forget(self) -> None:
        """Believe no token any longer without asking."""
        self._believed.clear()

    # --- making

    def first(self, player: str, scopes: Collection[str]) -> tuple[str, str]:
        """The token of a new player, and its id."""
        made = self.issue(player, scopes)
        return made.token, made.info.id

    def issue(
        self,
        player: str,
        scopes: Collection[str],
        *,
        label: str = "",
        expires: int | None = None,
        once: Key | None = None,
        most: int | None = None,
    ) -> Issued:
        """A new token of ``player``; under a key that made one before, that one again.

        ``expires`` is in ms since 1970 UTC; ``most`` how many the player may have then. Raises `TooManyTokens`,
        `KeyReused`.
        """
        now = self._clock()
        _check_keys(self._tidy(player), once)
        salt = self._entropy(32)
        token = spell(salt) if once is None else self._derive(once, salt)
        digest = digest_of(token)
        record = Record(digest, sorted(scopes), now, label, expires)
        known = Known(player, digest, record.scopes, expires)
        kept = b""
        if once is not None:
            kept = msgspec.json.encode(Once(once.fingerprint, now, salt.hex(), record))
        place = Keys.token(digest)
        # as a time to live, and not a moment, so that the store's clock need not agree with ours
        ends = () if expires is None else ("PX", max(1, expires - now))
        self._wire.call("SET", place, msgspec.json.encode(known), *ends)
        done = self._wire.run(
            CLAIM,
            [Keys.tokens(player)],
            [field_of(once), kept, id_of(digest), msgspec.json.encode(record), most or MOST_TOKENS],
        )
        if done == 1:
            return Issued(token, info_of(record, None))
        self._wire.call("DEL", place)
        if done == 0 or once is None:
            raise TooManyTokens(f"a player has at most {MOST_TOKENS} tokens at a time")
        return self._told_before(once, done)

    def rotate(self, owner: Bearer, grace_ms: int, once: Key | None) -> Issued:
        """A new token in place of the one that asks, with its scopes, label and end. The old one ends after ``grace_ms``.

        Raises `TooManyTokens`, `KeyReused`.
        """
        old = self._record(owner)
        made = self.issue(
            owner.player,
            owner.scopes,
            label=old.label if old else "",
            expires=owner.expires,
            once=once,
            # the old one is there beside it for a while
            most=MOST_TOKENS + 1,
        )
        if old is not None:
            self._end_at(owner, old, made.info.created + grace_ms)
        self.forget()
        return made

    # --- ending

    def end(self, player: str, token: str, once: Key | None = None) -> bool | None:
        """End a token: at once in this process, within `BELIEVED_MS` in others.

        Returns whether it has been ended before under the same key; none where the player has no such token. Raises
        `KeyReused`.
        """
        place = Keys.tokens(player)
        record, kept = self._wire.call("HMGET", place, token, field_of(once))
        if once is not None and kept is not None:
            check_same(once, msgspec.json.decode(kept, type=Once))
            return True
        if record is None or TOKEN_ID.fullmatch(token) is None:
            return None
        _check_keys(self._tidy(player), once)
        # first what lets it in, so that one which breaks off here can be ended again
        self._wire.call("DEL", Keys.token(msgspec.json.decode(record, type=Record).digest))
        steps: list[tuple[object, ...]] = [("HDEL", place, token, USED + token.encode())]
        if once is not None:
            steps.append(
                ("HSET", place, field_of(once), msgspec.json.encode(Once(once.fingerprint, self._clock())))
            )
        self._wire.pipeline(steps)
        self.forget()
        return False

    def end_all(self, player: str) -> None:
        """End every token of a player, and keep nothing of them."""
        digests = [record.digest for record in self._records(player).values()]
        for digest in digests:
            self._wire.call("DEL", Keys.token(digest))
        self._wire.call("DEL", Keys.tokens(player))
        self.forget()

    def all_of(self, player: str) -> list[TokenInfo]:
        """The tokens of a player, the oldest first."""
        fields = self._tidy(player)
        infos = [
            info_of(msgspec.json.decode(value, type=Record), fields.get(USED + name))
            for name, value in fields.items()
            if name.startswith(b"t")
        ]
        return sorted(infos, key=lambda one: (one.created, one.id))

    # --- inside

    def _read(self, digest: str) -> Bearer | None:
        stored = self._wire.call("GET", Keys.token(digest))
        if stored is None:
            return None
        known = self._adopt(stored.decode(), digest) if stored[:1] == b"p" else read_known(stored)
        if known is None or not hmac.compare_digest(known.digest, digest):
            return None
        return Bearer(known.player, id_of(digest), frozenset(known.scopes), known.expires)

    def _adopt(self, player: str, digest: str) -> Known | None:
        """A token from when a player had one alone, and its scopes stood with the player: kept as all are now."""
        scopes = self._wire.call("HGET", Keys.player(player), "scopes")
        if scopes is None:
            return None
        known = Known(player, digest, scopes.decode().split())
        record = Record(digest, known.scopes, self._clock())
        with suppress(StoreUnavailable):  # the next use is as good an occasion
            self._wire.call("HSETNX", Keys.tokens(player), id_of(digest), msgspec.json.encode(record))
            self._wire.call("SET", Keys.token(digest), msgspec.json.encode(known), "XX")
        return known

    def _note_use(self, one: Bearer) -> None:
        today = datetime.fromtimestamp(self._clock() / 1000, UTC).date().isoformat()
        if self._noted.get(one.token) == today:
            return
        # whoever reads must not fail because the store takes no writes
        with suppress(StoreUnavailable, redis.ResponseError):
            self._wire.run(
                SET_IF_THERE, [Keys.tokens(one.player)], [one.token, USED + one.token.encode(), today]
            )
            self._noted.put(one.token, today)

    def _derive(self, once: Key, salt: bytes) -> str:
        return spell(self._key.derive("token", once.caller, once.route, once.key, salt.hex()))

    def _told_before(self, once: Key, kept: bytes) -> Issued:
        earlier = msgspec.json.decode(kept, type=Once)
        check_same(once, earlier)
        assert earlier.record is not None
        token = self._derive(once, bytes.fromhex(earlier.salt))
        return Issued(token, info_of(earlier.record, None), replayed=True)

    def _record(self, owner: Bearer) -> Record | None:
        value = self._wire.call("HGET", Keys.tokens(owner.player), owner.token)
        return None if value is None else msgspec.json.decode(value, type=Record)

    def _records(self, player: str) -> dict[bytes, Record]:
        flat = self._wire.call("HGETALL", Keys.tokens(player))
        return {
            name: msgspec.json.decode(value, type=Record)
            for name, value in zip(flat[::2], flat[1::2], strict=True)
            if name.startswith(b"t")
        }

    def _end_at(self, owner: Bearer, old: Record, ends: int) -> None:
        """Let a token end at a time, unless it ends sooner anyhow."""
        if ends <= self._clock():
            self.end(owner.player, owner.token)
            return
        if old.expires is not None and old.expires <= ends:
            return
        known = Known(owner.player, old.digest, old.scopes, ends)
        record = msgspec.structs.replace(old, expires=ends)
        self._wire.call(
            "SET", Keys.token(old.digest), msgspec.json.encode(known), "XX", "PX", ends - self._clock()
        )
        self._wire.run(
            SET_IF_THERE,
            [Keys.tokens(owner.player)],
            [owner.token, owner.token, msgspec.json.encode(record)],
        )

    def _tidy(self, player: str) -> dict[bytes, bytes]:
        """All that is kept of a player's tokens, less what has ended by itself, which is dropped."""
        place, now = Keys.tokens(player), self._clock()
        flat = self._wire.call("HGETALL", place)
        fields: dict[bytes, bytes] = dict(zip(flat[::2], flat[1::2], strict=True))
        stale = []
        for name, value in fields.items():
            if name.startswith(b"t"):
                expires = msgspec.json.decode(value, type=Record).expires
                if expires is not None and expires <= now:
                    stale += [name, USED + name]
            elif name.startswith(ONCE) and msgspec.json.decode(value, type=Once).at + _KEEP_KEY_MS <= now:
                stale.append(name)
        if stale:
            self._wire.call("HDEL", place, *stale)
        return {name: value for name, value in fields.items() if name not in stale}


def _check_keys(fields: Mapping[bytes, bytes], once: Key | None) -> None:
    """Raise `TooManyTokens` where so much is kept under idempotency keys that no further one can be."""
    if once is not None and field_of(once) not in fields:
        kept = sum(name.startswith(ONCE) for name in fields)
        if kept >= MOST_KEYS:
            raise TooManyTokens(
                f"a player makes and ends at most {MOST_KEYS} tokens a day under idempotency keys"
            )
