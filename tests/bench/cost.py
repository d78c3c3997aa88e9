"""What a view and the delivery of an event cost a server process, to how many listeners, and in how long a game."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil

from domain.bots import BOTS
from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.audit import ServerKey
from services.embedded import EmbeddedStore
from services.folded import Table
from services.keys import Keys
from services.store import Store
from services.tables import Tables
from services.wire import connect
from tests.bench.moves import cpu_seconds, free_port, served

ROUNDS: Final = 5
LISTENERS: Final = (1, 10, 100)
EVENTS: Final = 1_000
"""Delivered to one listener; fewer to many, for the clock of a process ticks in hundredths of a second."""
VIEWS: Final = 1_000
LONG: Final = 5_000
"""Events of a long game; the short one has a few."""


def bench_cost(folder: Path) -> None:
    """Print CPU of a view, and of an event for each of some listeners, as ratios; and how they grow with the game."""
    with EmbeddedStore(folder, "everysec") as store:
        house_port, bare_port = free_port(), free_port()
        environ = {"HEARTS_DATA": str(folder), "HEARTS_PORT": str(house_port)}
        bare_command = [sys.executable, str(Path(__file__).with_name("bare.py")), store.url, str(bare_port)]
        house_command = [sys.executable, "-m", "services.cli", "serve"]
        with (
            served(bare_command, bare_port, {}) as bare,
            served(house_command, house_port, environ) as house,
        ):
            tables = Tables(Store(connect(store.url), Keys(64)), ServerKey(bytes(32)), lambda: 0, os.urandom)
            server = _store_process(store.url)
            short, long = _bots_game(tables, 0), _bots_game(tables, LONG)
            _views(house, bare, house_port, bare_port, short, long)
            _events(house, server, store.url, house_port, tables)


def _store_process(url: str) -> psutil.Process:
    return psutil.Process(int(connect(url).info("server")["process_id"]))


def _bots_game(tables: Tables, events: int) -> Table:
    """A game of bots that has come so far."""
    rules = ruleset_of({"variant": "basic", "target": 1_000_000})
    plans = [SeatPlan(kind="bot", bot=BOTS["rules"].id)] * 4
    table = tables.open(rules, plans, chain=4096).table
    while table.seq < events:
        table = tables.act_for_house(table.state.game, 64)
    return table


class _Line:
    """A kept-open connection that reads answers of a known kind without decoding them."""

    def __init__(self, port: int, path: str, accept: str = "application/json") -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 30)
        self._request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n".encode()

    def ask(self) -> None:
        """Send the request and read its answer whole."""
        self.send()
        head, _, body = self.read_until(b"\r\n\r\n").partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")
        )
        while len(body) < length:
            body += self._socket.recv(65536)

    def send(self) -> None:
        """Send the request."""
        self._socket.sendall(self._request)

    def read_until(self, end: bytes) -> bytes:
        """All that comes up to ``end``, and what has come with it."""
        found = b""
        while end not in found:
            found += self._socket.recv(65536)
        return found

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def _cpu_us(process: psutil.Process, work: Callable[[], None], times: int) -> float:
    start = cpu_seconds(process)
    for _ in range(times):
        work()
    return (cpu_seconds(process) - start) / times * 1e6


def _views(
    house: psutil.Process, bare: psutil.Process, house_port: int, bare_port: int, short: Table, long: Table
) -> None:
    lines = {
        "bare Flask + marshmallow + GET": (bare, _Line(bare_port, "/view")),
        f"a view of a game of {short.seq} events": (
            house,
            _Line(house_port, f"/v1/games/{short.state.game}"),
        ),
        f"a view of a game of {long.seq} events": (house, _Line(house_port, f"/v1/games/{long.state.game}")),
    }
    figures: dict[str, list[float]] = {name: [] for name in lines}
    for process, line in lines.values():
        _cpu_us(process, line.ask, VIEWS // 10)
    for _ in range(ROUNDS):
        for name, (process, line) in lines.items():
            figures[name].append(_cpu_us(process, line.ask, VIEWS))
    print("\nA view over HTTP: CPU of the server process, one client")
    peer = figures["bare Flask + marshmallow + GET"]
    for name, values in figures.items():
        ratio = statistics.median(value / other for value, other in zip(values, peer, strict=True))
        print(f"  {name:<36}: {statistics.median(values):6.0f} us   {ratio:.2f} times the bare route")


def _events(house: psutil.Process, server: psutil.Process, url: str, house_port: int, tables: Tables) -> None:
    print("\nAn event to a listener: CPU of server and store for each listener   (peer: redis-cli XREAD)")
    peer = statistics.median(_xread_us(server, url) for _ in range(ROUNDS))
    print(f"  redis-cli XREAD BLOCK               : {peer:6.0f} us")
    for before in (0, LONG):
        for count in LISTENERS:
            table = _bots_game(tables, before)
            us = _delivery_us(house, server, house_port, tables, table, count)
            told = f"{count} listeners, game of {table.seq:,} events"
            print(f"  {told:<36}: {us:6.0f} us   {us / peer:.2f} times the peer")


def _delivery_us(
    house: psutil.Process, server: psutil.Process, port: int, tables: Tables, table: Table, count: int
) -> float:
    """CPU of API and store for an event, less what its append costs the store, for each of ``count`` listeners."""
    game = table.state.game
    lines = [
        _Line(port, f"/v1/games/{game}/events?after={table.seq}", "application/x-ndjson")
        for _ in range(count)
    ]
    for line in lines:
        line.send()
        line.read_until(b"\r\n\r\n")

    def happen() -> None:
        seq = tables.act_for_house(game, 1).seq
        for line in lines:
            line.read_until(b'{"seq":%d,' % seq)

    for _ in range(10):
        happen()
    alone = _bots_game(tables, 0).state.game
    append = _cpu_us(server, lambda: tables.act_for_house(alone, 1) and None, EVENTS)
    start = cpu_seconds(house) + cpu_seconds(server)
    times = max(EVENTS // 4, EVENTS // count)
    for _ in range(times):
        happen()
    spent = (cpu_seconds(house) + cpu_seconds(server) - start) / times * 1e6
    for line in lines:
        line.close()
    return (spent - append) / count


def _xread_us(server: psutil.Process, url: str) -> float:
    """CPU of a client that reads events by XREAD BLOCK, and of the store for it, an event."""
    tool = shutil.which("redis-cli") or shutil.which("valkey-cli")
    if tool is None:
        raise SystemExit("this benchmark wants redis-cli or valkey-cli, of the package redis-tools or valkey")
    client = connect(url)
    where = url.removeprefix("unix://").partition("?")[0]
    with subprocess.Popen(
        [tool, "-s", where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        entry = "0-0"

        def read_one() -> None:
            nonlocal entry
            fields = {"p": '{"n":57,"t":"card_played","at":1700000000000,"seat":2,"card":"JC","by":"bot"}'}
            assert process.stdin
            assert process.stdout
            process.stdin.write(f"XREAD BLOCK 5000 STREAMS bench:xread {entry}\n")
            process.stdin.flush()
            entry = client.xadd("bench:xread", fields).decode()
            while "JC" not in process.stdout.readline():
                pass

        cli = psutil.Process(process.pid)
        for _ in range(10):
            read_one()
        append = _cpu_us(server, lambda: client.xadd("bench:append", {"p": "x"}) and None, 5 * EVENTS)
        start = cpu_seconds(cli) + cpu_seconds(server)
        for _ in range(5 * EVENTS):
            read_one()
        used = (cpu_seconds(cli) + cpu_seconds(server) - start) / (5 * EVENTS) * 1e6 - append
        process.stdin.close()
    return used
