"""What several servers cost: a replica that confirms each append, and a cluster's nodes, against one server in the same run.

All on this machine, so what a network adds is not in it. fsync is everysec everywhere.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Final

from services.cluster import Client, connect_cluster, wire_of
from services.feed import tails
from services.keys import Keys
from services.store import Store
from services.wire import Wire
from tests.bench.commits import CARD, NOW, rate_of
from tests.support.servers import Nodes, Pair, Server, servers

ROUNDS: Final = 5
READS: Final = 2_000
NEWS: Final = 200
IDLE_SECONDS: Final = 5.0
WRITERS: Final = (1, 16)
KEYS: Final = Keys(64)


def bench_machines() -> None:
    """Appends with and without a replica, appends and reads on a cluster, and readers of its streams."""
    with tempfile.TemporaryDirectory() as folder, servers(Path(folder) / "servers") as some:
        pair = Pair(some)
        nodes = Nodes(some, primaries=3, replicas=0)
        with connect_cluster(nodes.url) as client:
            ways: dict[str, tuple[Client, int]] = {
                "one server": (pair.primary.client, 0),
                "its replica confirms": (pair.primary.client, 1),
                "cluster of 3": (client, 0),
            }
            print("\nAppends a second, one process; the first way is 1")
            for writers in WRITERS:
                _tell(
                    f"{writers} writers", {name: _appends(*way, writers) for name, way in ways.items()}, "/s"
                )
            reads = {name: _reads(wire_of(one)) for name, (one, replicas) in ways.items() if not replicas}
            _tell("one GET", reads, " us")
            _readers(wire_of(client), wire_of(client), nodes.primaries)


def _tell(what: str, found: dict[str, Callable[[], float]], unit: str) -> None:
    rounds = [{name: measure() for name, measure in found.items()} for _ in range(ROUNDS)]
    middle = {name: median(one[name] for one in rounds) for name in found}
    first = next(iter(middle.values()))
    told = "; ".join(f"{name} {value:,.0f}{unit} ({value / first:.2f})" for name, value in middle.items())
    print(f"  {what}: {told}")


def _appends(client: Client, replicas: int, writers: int) -> Callable[[], float]:
    store = Store(client, KEYS, replicas=replicas)

    def measure() -> float:
        mark = time.perf_counter_ns()

        def write(number: int, seq: int) -> object:
            return store.append(f"{mark}/{number}", seq, [(CARD, b"")], now=NOW, due=NOW)

        return rate_of(writers, write)

    return measure


def _reads(wire: Wire) -> Callable[[], float]:
    def measure() -> float:
        began = time.perf_counter()
        for _ in range(READS):
            wire.call("GET", KEYS.snapshot("g"))
        return (time.perf_counter() - began) / READS * 1e6

    return measure


def _readers(reading: Wire, writing: Wire, nodes: list[Server]) -> None:
    """What a reader of all 64 feeds of a cluster costs while nothing happens, and how soon it has news."""
    cursors = tails(reading, [KEYS.feed(partition) for partition in range(KEYS.partitions)])
    began, cpu, served = time.perf_counter(), time.process_time(), _served(nodes)
    while time.perf_counter() - began < IDLE_SECONDS:
        reading.read_streams(("XREAD", "COUNT", 100), cursors, 500)
    seconds = time.perf_counter() - began
    mine, theirs = (time.process_time() - cpu) / seconds, (_served(nodes) - served) / seconds
    print(f"  a reader of 64 feeds of a cluster, idle: {mine:.1%} of a core, {theirs:.1%} at the nodes")
    came, told = Event(), 0.0

    def read() -> None:
        nonlocal told
        for _ in range(NEWS):
            for stream, entries in reading.read_streams(("XREAD", "COUNT", 100), cursors, 10_000):
                cursors[stream.decode()] = entries[-1][0]
            told = time.perf_counter()
            came.set()

    reader, waits = Thread(target=read), []
    reader.start()
    for number in range(NEWS):
        came.clear()
        began = time.perf_counter()
        writing.call("XADD", KEYS.feed(number % KEYS.partitions), "*", "g", "x")
        came.wait(20)
        waits.append(told - began)
    reader.join()
    waits.sort()
    print(
        f"  news in a feed are read after {waits[NEWS // 2] * 1000:.1f} ms, 99 % after {waits[-NEWS // 100] * 1000:.1f}"
    )


def _served(nodes: list[Server]) -> float:
    """Seconds of CPU that the nodes have taken."""
    return sum(one.info("cpu")["used_cpu_sys"] + one.info("cpu")["used_cpu_user"] for one in nodes)
