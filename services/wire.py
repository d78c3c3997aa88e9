"""The line to a Redis or Valkey server: connecting, plain commands, scripts, and what can go wrong.

Under `services.store` and `services.feed`, which decide what is sent.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha1
from typing import Any, Final

import redis
from hiredis import pack_command
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.utils import HIREDIS_AVAILABLE

from services.key_templates import TEMPLATES, Template
from services.retries import SAFE, pauses

_MARGIN = 5.0
"""Seconds a blocking read may outlast the time it was asked to wait, before the server counts as gone."""


class StoreError(Exception):
    """The store could not do what it was asked."""


class StoreUnavailable(StoreError):
    """The server does not answer, or cannot write now. Whether the command was carried out is not known."""


class Unsent(StoreUnavailable):
    """There was no connection, so that nothing was sent, and nothing carried out."""


class WrongKeyType(StoreError, redis.ResponseError):
    """A key of ours holds something of another type than it should: it was written by somebody else."""


class HiredisMissing(StoreError):
    """redis-py runs without its compiled parser: reads would be six times slower."""


class Script:
    """A Lua script and its digest. Its text tells its KEYS, ARGV and what it returns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = sha1(text.encode(), usedforsecurity=False).hexdigest()


Call = tuple[Sequence[str], Sequence[Any]]
"""The KEYS and ARGV of a script."""


def connect(url: str, *, timeout: float = 5.0, max_connections: int = 1024) -> redis.Redis:
    """A client of the server at `url` (redis://, rediss://, unix://), safe for many threads.

    No connection is made yet. Each thread takes a connection of the pool while it needs one, so a long
    poll keeps nobody waiting. `timeout` is in seconds, for connecting and for each answer. No command that
    writes is repeated (`services.retries`): whether one whose answer was lost has been carried out is for the
    idempotency key to say. Connections that the server closed meanwhile are replaced before they are used.

    Raises HiredisMissing, and ValueError for an address of another kind.
    """
    if not HIREDIS_AVAILABLE:
        raise HiredisMissing("redis-py does not find hiredis; install it: pip install hiredis")
    return redis.Redis.from_url(
        url,
        protocol=2,
        decode_responses=False,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
        max_connections=max_connections,
    )


class Wire:
    """Commands over a client's pool, replies as the parser gives them.

    redis-py would make a dict and a tuple of each stream entry, which takes longer than reading it. Connections of the
    pool are kept here between commands: taking and giving one back costs redis-py 20 us, a third of a small command.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool
        self._timeout: float = self._pool.connection_kwargs.get("socket_timeout") or 0.0
        self._idle: list[Any] = []
        self._pid = os.getpid()
        self._talking = 0  # about: how many threads are in an exchange
        self._rests = 0  # answers still slept for since one that was watched for in vain

    def call(self, *command: Any, wait_ms: int | None = None) -> Any:
        """The reply to one command; `wait_ms` is how long a blocking one may take.

        Raises StoreUnavailable, or redis.ResponseError for what the server refuses.
        """
        packed = pack_command(command)
        read = self._read if wait_ms is None else lambda c: c.read_response(timeout=wait_ms / 1000 + _MARGIN)
        try:
            return self._talk(packed, read, command[0] in SAFE)
        except redis.ResponseError as error:
            raise self._named(error, (command,)) from error

    def pipeline(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The replies to several commands sent at once. Raises as `call` does, after reading them all."""
        if not commands:
            return []
        packed = b"".join([pack_command(command) for command in commands])
        try:
            safe = all(command[0] in SAFE for command in commands)
            replies: list[Any] = self._talk(packed, lambda c: self._read_all(c, len(commands)), safe)
        except redis.ResponseError as error:
            raise self._named(error, commands) from error
        return replies

    def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """The reply of a script, which is sent in full only where the server does not know it yet."""
        try:
            return self.call("EVALSHA", script.digest, len(keys), *keys, *args)
        except redis.exceptions.NoScriptError:
            return self.call("EVAL", script.text, len(keys), *keys, *args)

    def run_each(self, script: Script, calls: Iterable[Call]) -> list[Any]:
        """The replies of a script to several calls sent at once. Raises as `pipeline` does.

        Where the server has lost the script it is taught it and asked for all of them again, so the script must be one
        that a repeat does not harm.
        """
        commands = [("EVALSHA", script.digest, len(keys), *keys, *args) for keys, args in calls]
        try:
            return self.pipeline(commands)
        except redis.exceptions.NoScriptError:
            self.call("SCRIPT", "LOAD", script.text)
            return self.pipeline(commands)

    def _named(self, error: redis.ResponseError, commands: Sequence[tuple[Any, ...]]) -> redis.ResponseError:
        """A refusal, with the keys in it that hold something of another type than they should."""
        if "WRONGTYPE" not in str(error):
            return error
        words = dict.fromkeys(word for command in commands for word in command if isinstance(word, str))
        wrong = wrong_types(self, words)
        return WrongKeyType("; ".join(wrong.values())) if wrong else error

    def _talk(self, packed: bytes, read: Callable[[Any], Any], safe: bool) -> Any:
        """The reply; asked for again, within a bound, where nothing was sent, or where that is safe."""
        try:
            return self._try(packed, read)
        except StoreUnavailable as error:
            lost = error
        for pause in pauses(self._timeout):
            if not _may_repeat(lost, safe):
                break
            time.sleep(pause)
            try:
                return self._try(packed, read)
            except StoreUnavailable as error:
                lost = error
        raise lost

    def _try(self, packed: bytes, read: Callable[[Any], Any]) -> Any:
        try:
            connection = self._connection()
            self._talking += 1
            try:
                connection.send_packed_command([packed])
                reply = read(connection)
            except redis.ResponseError:
                self._idle.append(connection)
                raise
            except BaseException:
                connection.disconnect()  # what it still has to read would be taken for the next answer
                self._pool.release(connection)
                raise
            finally:
                self._talking -= 1
            self._idle.append(connection)
            return reply
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise StoreUnavailable(str(error)) from error
        except redis.ResponseError as error:
            if _cannot_now(error):
                raise StoreUnavailable(str(error)) from error
            raise

    def _connection(self) -> Any:
        try:
            return self._take()
        except redis.ConnectionError as error:
            raise Unsent(str(error)) from error

    def _take(self) -> Any:
        """A connection that the server has not closed; the one used last first, so that few are kept busy."""
        if self._pid != os.getpid():  # a child of a fork must not talk on its parent's sockets
            self._idle, self._pid, self._talking = [], os.getpid(), 0
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._pool.get_connection()
            if not _has_news(connection):
                return connection
            # the server has closed it, or it holds an answer that nobody waited for
            connection.disconnect()
            self._pool.release(connection)

    def _read(self, connection: Any) -> Any:
        if self._rests:
            self._rests -= 1
        elif self._talking == 1 and not _watch(connection):
            self._rests = _RESTS
        return connection.read_response()

    def _read_all(self, connection: Any, count: int) -> list[Any]:
        replies: list[Any] = []
        refused: redis.ResponseError | None = None
        for _ in range(count):
            try:
                replies.append(connection.read_response() if replies else self._read(connection))
            except redis.ResponseError as error:
                refused = refused or error
        if refused:
            raise refused
        return replies


_WATCH_SECONDS = 50e-6
_RESTS = 16


def _watch(connection: Any) -> bool:
    """Look out for the answer for a moment before sleeping on it, and say whether it has come.

    Most answers come within 20 us; to fall asleep and be woken costs 30 us of CPU and on an idle machine 70 us in all.
    It is done only while no other thread talks, which could use the core better.
    """
    look = _eye(connection)
    end = time.perf_counter() + _WATCH_SECONDS
    while not look.poll(0):
        if time.perf_counter() > end:
            return False
    return True


def _has_news(connection: Any) -> bool:
    """Whether there is something to read on an idle connection, or it is closed."""
    return connection._sock is None or bool(_eye(connection).poll(0))


def _eye(connection: Any) -> select.poll:
    """What sees, by ``poll(0)``, whether there is something to read on a connection."""
    look = select.poll()
    look.register(connection._sock, select.POLLIN)
    return look


def _may_repeat(lost: StoreUnavailable, safe: bool) -> bool:
    """Whether a command may be sent again; not to a server that hangs, or that says it cannot now."""
    return isinstance(lost, Unsent) or (safe and isinstance(lost.__cause__, redis.ConnectionError))


_NOT_NOW = (
    redis.exceptions.OutOfMemoryError,
    redis.exceptions.ReadOnlyError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.MasterDownError,
    redis.exceptions.TryAgainError,
)


def _cannot_now(error: redis.ResponseError) -> bool:
    """Whether a refusal tells of the server's condition (disk, memory, role), not of the command."""
    return isinstance(error, _NOT_NOW) or str(error).startswith(("MISCONF ", "NOREPLICAS ", "BUSY "))


_PATTERNS: Final = [
    (
        re.compile(
            re.sub(
                r"<(\w+)>|pNN",
                lambda hole: f"(?P<{hole[1]}>.+)" if hole[1] else r"p\d+",
                re.escape(one.key),
            )
        ),
        one,
    )
    for one in TEMPLATES
]


def template_of(key: str) -> tuple[Template, dict[str, str]] | None:
    """The template of a key, and what stands in its holes; none where it is no key of ours."""
    for pattern, template in _PATTERNS:
        if match := pattern.fullmatch(key):
            return template, match.groupdict()
    return None


def type_of(key: str) -> str | None:
    """The type that a key should have in the store; none where it is no key of ours."""
    found = template_of(key)
    return None if found is None else found[0].type


def wrong_types(wire: Wire, keys: Iterable[str]) -> dict[str, str]:
    """Those of our keys that hold something of another type than they should, each with a sentence on it."""
    wanted = [(key, kind) for key in keys if (kind := type_of(key)) is not None]
    found = wire.pipeline([("TYPE", key) for key, _ in wanted])
    return {
        key: f"the key {key} holds a {there.decode()}, and should hold a {kind}"
        for (key, kind), there in zip(wanted, found, strict=True)
        if there.decode() not in (kind, "none")
    }
