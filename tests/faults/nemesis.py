"""The faults, one class each. What they wait for is an event of the load, never a time."""

from __future__ import annotations

import resource
import socket
import struct
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import urlsplit

import psutil

from services.projections import GROUP
from tests.faults.lines import Replicated
from tests.faults.proxy import Proxy
from tests.faults.world import World, fill, is_gone
from tests.faults.wrapped import AFTER_FOLD
from tests.support.house import until

HOUR_MS: Final = 3_600_000


class Kill:
    """kill -9 of a process of a kind."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.name = f"kill -9 {kind}"

    def strike(self, world: World, rng: Random) -> None:
        """The house brings it back."""
        victim = rng.choice(world.find(self._kind))
        victim.kill()
        until(lambda: is_gone(victim))
        world.recovered()


class Restart:
    """A process of a kind asked to end, as for an update."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.name = f"restart {kind}"

    def strike(self, world: World, rng: Random) -> None:
        """It ends in order, and the house brings it back."""
        victim = rng.choice(world.find(self._kind))
        victim.terminate()
        until(lambda: is_gone(victim))
        world.recovered()


class Stop:
    """SIGSTOP of a process of a kind, and SIGCONT once calls have felt it."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.name = f"SIGSTOP {kind}"

    def strike(self, world: World, rng: Random) -> None:
        """Callers of a store or API that hangs wait in vain; a projector is not missed by them."""
        victim = world.find(self._kind)[
            -1 if self._kind == "api" else rng.randrange(len(world.find(self._kind)))
        ]
        victim.suspend()
        try:
            if self._kind in ("store", "api"):
                world.losses()
            elif self._kind == "projector":
                world.progress()
            else:
                world.calls()
        finally:
            victim.resume()
        world.recovered()


class WholeHouse:
    """`hearts up` ended, or killed, and started again on its folder."""

    def __init__(self, *, kill: bool) -> None:
        self._kill = kill
        self.name = "kill -9 hearts up" if kill else "restart hearts up"

    def strike(self, world: World, rng: Random) -> None:
        """It takes up where it was."""
        world.begin_again(kill=self._kill)
        world.recovered()


def append_only_file(world: World) -> Path:
    """The file that the embedded store appends to."""
    return max((world.data / "store" / "appendonlydir").glob("*.incr.aof"))


class _WhileDown:
    """What is done to the files of the embedded store after its server was killed, before anybody starts it again."""

    def strike(self, world: World, rng: Random) -> None:
        up = psutil.Process(world.house.process.pid)
        (server,) = world.find("store")
        up.suspend()
        try:
            server.kill()
            until(lambda: is_gone(server))
            self.spoil(world, append_only_file(world), rng)
        finally:
            up.resume()
        self.mend(world)
        world.recovered()

    def spoil(self, world: World, file: Path, rng: Random) -> None:
        raise NotImplementedError

    def mend(self, world: World) -> None:
        """What an operator does about it, where something is to be done."""


class TornTail(_WhileDown):
    """A power cut in the middle of a write that nobody was told is done."""

    name = "torn end of the append-only file"

    def spoil(self, world: World, file: Path, rng: Random) -> None:
        """Leave the first half of an append, which must not be there in part."""
        append = _resp("MULTI") + _resp("XADD", "h:{p00}:g:torn", "1-0", "p", "torn")
        append += _resp("ZADD", "h:{p00}:due", "1", "torn")
        with file.open("ab") as tail:
            tail.write(append[: len(append) - rng.randrange(1, 40)])

    def mend(self, world: World) -> None:
        """Nothing; `hearts up` says what it has found."""
        until(lambda: "ended in the middle of a write" in world.house.told())


class DamagedByte(_WhileDown):
    """A byte changed in the middle of the append-only file, so that it cannot be read; and the copy put back."""

    name = "damaged append-only file"

    def spoil(self, world: World, file: Path, rng: Random) -> None:
        """Change the sign that begins a command."""
        self._file, self._whole = file, file.read_bytes()
        begin = self._whole.index(b"\r\n*", rng.randrange(len(self._whole) // 2))
        file.write_bytes(self._whole[: begin + 2] + b"?" + self._whole[begin + 3 :])

    def mend(self, world: World) -> None:
        """It is not started, and told why and what to do."""
        until(lambda: "append-only file is damaged" in world.house.told())
        self._file.write_bytes(self._whole)


class FullDisk:
    """A disk on which nothing more goes, and then does again."""

    name = "full disk"

    def strike(self, world: World, rng: Random) -> None:
        """Where no disk may be mounted, the server's files may not grow, for as long as it lives."""
        if not world.data.parent.is_mount():
            (server,) = world.find("store")
            size = append_only_file(world).stat().st_size
            resource.prlimit(
                server.pid, resource.RLIMIT_FSIZE, (size + rng.randrange(200), resource.RLIM_INFINITY)
            )
            until(lambda: is_gone(server))
        else:
            filler = fill(world.data.parent)
            try:
                world.losses(3)
                until(lambda: "the disk" in world.house.told())
            finally:
                filler.unlink()
        world.recovered()


class ClockJump:
    """The clock of all processes jumps by an hour, and back."""

    def __init__(self, hours: int) -> None:
        self._ms = hours * HOUR_MS
        self.name = f"clock {hours:+} h and back"

    def strike(self, world: World, rng: Random) -> None:
        """Play goes on at once, whichever way it jumped."""
        for ahead in (self._ms, 0):
            spare = world.clock.with_suffix(".new")
            spare.write_text(str(ahead))
            spare.replace(world.clock)
            world.progress()


class Deliveries:
    """Pointers of the feeds given out twice, late and in another order."""

    name = "deliveries again, late, disordered"

    def strike(self, world: World, rng: Random) -> None:
        """Some go to a reader that never comes back; some are made up of old ones; then all are given out once more."""
        services = world.services
        services.feed.read_group(GROUP, "lost", 200, 5)
        games = list(services.store.games())
        old = [(game, rng.randint(1, max(1, services.store.last(game)))) for game in games for _ in range(3)]
        rng.shuffle(old)
        for game, seq in old:
            services.feed.point(game, seq)
        world.progress()
        for partition in range(services.keys.partitions):
            services.store.wire.call("XGROUP", "SETID", services.keys.feed(partition), GROUP, "0")
        world.progress()


class DiesBetween:
    """A projector that dies when it has folded and not acknowledged."""

    name = "death between fold and acknowledge"

    def strike(self, world: World, rng: Random) -> None:
        """What it leaves is folded by the next, without effect."""
        world.death.write_text(AFTER_FOLD)
        until(lambda: not world.death.exists())
        world.recovered()


class SlowStore:
    """A store whose every answer comes late."""

    name = "slow store"

    def __init__(self, line: Proxy) -> None:
        self._line = line

    def strike(self, world: World, rng: Random) -> None:
        """Play goes on, more slowly; then so slowly that answers are lost."""
        try:
            self._line.delay = 0.05
            world.progress()
            self._line.delay = 1.0
            world.losses()
        finally:
            self._line.delay = 0.0
        world.recovered()


class BrokenLine:
    """Connections to the store that break in the middle of what they carry."""

    name = "broken lines to the store"

    def __init__(self, line: Proxy) -> None:
        self._line = line

    def strike(self, world: World, rng: Random) -> None:
        """Whether a command was carried out is not known when its answer is lost."""
        for _ in range(5):
            self._line.drop()
            world.progress(3)


class Partition:
    """A primary cut off from its replica, which goes on without it: an operator promotes it."""

    name = "partitioned primary, promoted replica"

    def __init__(self, pair: Replicated, *, waits: bool) -> None:
        self._pair, self._waits = pair, waits

    def strike(self, world: World, rng: Random) -> None:
        """While it is cut off nobody is told that a command is done, if the house waits for the replica."""
        pair = self._pair
        # a read does not wait for replicas: it may tell what the primary has and nobody was told is done
        world.reads_last = not self._waits
        until(pair.is_in_step)
        pair.link.cut()
        if self._waits:
            world.losses(3)
        else:
            world.progress()
        pair.promote()
        world.recovered()


class Storm:
    """Hundreds of connections opened and dropped, and others that never say what they want."""

    name = "connection storm"
    MANY, SLOW = 300, 100

    def strike(self, world: World, rng: Random) -> None:
        """Who plays is served all the while, and so is who comes."""
        where = urlsplit(world.house.url)
        address = (where.hostname or "", where.port or 0)
        with ExitStack() as stack:
            for _ in range(self.SLOW):
                slow = stack.enter_context(socket.create_connection(address))
                slow.sendall(b"POST /v1/games HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            for number in range(self.MANY):
                with socket.create_connection(address) as end:
                    end.sendall(b"GET /v1/variants HTTP/1.1\r\nHost: x\r\n\r\n"[: number % 40])
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            world.progress()
            world.answered()


def _resp(*words: str) -> bytes:
    """A command as it stands in an append-only file."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w.encode()) for w in words)
