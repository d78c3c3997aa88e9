"""The line to a cluster: each command goes to the node that has the slot of its key.

redis-py's `RedisCluster` knows the nodes and which slots they have; what is said to a node goes over a `Wire` of its own,
so that it costs what it costs on a single server. A command that a node did not carry out, because the slot has moved
(MOVED, ASK) or is just moving (TRYAGAIN), is sent to where it belongs. One whose answer was lost is never repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock, local
from typing import Any, Final, TypeVar

import redis
from redis.cluster import ClusterNode, RedisCluster
from redis.crc import key_slot

from services.addresses import read_address
from services.ears import Ears
from services.wire import StoreUnavailable, Wire, connect, connection_options

MOST_REDIRECTS: Final = 64
"""How often a command is sent elsewhere before the cluster counts as being in disorder."""
MOVING_SECONDS: Final = 1.0
"""How long a command is offered again whose keys are just moving."""
MOVING_PAUSE: Final = 0.02
"""Between two such offers, in seconds."""
REREAD_SECONDS: Final = 0.1
"""How long the map of a cluster is good for where a node does not answer."""

_KEYLESS: Final = frozenset(["CONFIG", "ECHO", "INFO", "PING", "ROLE", "SCAN", "SCRIPT", "WAIT"])
_UNREACHABLE: Final = (redis.RedisError, redis.exceptions.RedisClusterException, IndexError)
"""What redis-py raises where no node answers, or no slot is given to any."""
_SECOND: Final = frozenset(("XGROUP", "XINFO"))

Command = tuple[Any, ...]
T = TypeVar("T")


def connect_cluster(url: str, *, timeout: float = 5.0, max_connections: int = 1024) -> RedisCluster:
    """A client of the cluster at `url`, safe for many threads. Raises StoreUnavailable, and ValueError as `connect`."""
    address, options = read_address(url), connection_options(timeout, max_connections)
    del options["retry"]  # a node's own is none; this one would be the cluster client's
    nodes = [ClusterNode(host, port) for host, port in address.nodes]  # type: ignore[no-untyped-call]
    try:
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options, **address.options)
    except _UNREACHABLE as error:
        raise StoreUnavailable(f"no node of the cluster answers: {error}") from error


class ClusterWire(Wire):
    """Commands to a cluster. For any thread. What it says of replies and errors is what `Wire` says."""

    def __init__(self, client: RedisCluster, replicas: int = 0) -> None:
        self.replicas = replicas
        self._cluster: Any = client  # its methods have no types
        self._wires: dict[str, Wire] = {}
        self._lock = Lock()
        self._here = local()
        self._failed: str | None = None
        """The node that did not answer, or "" where the map is wrong otherwise, until it is read anew."""
        self._read_at = float("-inf")

    def call(self, *command: Any, wait_ms: int | None = None) -> Any:
        """As `Wire.call`; a blocking command is one with a single key."""
        if wait_ms is None:
            return self.pipeline((command,))[0]
        wire = self._of(command)
        return self._guarded(wire, lambda one: one.call(*command, wait_ms=wait_ms))

    def exchange(self, commands: Sequence[Command]) -> tuple[list[Any], redis.ResponseError | None]:
        """As `Wire.exchange`: what is for one node is sent at once, and to one node after the other."""
        replies: list[Any] = [None] * len(commands)
        waiting = list(range(len(commands)))
        until = time.monotonic() + MOVING_SECONDS
        for _ in range(MOST_REDIRECTS):
            shares: dict[Wire, list[int]] = {}
            for place in waiting:
                shares.setdefault(self._of(commands[place]), []).append(place)
            for wire, places in shares.items():
                told = self._tell(wire, [commands[place] for place in places])
                for place, reply in zip(places, told, strict=True):
                    replies[place] = reply
            waiting = self._redirect(commands, replies, waiting, until)
            if not waiting:
                break
        refused = next((one for one in replies if isinstance(one, redis.ResponseError)), None)
        if isinstance(refused, redis.exceptions.MovedError | redis.exceptions.ClusterDownError):
            self._failed = ""
            raise StoreUnavailable(f"the cluster is in disorder: {refused}") from refused
        return replies, refused

    def read_streams(self, head: Command, cursors: Mapping[str, bytes | str], block_ms: int) -> Sequence[Any]:
        """As `Wire.read_streams`. A node waits for streams of one slot only, so it is listened to instead (`Ears`)."""
        if block_ms <= 0:
            return self._read_now(head, cursors)
        until, ears = time.monotonic() + block_ms / 1000, self._listen(cursors)
        changed: Iterable[str] = cursors
        while True:
            # what is read now, or named by a node later on, is all there is
            found = self._read_now(head, {stream: cursors[stream] for stream in cursors if stream in changed})
            left = until - time.monotonic()
            if found or left <= 0:
                return found
            changed = ears.wait(left)
            if len(changed) == len(cursors):
                ears = self._listen(cursors)

    def scan(self, pattern: str, count: int) -> Iterator[list[bytes]]:
        """As `Wire.scan`, of one primary after the other."""
        for wire in self._primaries():
            yield from wire.scan(pattern, count)

    def everywhere(self, *command: Any) -> list[Any]:
        """As `Wire.everywhere`."""
        return [self._guarded(wire, lambda one: one.call(*command)) for wire in self._primaries()]

    # --- inside

    def _read_now(self, head: Command, cursors: Mapping[str, bytes | str]) -> list[Any]:
        slots: dict[int, list[str]] = {}
        for stream in cursors:
            slots.setdefault(slot_of(stream), []).append(stream)
        asked = [
            (*head, "STREAMS", *streams, *(cursors[stream] for stream in streams))
            for streams in slots.values()
        ]
        return [pair for reply in self.pipeline(asked) for pair in reply or ()]

    def _listen(self, streams: Iterable[str]) -> Ears:
        """The ears of this thread for some streams, at all primaries there are now."""
        ears: Ears | None = getattr(self._here, "ears", None)
        if ears is None or ears.streams != frozenset(streams):
            if ears is not None:
                ears.close()
            ears = self._here.ears = Ears(streams)
        try:
            ears.attach([wire.pool for wire in self._primaries()])
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self._failed = ""
            raise StoreUnavailable(str(error)) from error
        return ears

    def _tell(self, wire: Wire, commands: Sequence[Command]) -> list[Any]:
        return self._guarded(wire, lambda one: one.exchange(commands)[0])

    def _guarded(self, wire: Wire, act: Callable[[Wire], T]) -> T:
        """What ``act`` gives; a node that does not answer is remembered, so that the map is read anew before the next."""
        try:
            return act(wire)
        except StoreUnavailable:
            self._failed = next((name for name, one in self._wires.items() if one is wire), "")
            raise

    def _redirect(
        self, commands: Sequence[Command], replies: list[Any], places: Sequence[int], until: float
    ) -> list[int]:
        """Those of the commands that are to be sent once more, as they were not carried out."""
        again: list[int] = []
        moving = False
        for place in places:
            reply = replies[place]
            # to redis-py a MovedError is an AskError too
            if isinstance(reply, redis.exceptions.AskError) and not _has_moved(reply):
                host, port = reply.host, reply.port
                reply = self._tell(self._at(host, port), [("ASKING",), commands[place]])[1]
                replies[place] = reply
            if _has_moved(reply):
                self._cluster.nodes_manager.move_slot(reply)
                self._failed = ""  # one slot that has moved is seldom alone
                again.append(place)
            elif isinstance(reply, redis.exceptions.TryAgainError) and time.monotonic() < until:
                again.append(place)
                moving = True
        if moving:
            time.sleep(MOVING_PAUSE)
        return again

    def _of(self, command: Command) -> Wire:
        """The line to the node that a command is for."""
        if self._failed is not None:
            self._reread()
        key = key_of(command)
        if key is None:
            return self._primaries()[0]
        nodes = self._cluster.nodes_manager.slots_cache.get(slot_of(key))
        if not nodes:
            self._failed = ""
            raise StoreUnavailable(f"no node of the cluster has the slot of {key!r:.200}")
        return self._line(nodes[0])

    def _primaries(self) -> list[Wire]:
        if self._failed is not None:
            self._reread()
        nodes = sorted(self._cluster.get_primaries(), key=lambda node: str(node.name))
        if not nodes:
            raise StoreUnavailable("no primary of the cluster is known")
        return [self._line(node) for node in nodes]

    def _at(self, host: str, port: int) -> Wire:
        """The line to a node that another one has named."""
        for _ in range(2):
            node = self._cluster.get_node(host, port)
            if node is not None:
                return self._line(node)
            self._failed = ""
            self._reread()
        raise StoreUnavailable(f"the cluster does not know its node {host}:{port}")

    def _line(self, node: Any) -> Wire:
        wire = self._wires.get(node.name)
        client = node.redis_connection or self._cluster.get_redis_connection(node)
        if wire is None or wire.pool is not client.connection_pool:
            wire = self._wires[node.name] = Wire(client, self.replicas)
        return wire

    def _reread(self) -> None:
        """Read anew which node has which slots, where that was not done just now and no other thread is about it."""
        if not self._lock.acquire(blocking=False):
            return  # who waits for a node that hangs must not keep those waiting who need others
        try:
            failed = self._failed
            if failed is None or time.monotonic() - self._read_at < REREAD_SECONDS:
                return
            self._read_at = time.monotonic()
            # idle connections are each wire's to keep, and are found closed where they are
            self._cluster.nodes_manager.initialize(
                disconnect_startup_nodes_pools=False, last_failed_node_name=failed or None
            )
            self._failed = None
        except _UNREACHABLE as error:
            raise StoreUnavailable(f"no node of the cluster answers: {error}") from error
        finally:
            self._lock.release()


def _has_moved(reply: Any) -> bool:
    return isinstance(reply, redis.exceptions.MovedError)


def key_of(command: Command) -> Any:
    """The key by which a command finds its node; none where it has none."""
    name = command[0]
    if name in ("EVALSHA", "EVAL"):
        return command[3] if command[2] else None
    if name in _KEYLESS:
        return None
    if name in ("XREAD", "XREADGROUP"):
        return command[command.index("STREAMS") + 1]
    return command[2 if name in _SECOND else 1]


def slot_of(key: str | bytes) -> int:
    """The slot of a key, 0 to 16383."""
    if isinstance(key, bytes):
        return int(key_slot(key))
    _, opened, rest = key.partition("{")
    tag, closed, _ = rest.partition("}")
    return _slot(tag if opened and closed and tag else key)


@lru_cache(maxsize=8192)
def _slot(tag: str) -> int:
    return int(key_slot(tag.encode()))


Client = redis.Redis | RedisCluster
"""A client of a store of any kind."""


def connect_store(url: str, *, timeout: float = 5.0, max_connections: int = 1024) -> Client:
    """A client of the store at `url`, of whatever kind it is. Raises as `connect` and `connect_cluster` do."""
    made = connect_cluster if read_address(url).kind == "cluster" else connect
    return made(url, timeout=timeout, max_connections=max_connections)


def wire_of(client: Client, replicas: int = 0) -> Wire:
    """A line of its own over a client's connections; writes wait for so many `replicas` of each node."""
    if isinstance(client, RedisCluster):
        return ClusterWire(client, replicas)
    return Wire(client, replicas)
