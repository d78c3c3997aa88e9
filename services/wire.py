"""The line to a Redis or Valkey server: connecting, plain commands, scripts, and what can go wrong.

Under `services.store` and `services.feed`, which decide what is sent.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha1
from typing import Any, Final

import redis
from hiredis import pack_command
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel
from redis.utils import HIREDIS_AVAILABLE

from services.addresses import Address, read_address
from services.key_types import wrong_types
from services.retries import READS, SAFE, pauses

_MARGIN = 5.0
"""Seconds a blocking read may outlast the time it was asked to wait, before the server counts as gone."""


WAIT_MS: Final = 1000
"""How long replicas may take to confirm what was written."""
SENTINEL_SECONDS: Final = 1.0
"""How long a Sentinel may take to answer, before another one is asked."""


class StoreError(Exception):
    """The store could not do what it was asked."""


class StoreUnavailable(StoreError):
    """The server does not answer, or cannot write now. Whether the command was carried out is not known."""


class Unsent(StoreUnavailable):
    """There was no connection, so that nothing was sent, and nothing carried out."""


class NotReplicated(StoreUnavailable):
    """Too few replicas have confirmed what was written: it may be kept, and may be lost with its primary."""

    def __init__(self, confirmed: int, wanted: int) -> None:
        super().__init__(f"{confirmed} of {wanted} replicas have confirmed the write within {WAIT_MS} ms")


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
    """A client of the server at `url` (`services.addresses`), safe for many threads; not of a cluster.

    No connection is made yet. Each thread takes a connection of the pool while it needs one, so a long
    poll keeps nobody waiting. `timeout` is in seconds, for connecting and for each answer. No command that
    writes is repeated (`services.retries`): whether one whose answer was lost has been carried out is for the
    idempotency key to say. Connections that the server closed meanwhile are replaced before they are used; where
    Sentinels name the server they are asked for each connection that is made.

    Raises HiredisMissing, and ValueError for an address of another kind.
    """
    address, options = read_address(url), connection_options(timeout, max_connections)
    if address.kind == "cluster":
        raise ValueError(f"a cluster is no single server: {url}")
    if address.kind == "sentinel":
        return _primary(address, options)
    return redis.Redis.from_url(url, **options)


def connection_options(timeout: float, max_connections: int) -> dict[str, Any]:
    """What every connection of ours is made with. Raises HiredisMissing."""
    if not HIREDIS_AVAILABLE:
        raise HiredisMissing("redis-py does not find hiredis; install it: pip install hiredis")
    return {
        "protocol": 2,
        "decode_responses": False,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "retry": Retry(NoBackoff(), 0),
        "max_connections": max_connections,
    }


def _primary(address: Address, options: dict[str, Any]) -> redis.Redis:
    patience = min(SENTINEL_SECONDS, options["socket_timeout"])
    asked = {"socket_timeout": patience, "socket_connect_timeout": patience, "retry": Retry(NoBackoff(), 0)}
    sentinels: Any = Sentinel(  # type: ignore[no-untyped-call]
        list(address.nodes), sentinel_kwargs=asked | address.sentinel_options
    )
    client: redis.Redis = sentinels.master_for(
        address.service, redis_connect_func=_meet_primary, **options, **address.options
    )
    return client


def _meet_primary(connection: Any) -> None:
    """Begin a connection; Sentinels name the old primary for a moment after another one was chosen."""
    connection.on_connect()
    connection.send_command("ROLE")
    role = connection.read_response()[0]
    if role != b"master":
        raise redis.ConnectionError(f"the server that Sentinel named is a {role.decode()} now")


class Wire:
    """Commands over a client's pool, replies as the parser gives them.

    redis-py would make a dict and a tuple of each stream entry, which takes longer than reading it. Connections of the
    pool are kept here between commands: taking and giving one back costs redis-py 20 us, a third of a small command.

    Whatever is written counts as done only when so many `replicas` have confirmed it; with none, no word is lost on it.
    """

    def __init__(self, client: redis.Redis, replicas: int = 0) -> None:
        self.replicas = replicas
        self.pool = client.connection_pool
        self._timeout: float = self.pool.connection_kwargs.get("socket_timeout") or 0.0
        self._idle: list[Any] = []
        self._pid = os.getpid()
        self._talking = 0  # about: how many threads are in an exchange
        self._rests = 0  # answers still slept for since one that was watched for in vain

    def call(self, *command: Any, wait_ms: int | None = None) -> Any:
        """The reply to one command; `wait_ms` is how long a blocking one may take.

        Raises StoreUnavailable, or redis.ResponseError for what the server refuses.
        """
        if self.replicas and command[0] not in READS:
            return self.pipeline((command,))[0]
        packed = pack_command(command)
        read = self._read if wait_ms is None else lambda c: c.read_response(timeout=wait_ms / 1000 + _MARGIN)
        try:
            return self._talk(packed, read, command[0] in SAFE)
        except redis.ResponseError as error:
            raise self._refusal(error, (command,)) from error

    def pipeline(self, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The replies to several commands sent at once. Raises as `call` does, after reading them all."""
        if not commands:
            return []
        replies, refused = self.exchange(commands)
        if refused is not None:
            raise self._refusal(refused, commands) from refused
        return replies

    def exchange(self, commands: Sequence[tuple[Any, ...]]) -> tuple[list[Any], redis.ResponseError | None]:
        """The replies to commands sent at once, refusals in their places, and the first of these.

        Raises StoreUnavailable.
        """
        awaited = self.replicas and any(command[0] not in READS for command in commands)
        if awaited:
            commands = [*commands, ("WAIT", self.replicas, WAIT_MS)]
        packed = b"".join([pack_command(command) for command in commands])
        safe = all(command[0] in SAFE for command in commands)
        replies, refused = self._talk(packed, lambda c: self._read_all(c, len(commands)), safe)
        if awaited:
            self._check_confirmed(replies.pop(), replies)
        return replies, refused

    def _check_confirmed(self, confirmed: Any, replies: Sequence[Any]) -> None:
        """Raise StoreUnavailable where something was carried out, and WAIT says that too few replicas have it."""
        if all(isinstance(reply, redis.ResponseError) for reply in replies):
            return
        if isinstance(confirmed, redis.ResponseError):  # this server is a replica
            self._drop_idle()
            raise StoreUnavailable(str(confirmed))
        if confirmed < self.replicas:
            self._drop_idle()  # Sentinels, where there are any, may know another primary by now
            raise NotReplicated(confirmed, self.replicas)

    def read_streams(
        self, head: tuple[Any, ...], cursors: Mapping[str, bytes | str], block_ms: int
    ) -> Sequence[Any]:
        """The answer of XREAD or XREADGROUP, without its streams in `head`: pairs of a stream and its raw entries.

        Those streams left out that have none; waits `block_ms` where no stream has any.
        """
        block = ("BLOCK", block_ms) if block_ms > 0 else ()  # BLOCK 0 would wait for ever
        command = (*head, *block, "STREAMS", *cursors, *cursors.values())
        return self.call(*command, wait_ms=max(0, block_ms)) or ()

    def scan(self, pattern: str, count: int) -> Iterator[list[bytes]]:
        """Pages of the keys that a pattern matches; a key may come twice, and one made meanwhile not at all."""
        cursor = b"0"
        while True:
            cursor, found = self.call("SCAN", cursor, "MATCH", pattern, "COUNT", count)
            yield found
            if cursor == b"0":
                return

    def everywhere(self, *command: Any) -> list[Any]:
        """The replies of all primaries to a command that has no key. Raises as `call` does."""
        return [self.call(*command)]

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
            self.everywhere("SCRIPT", "LOAD", script.text)
            return self.pipeline(commands)

    def _refusal(self, error: redis.ResponseError, commands: Sequence[tuple[Any, ...]]) -> Exception:
        """What is raised of a refusal, with the keys in it that hold something of another type than they should."""
        if _cannot_now(error):
            return StoreUnavailable(str(error))
        if "WRONGTYPE" not in str(error):
            return error
        words = dict.fromkeys(word for command in commands for word in command if isinstance(word, str))
        wrong = wrong_types(self.pipeline, words)
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
                self.pool.release(connection)
                raise
            finally:
                self._talking -= 1
            self._idle.append(connection)
            return reply
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self._drop_idle()
            raise StoreUnavailable(str(error)) from error

    def _drop_idle(self) -> None:
        """Close what is connected and not used: it may lead to a server that hangs, or is no primary any more."""
        while self._idle:
            with suppress(IndexError):
                connection = self._idle.pop()
                connection.disconnect()
                self.pool.release(connection)

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
                return self.pool.get_connection()
            if not _has_news(connection):
                return connection
            # the server has closed it, or it holds an answer that nobody waited for
            connection.disconnect()
            self.pool.release(connection)

    def _read(self, connection: Any) -> Any:
        if self._rests:
            self._rests -= 1
        elif self._talking == 1 and not _watch(connection):
            self._rests = _RESTS
        return connection.read_response()

    def _read_all(self, connection: Any, count: int) -> tuple[list[Any], redis.ResponseError | None]:
        replies: list[Any] = []
        refused: redis.ResponseError | None = None
        for _ in range(count):
            try:
                replies.append(connection.read_response() if replies else self._read(connection))
            except redis.ResponseError as error:
                refused = refused or error
                replies.append(error)
        return replies, refused


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
    return isinstance(error, _NOT_NOW) or str(error).startswith(
        ("MISCONF ", "NOREPLICAS ", "BUSY ", "UNBLOCKED ")
    )
