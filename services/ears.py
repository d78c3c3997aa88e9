"""What tells a reader of many streams of a cluster that there is news in one of them.

A node lets a client wait for streams of one slot only, and every partition has its own. So each node is asked to name
the streams that change (CLIENT TRACKING, which is meant for caches), on one connection, and those are read that it names.
"""

from __future__ import annotations

import select
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any, Final

import redis

GLANCE_SECONDS: Final = 0.02
"""How long a reader rests between two looks at all streams where a node does not tell."""
_CHANNEL: Final = "__redis__:invalidate"


class Ears:
    """Connections on which the nodes of a cluster name those of `streams` that change. For one thread."""

    def __init__(self, streams: Iterable[str]) -> None:
        self.streams = frozenset(streams)
        self._connections: dict[Any, Any] = {}
        """By the pool that each was taken from."""
        self._deaf = False

    def attach(self, pools: Collection[Any]) -> None:
        """Listen to the nodes with these pools, and to no others. Raises redis-py's errors of connections."""
        for pool in self._connections.keys() - set(pools):
            self._drop(pool)
        for pool in pools:
            if pool not in self._connections and not self._deaf:
                self._listen(pool)

    def wait(self, seconds: float) -> frozenset[str]:
        """Those that have changed since they were read, where a node has said so within some seconds; else none."""
        if self._deaf:
            time.sleep(min(seconds, GLANCE_SECONDS))
            return self.streams
        eye = select.poll()
        for connection in self._connections.values():
            eye.register(connection._sock, select.POLLIN)
        eye.poll(max(1, int(1000 * seconds)))
        changed: set[str] = set()
        for pool, connection in list(self._connections.items()):
            try:
                while connection.can_read(0):
                    _, _, keys = connection.read_response()
                    changed |= self.streams if keys is None else {key.decode() for key in keys}
            except redis.RedisError:
                self._drop(pool)
                changed |= self.streams  # whoever reads them finds out what has happened
        return self.streams & changed

    def close(self) -> None:
        """Listen to nobody."""
        for pool in list(self._connections):
            self._drop(pool)

    # --- inside

    def _listen(self, pool: Any) -> None:
        connection = self._connections[pool] = pool.get_connection()
        prefixes = [word for stream in sorted(self.streams) for word in ("PREFIX", stream)]
        try:
            me = _ask(connection, "CLIENT", "ID")
            _ask(connection, "CLIENT", "TRACKING", "ON", "REDIRECT", me, "BCAST", *prefixes)
            _ask(connection, "SUBSCRIBE", _CHANNEL)
        except redis.ResponseError:  # such as of a user who may not
            self._deaf = True
            self.close()
        except BaseException:
            self._drop(pool)
            raise

    def _drop(self, pool: Any) -> None:
        connection = self._connections.pop(pool)
        with suppress(redis.RedisError):
            connection.disconnect()
        pool.release(connection)


def _ask(connection: Any, *command: Any) -> Any:
    connection.send_command(*command)
    return connection.read_response()
