"""How many appends a second one process gets into the log, with so many writers at once, against peers in the same run.

Peers: PyPI ``umadb`` (``make peers`` installs it), an event store with a writer of its own that groups commits, each writer with
an append condition as an event store's user has one; and ``redis-benchmark`` (or ``valkey-benchmark``) with a bare XADD at the
house's own server, which is the limit. A peer that is not here is said to be missing.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Barrier, Event, Thread
from typing import Any, Final

from services.embedded import EmbeddedStore
from services.keys import Keys
from services.store import Store, connect, fix_partitions
from tests.support.ports import free_ports

WRITERS: Final = (1, 32, 128)
SECONDS: Final = 2.0
ROUNDS: Final = 5
NOW: Final = 1_800_000_000_000
CARD: Final = b'{"n":57,"t":"card_played","at":1800000000000,"seat":2,"card":"QS"}'
SNAPSHOT: Final = bytes(1200)
"""As long as that of a table in play; every eighth append carries one."""

Writer = Callable[[int, int], object]
"""Appends event ``seq`` of the writer's own game."""


def rate_of(writers: int, write: Writer) -> float:
    """Appends a second by so many threads, each with a game of its own, whose events it appends one by one."""
    start, stop, counts = Barrier(writers + 1), Event(), [0] * writers

    def run(number: int) -> None:
        start.wait()
        while not stop.is_set():
            write(number, counts[number])
            counts[number] += 1

    threads = [Thread(target=run, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    stop.wait(SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


@contextmanager
def house(fsync: str) -> Iterator[tuple[Callable[[int], float], Callable[[int], float | None]]]:
    """The rates of the house, and of the bare XADD at its server, by the number of writers."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedStore(Path(folder), fsync) as server:
        client = connect(server.url)
        store = Store(client, Keys(fix_partitions(client, 64)))
        turn = 0

        def ours(writers: int) -> float:
            nonlocal turn
            turn += 1

            def write(number: int, seq: int) -> object:
                snapshot = SNAPSHOT if seq % 8 == 7 else b""
                game = f"{turn}/{writers}/{number}"
                return store.append(game, seq, [(CARD, b"")], now=NOW, due=NOW + 60_000, snapshot=snapshot)

            return rate_of(writers, write)

        yield ours, lambda writers: bare(str(server.socket), writers)
        client.close()


def bare(socket: str, writers: int) -> float | None:
    """XADD a second as the server's own benchmark measures it; none where that is not installed."""
    program = shutil.which("valkey-benchmark") or shutil.which("redis-benchmark")
    if program is None:
        return None
    count = str(max(2_000, 300 * writers))
    command = [
        program,
        "-s",
        socket,
        "-c",
        str(writers),
        "-n",
        count,
        "--csv",
        "XADD",
        "bench",
        "*",
        "p",
        "x" * len(CARD),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1].split('","')[1])


@contextmanager
def umadb() -> Iterator[Callable[[int], float] | None]:
    """The rate of the peer; none where it is not installed."""
    if importlib.util.find_spec("umadb") is None:
        yield None
        return
    import umadb as peer

    port = free_ports()
    with tempfile.TemporaryDirectory() as folder:
        script = "import umadb.umadb_server_cli as cli; cli.main()"
        command = [sys.executable, "-c", script, "--listen", f"127.0.0.1:{port}", "--db-path", folder]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                client = _reached(peer, port)
                turn = 0

                def theirs(writers: int) -> float:
                    nonlocal turn
                    turn += 1
                    last: dict[int, int] = {}

                    def write(number: int, seq: int) -> None:
                        tag = f"{turn}/{writers}/{number}"
                        mine = peer.Query(items=[peer.QueryItem(tags=[tag])])
                        event = peer.Event(event_type="card_played", data=CARD, tags=[tag])
                        condition = peer.AppendCondition(mine, after=last.get(number))
                        last[number] = client.append([event], condition)

                    return rate_of(writers, write)

                yield theirs
            finally:
                server.kill()


def _reached(peer: Any, port: int) -> Any:
    end = time.monotonic() + 30
    while True:
        try:
            client = peer.Client(f"http://127.0.0.1:{port}")
            client.head()
        except Exception:
            if time.monotonic() > end:
                raise
            Event().wait(0.05)
        else:
            return client


def bench_commits() -> None:
    """Print appends a second with fsync always and everysec, and ratios to the peers in the same round."""
    with umadb() as peer:
        for fsync in ("always", "everysec"):
            with house(fsync) as (ours, limit):
                print(f"\nAppends by one process, fsync {fsync}; {ROUNDS} rounds of {SECONDS:g} s")
                for writers in WRITERS:
                    _tell(writers, ours, limit, peer if fsync == "always" else None)
    if peer is None:
        print("  umadb is not installed: make peers")


def _tell(
    writers: int,
    ours: Callable[[int], float],
    limit: Callable[[int], float | None],
    peer: Callable[[int], float] | None,
) -> None:
    rounds = [(ours(writers), limit(writers), peer(writers) if peer else None) for _ in range(ROUNDS)]
    words = f"  {writers:>3} writers: {median(one[0] for one in rounds):>8,.0f} appends/s"
    bares = [(mine, other) for mine, other, _ in rounds if other]
    if bares:
        words += (
            f"; bare XADD {median(o for _, o in bares):>8,.0f}, ratio {median(m / o for m, o in bares):.2f}"
        )
    peers = [(mine, other) for mine, _, other in rounds if other]
    if peers:
        words += f"; umadb {median(o for _, o in peers):>7,.0f}, ratio {median(m / o for m, o in peers):.1f}"
    print(words, flush=True)
