"""The tokens of players: what is kept of each, who may do what by it, and how it ends.

A token is told once. The store has its SHA-256, and of one made under an idempotency key what it was derived from
beside the server's secret key, so that a repeat can be told the same token though nothing holds it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

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
    Draft,
    Issued,
    Known,
    Once,
    Record,
    TokenEnded,
    TokenInfo,
    TooManyTokens,
    check_same,
    digest_of,
    field_of,
    id_of,
    info_of,
    read_known,
    sooner,
    spell,
)
from services.token_scripts import CHANGE, DONE, FULL, SET_IF_THERE, TAKE
from services.wire import StoreUnavailable, Wire

BELIEVED_MS: Final = 5_000
"""How long a token is believed without asking the store again: so long one that was ended elsewhere may go on."""
_REMEMBERED: Final = 8192
"""Tokens that a process keeps."""
_KEEP_KEY_MS: Final = 24 * 60 * 60 * 1000


class Tokens:
    """The tokens of a store. Every method that asks it raises `StoreUnavailable` when it does not answer."""

    def __init__(
        self,
        wire: Wire,
        key: Signer,
        clock: Callable[[], int],
        entropy: Callable[[int], bytes],
        aside: Wire,
    ) -> None:
        self._wire, self._key, self._clock, self._entropy = wire, key, clock, entropy
        self._aside = aside
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

    def is_alive(self, player: str, token: str) -> bool:
        """Whether a player has a token of this id now. The store is asked."""
        value = self._wire.call("HGET", Keys.tokens(player), token)
        if value is not None:
            expires = msgspec.json.decode(value, type=Record).expires
            if expires is None or expires > self._clock():
                return True
        self.forget()
        return False

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
        asker: str | None = None,
    ) -> Issued:
        """A new token of ``player``; under a key that made one before, that one again.

        ``expires`` is in ms since 1970 UTC; ``asker`` the id of the player's token that asks for it, which it does not
        outlast. Raises `TooManyTokens`, `KeyReused`, `TokenEnded`.
        """

        def draft(now: int, digest: str, asking: Record | None) -> Draft:
            ends = sooner(expires, asking.expires if asking else None)
            return Draft(Record(digest, sorted(scopes), now, label, ends), MOST_TOKENS)

        return self._make(player, asker, once, draft)

    def rotate(self, owner: Bearer, grace_ms: int, once: Key | None) -> Issued:
        """A new token in place of the one that asks, with its scopes, label and end. The old one ends after ``grace_ms``.

        One of those that ask at the same moment gets it. Raises `TooManyTokens`, `KeyReused`, `TokenEnded`.
        """

        def draft(now: int, digest: str, asking: Record | None) -> Draft:
            assert asking is not None
            if asking.replaced:
                raise TokenEnded("the token of this request has been replaced by another one already")
            old = msgspec.structs.replace(
                asking, expires=sooner(now + grace_ms, asking.expires), replaced=True
            )
            # the old one is there beside it for a while; with no grace it makes room for it
            most = MOST_TOKENS + (1 if grace_ms else 2)
            return Draft(Record(digest, asking.scopes, now, asking.label, asking.expires), most, old)

        made = self._make(owner.player, owner.token, once, draft)
        # also for a repeat: what it repeats may have broken off here
        self._close(owner.player, owner.token)
        self.forget()
        return made

    # --- ending

    def end(self, player: str, token: str, once: Key | None = None, asker: str | None = None) -> bool | None:
        """End a token: at once in this process, within `BELIEVED_MS` in others.

        Returns whether it has been ended before under the same key; none where the player has no such token. ``asker``
        is the id of the player's token that asks. Raises `KeyReused`, `TokenEnded`.
        """
        while True:
            fields, now = self._tidy(player), self._clock()
            if once is not None and (kept := fields.get(field_of(once))) is not None:
                check_same(once, msgspec.json.decode(kept, type=Once))
                self._hold(player, once, kept)
                return True
            self._asking(fields, asker)
            record = fields.get(token.encode()) if TOKEN_ID.fullmatch(token) else None
            if record is None:
                return None
            _check_keys(fields, once)
            # first as one that has ended, so that one which breaks off here lets nobody in for long
            ended = msgspec.structs.replace(msgspec.json.decode(record, type=Record), expires=now)
            note = b"" if once is None else msgspec.json.encode(Once(once.fingerprint, now))
            if self._change(player, fields, once, note, asker, None, {token: ended}) == DONE:
                break
        self._close(player, token)
        self.forget()
        return False

    def end_all(self, player: str) -> None:
        """End every token of a player, and keep nothing of them."""
        place = Keys.tokens(player)
        self._drop(_records(self._wire.call("HGETALL", place)))
        # and those that were made in the meantime
        self._drop(_records(self._wire.run(TAKE, [place], [])))
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
            if self._wire.call("SET", Keys.token(digest), msgspec.json.encode(known), "XX") is None:
                # it was ended since it was read
                self._wire.call("HDEL", Keys.tokens(player), id_of(digest))
                return None
        return known

    def _note_use(self, one: Bearer) -> None:
        today = datetime.fromtimestamp(self._clock() / 1000, UTC).date().isoformat()
        if self._noted.get(one.token) == today:
            return
        # whoever reads must not fail because the store takes no writes
        with suppress(StoreUnavailable, redis.ResponseError):
            self._aside.run(  # no replica need have it
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

    def _hold(self, player: str, once: Key, kept: bytes) -> None:
        """See that the replicas have what was done under a key before, by writing behind it. Raises `StoreUnavailable`."""
        if self._wire.replicas:
            self._wire.run(SET_IF_THERE, [Keys.tokens(player)], [field_of(once), field_of(once), kept])

    def _make(
        self,
        player: str,
        asker: str | None,
        once: Key | None,
        draft: Callable[[int, str, Record | None], Draft],
    ) -> Issued:
        """Make what ``draft`` says at a time, with a digest, and for the token that asks, as they are in the store."""
        salt = self._entropy(32)
        token = spell(salt) if once is None else self._derive(once, salt)
        digest = digest_of(token)
        while True:
            fields, now = self._tidy(player), self._clock()
            if once is not None and (kept := fields.get(field_of(once))) is not None:
                told = self._told_before(once, kept)
                self._hold(player, once, kept)
                return told
            new = draft(now, digest, self._asking(fields, asker))
            _check_keys(fields, once)
            changes = {id_of(digest): new.record}
            if new.old is not None and asker is not None:
                changes[asker] = new.old
            note = b""
            if once is not None:
                note = msgspec.json.encode(Once(once.fingerprint, now, salt.hex(), new.record))
            self._open(player, new.record, now)
            done = self._change(player, fields, once, note, asker, new.most, changes)
            if done == DONE:
                return Issued(token, info_of(new.record, None))
            self._wire.call("DEL", Keys.token(digest))
            if done == FULL:
                raise TooManyTokens(f"a player has at most {MOST_TOKENS} tokens at a time")

    def _change(
        self,
        player: str,
        fields: Mapping[bytes, bytes],
        once: Key | None,
        note: bytes,
        asker: str | None,
        most: int | None,
        changes: Mapping[str, Record],
    ) -> Any:
        """`CHANGE` what was read as ``fields``."""
        asking = b"" if asker is None else fields[asker.encode()]
        args: list[object] = [field_of(once), note, asker or "", asking, "" if most is None else most]
        for name, record in changes.items():
            args += [name, msgspec.json.encode(record)]
        return self._wire.run(CHANGE, [Keys.tokens(player)], args)

    def _asking(self, fields: Mapping[bytes, bytes], asker: str | None) -> Record | None:
        """What is kept of the token that asks. Raises `TokenEnded`."""
        if asker is None:
            return None
        record = fields.get(asker.encode())
        if record is None:
            self.forget()
            raise TokenEnded("the token of this request is not valid")
        return msgspec.json.decode(record, type=Record)

    def _open(self, player: str, record: Record, now: int) -> None:
        """Let a token in, which is among the player's within a moment or ends again."""
        known = Known(player, record.digest, record.scopes, record.expires)
        # as a time to live, and not a moment, so that the store's clock need not agree with ours
        ends = () if record.expires is None else ("PX", max(1, record.expires - now))
        self._wire.call("SET", Keys.token(record.digest), msgspec.json.encode(known), *ends)

    def _close(self, player: str, token: str) -> None:
        """Let a token in no longer than its record says, and keep nothing of it once it has ended."""
        place, now = Keys.tokens(player), self._clock()
        value = self._wire.call("HGET", place, token)
        if value is None:
            return
        record = msgspec.json.decode(value, type=Record)
        if record.expires is None:
            return
        if record.expires <= now:
            self._drop([record])
            self._wire.call("HDEL", place, token, USED + token.encode())
            return
        known = Known(player, record.digest, record.scopes, record.expires)
        self._wire.call(
            "SET", Keys.token(record.digest), msgspec.json.encode(known), "XX", "PX", record.expires - now
        )

    def _drop(self, records: Iterable[Record]) -> None:
        """Let tokens in no longer."""
        self._wire.pipeline([("DEL", Keys.token(record.digest)) for record in records])

    def _tidy(self, player: str) -> dict[bytes, bytes]:
        """All that is kept of a player's tokens, less what has ended, which is dropped."""
        place, now = Keys.tokens(player), self._clock()
        fields = _pairs(self._wire.call("HGETALL", place))
        stale, ended = [], []
        for name, value in fields.items():
            if name.startswith(b"t"):
                record = msgspec.json.decode(value, type=Record)
                if record.expires is not None and record.expires <= now:
                    stale += [name, USED + name]
                    ended.append(record)
            elif name.startswith(ONCE) and msgspec.json.decode(value, type=Once).at + _KEEP_KEY_MS <= now:
                stale.append(name)
        # they end by themselves, but for one whose ending broke off
        self._drop(ended)
        if stale:
            self._wire.call("HDEL", place, *stale)
        return {name: value for name, value in fields.items() if name not in stale}


def _pairs(flat: Sequence[bytes]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _records(flat: Sequence[bytes]) -> list[Record]:
    """The tokens among all that is kept of a player's."""
    return [
        msgspec.json.decode(value, type=Record)
        for name, value in _pairs(flat).items()
        if name.startswith(b"t")
    ]


def _check_keys(fields: Mapping[bytes, bytes], once: Key | None) -> None:
    """Raise `TooManyTokens` where so much is kept under idempotency keys that no further one can be."""
    if once is not None and field_of(once) not in fields:
        kept = sum(name.startswith(ONCE) for name in fields)
        if kept >= MOST_KEYS:
            raise TooManyTokens(
                f"a player makes and ends at most {MOST_KEYS} tokens a day under idempotency keys"
            )
