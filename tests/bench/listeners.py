"""What it costs to tell listeners of an event, to let one catch up, and to keep those to whom nothing is told."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from services.embedded import EmbeddedStore
from services.tables import Tables
from services.wire import connect
from tests.bench.servers import (
    LENGTHS,
    Cpu,
    Line,
    Server,
    bots_game,
    house,
    ratios,
    spread,
    store_cpu,
    tables_of,
)

ROUNDS: Final = 9
EVENTS: Final = 60
"""Of a round."""
LISTENERS: Final = (1, 10, 100)
NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"
PLACES: Final = {"HEARTS_LISTENERS": "5000"}
"""Enough for those who have hung up too: that is noticed when something is sent to them."""
IDLE: Final = 500
IDLE_SECONDS: Final = 16
"""Longer than the time after which a stream says that it is still there."""


def bench_listeners(folder: Path) -> None:
    """Print CPU of an event for each of some listeners, against `redis-cli XREAD`; and what listeners cost otherwise."""
    with EmbeddedStore(folder, "everysec") as store:
        with house(folder, PLACES) as server:
            tables = tables_of(folder, store)
            both = Both(server.cpu, store_cpu(store), tables)
            with _redis_cli(store.url) as cli:
                _deliver(server, both, cli, store.url)
            _catch_up(server, both)
        with house(folder, PLACES) as fresh:
            idle_bytes(fresh, tables)


@dataclass(frozen=True)
class Both:
    """The two processes that an event costs something."""

    api: Cpu
    store: Cpu
    tables: Tables

    def us(self, happen: Callable[[], object]) -> tuple[float, float]:
        """Microseconds of each for what happens, after it has happened a few times."""
        for _ in range(5):
            happen()
        api, store = self.api.seconds, self.store.seconds
        for _ in range(EVENTS):
            happen()
        per = 1e6 / EVENTS
        return (self.api.seconds - api) * per, (self.store.seconds - store) * per

    def append(self, game: str) -> int:
        """Let one event happen in a game of bots. Returns its seq."""
        return self.tables.act_for_house(game, 1).seq


def _deliver(server: Server, both: Both, cli: subprocess.Popen[str], url: str) -> None:
    alone = bots_game(both.tables, LENGTHS[0]).state.game
    # before anybody listens: what an append costs the store by itself
    appended = [both.us(lambda: both.append(alone))[1] for _ in range(ROUNDS)]
    append = statistics.median(appended)
    figures: dict[str, list[tuple[float, float, int]]] = {}
    peers: list[float] = []
    for number in range(ROUNDS):
        peers.append(_xread_us(both.store, cli, url, f"bench:{number}"))
        for length, count in [(LENGTHS[0], one) for one in LISTENERS] + [(one, 1) for one in LENGTHS[1:]]:
            with listening(server, both, length, count) as happen:
                figures.setdefault(_name(count, length), []).append((*both.us(happen), count))
        with listening(server, both, LENGTHS[0], 1):
            figures.setdefault("1 listener, to another game", []).append(
                (*both.us(lambda: both.append(alone)), 1)
            )
    _tell_delivery(figures, peers, append)


def _tell_delivery(
    figures: dict[str, list[tuple[float, float, int]]], peers: list[float], append: float
) -> None:
    print(f"\nAn event to its listeners: CPU, us; {ROUNDS} rounds of {EVENTS} events, one after the other")
    print(f"  peer: redis-cli XREAD BLOCK, client and store: {spread(peers)}")
    print(f"  the append itself, {append:.0f} us of the store, is left out everywhere")
    print(f"  {'':<38}  {'API process':<21}{'store':<8}{'a listener':<12}times the peer")
    for name, rounds in figures.items():
        each = [(api + store - append) / count for api, store, count in rounds]
        store_us = statistics.median(store for _, store, _ in rounds) - append
        api = spread([api for api, _, _ in rounds])
        print(f"  {name:<38}: {api:<21}{store_us:<8.0f}{statistics.median(each):<12.0f}{ratios(each, peers)}")
    first, last = (
        [api + store - append for api, store, _ in figures[_name(1, length)]]
        for length in (LENGTHS[0], LENGTHS[-1])
    )
    print(f"  growth, {LENGTHS[-1]:,} events to {LENGTHS[0]}: {ratios(last, first)}   (aim: 1.0)")


def _name(count: int, length: int) -> str:
    return f"{count} listener{'s' * (count > 1)}, game of {length:,} events"


@contextmanager
def listening(server: Server, both: Both, length: int, count: int) -> Iterator[Callable[[], None]]:
    """So many who listen to a new game; what is given lets an event happen, and waits until all have it."""
    table = bots_game(both.tables, length)
    lines = [Line(server.port) for _ in range(count)]
    for line in lines:
        line.send("GET", f"/v1/games/{table.state.game}/events?after={table.seq}", accept=NDJSON)
        line.read_until(b"\r\n\r\n")

    def happen() -> None:
        seq = both.append(table.state.game)
        for line in lines:
            line.read_until(b'{"seq":%d,' % seq)

    try:
        yield happen
    finally:
        for line in lines:
            line.close()


@contextmanager
def _redis_cli(url: str) -> Iterator[subprocess.Popen[str]]:
    """A client at the store, told on its standard input what to ask."""
    tool = shutil.which("redis-cli") or shutil.which("valkey-cli")
    if tool is None:
        raise SystemExit("this benchmark wants redis-cli or valkey-cli, of the package redis-tools or valkey")
    where = url.removeprefix("unix://").partition("?")[0]
    with subprocess.Popen(
        [tool, "-s", where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def _xread_us(store: Cpu, cli: subprocess.Popen[str], url: str, stream: str) -> float:
    """CPU of a client that reads events by XREAD BLOCK, and of the store for it, an event."""
    client = connect(url)
    assert cli.stdin
    assert cli.stdout
    requests, answers, pause = cli.stdin, cli.stdout, threading.Event()
    fields = {"p": '{"n":57,"t":"card_played","at":1700000000000,"seat":2,"card":"JC","by":"bot"}'}
    entry, times = "0-0", 4 * EVENTS

    def read_one() -> None:
        nonlocal entry
        requests.write(f"XREAD BLOCK 5000 STREAMS {stream} {entry}\n")
        requests.flush()
        # so that it waits there, as a listener does
        pause.wait(0.001)
        entry = client.xadd(stream, fields).decode()
        while "JC" not in answers.readline():
            pass

    reader = Cpu(cli.pid)
    append = store.us(lambda: client.xadd(f"{stream}:apart", fields), times)
    for _ in range(5):
        read_one()
    start = reader.seconds + store.seconds
    for _ in range(times):
        read_one()
    return (reader.seconds + store.seconds - start) / times * 1e6 - append


def _catch_up(server: Server, both: Both) -> None:
    print("\nCatching up by a stream: CPU of the API process, us an event")
    for length in LENGTHS[1:]:
        table = bots_game(both.tables, length)
        for told, after in (("its beginning", 0), ("its middle", table.seq // 2)):
            each = []
            for _ in range(ROUNDS):
                before, line = both.api.seconds, Line(server.port)
                line.send("GET", f"/v1/games/{table.state.game}/events?after={after}", accept=SSE)
                line.read_until(b'{"seq":%d,' % table.seq)
                each.append((both.api.seconds - before) * 1e6 / (table.seq - after))
                line.close()
            name = f"game of {length:,} events, from {told}"
            print(f"  {name:<42}: {spread(each, '{:.1f}')}")


def idle_bytes(server: Server, tables: Tables) -> float:
    """Memory of the API process for each of many who listen and are told nothing; the CPU for them is printed."""
    games = [bots_game(tables, 0) for _ in range(IDLE // 10)]
    process, lines = psutil.Process(server.pid), []
    warm = Line(server.port)
    warm.ask("GET", f"/v1/games/{games[0].state.game}")
    before = process.memory_info().rss
    for number in range(IDLE):
        table, line = games[number % len(games)], Line(server.port)
        line.send("GET", f"/v1/games/{table.state.game}/events?after={table.seq}", accept=SSE)
        line.read_until(b"retry: ")
        lines.append(line)
    grown = process.memory_info().rss - before
    start = server.cpu.seconds
    threading.Event().wait(IDLE_SECONDS)
    share = (server.cpu.seconds - start) / IDLE_SECONDS
    print(f"\nIdle listeners: {IDLE} event streams of {len(games)} games on one API process")
    print(f"  memory of each: {grown / IDLE / 1024:.0f} KiB; all of them together: {share:.1%} of a core")
    for line in lines:
        line.close()
    return grown / IDLE
