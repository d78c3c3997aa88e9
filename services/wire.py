"""The line to a Redis or Valkey server: connecting, plain commands, scripts, and what can go wrong.

Under `services.store` and `services.feed`, which decide what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.utils import HIREDIS_AVAILABLE

_MARGIN = 5.0
"""Seconds a blocking read may outlast the time it was asked to wait, before the server counts as gone."""


class StoreError(Exception):
    """The store could not do what it was asked."""


class StoreUnavailable(StoreError):
    """The server does not answer, or cannot write now. Whether the command was carried out is not known."""


class HiredisMissing(StoreError):
    """redis-py runs without its compiled parser: reads would be six times slower."""


class Script:
    """A Lua script and its digest. Its text tells its KEYS, ARGV and what it returns."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = sha1(text.encode(), usedforsecurity=False).hexdigest()


def connect(url: str, *, timeout: float = 5.0, max_connections: int = 1024) -> redis.Redis:
    """A client of the server at `url` (redis://, rediss://, unix://), safe for many threads.

    No connection is made yet. Each thread takes a connection of the pool while it needs one, so a long
    poll keeps nobody waiting. `timeout` is in seconds, for connecting and for each answer. A command is
    never repeated: whether one whose answer was lost has been carried out is for the idempotency key to
    say. Connections that the server closed meanwhile are replaced before they are used.

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

    redis-py would make a dict and a tuple of each stream entry, which takes longer than reading it.
    """

    def __init__(self, client: redis.Redis) -> None:
        self._pool = client.connection_pool

    def call(self, *command: Any, wait_ms: int | None = None) -> Any:
        """The reply to one command; `wait_ms` is how long a blocking one may take.

        Raises StoreUnavailable, or redis.ResponseError for what the server refuses.
        """
        return self._talk(lambda connection: _ask(connection, command, wait_ms))

    def pipeline(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The replies to several commands sent at once. Raises as `call` does, after reading them all."""
        return self._talk(lambda connection: _ask_all(connection, commands)) if commands else []

    def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """The reply of a script, which is sent in full only where the server does not know it yet."""
        try:
            return self.call("EVALSHA", script.digest, len(keys), *keys, *args)
        except redis.exceptions.NoScriptError:
            return self.call("EVAL", script.text, len(keys), *keys, *args)

    def _talk(self, exchange: Callable[[Any], Any]) -> Any:
        try:
            connection = self._pool.get_connection()
            try:
                return exchange(connection)
            finally:
                self._pool.release(connection)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise StoreUnavailable(str(error)) from error
        except redis.ResponseError as error:
            if _cannot_now(error):
                raise StoreUnavailable(str(error)) from error
            raise


def _ask(connection: Any, command: tuple[Any, ...], wait_ms: int | None) -> Any:
    connection.send_command(*command)
    if wait_ms is None:
        return connection.read_response()
    return connection.read_response(timeout=wait_ms / 1000 + _MARGIN)


def _ask_all(connection: Any, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    connection.send_packed_command(connection.pack_commands(commands))
    replies: list[Any] = []
    refused: redis.ResponseError | None = None
    for _ in commands:
        try:
            replies.append(connection.read_response())
        except redis.ResponseError as error:
            refused = refused or error
    if refused:
        raise refused
    return replies


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
