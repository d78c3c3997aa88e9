"""What the benchmarks over HTTP have in common: servers, their CPU, connections to them, and games of some length."""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from domain.bots import BOTS
from domain.cards import NAMES, distinct_cards
from domain.commands import GetReady, PlayCard, SeatPlan
from domain.rules import legal_plays
from domain.variants import ruleset_of
from services.audit import load_key
from services.embedded import EmbeddedStore
from services.folded import Table
from services.keys import Keys
from services.store import Store
from services.tables import Tables
from services.wire import connect

ROOT: Final = Path(__file__).resolve().parents[2]
WITHOUT_LIMITS: Final = {
    f"HEARTS_RATE_{one}": "" for one in ("PLAYER", "ADDRESS", "NEW_PLAYERS", "BAD_TOKENS")
}
LENGTHS: Final = (60, 1_000, 5_000)
"""Events of a game that is measured, about: each has come to the same place in a hand, and grows where it is played at."""
HELD: Final = 32
"""Cards that are still held there."""
WARM_UP: Final = 40
"""Calls of a server before its CPU counts: while others were asked, it has gone cold."""
RULES: Final = {"variant": "basic", "pass_count": 0, "target": 1_000_000}
LINKS: Final = 4_096
"""Hands that a game may have."""


class Cpu:
    """The CPU that some processes have spent, in seconds, to the nanosecond."""

    def __init__(self, *pids: int) -> None:
        self._pids = pids

    @property
    def seconds(self) -> float:
        """What they have spent so far, threads that have ended included, children not."""
        # the clock of another process: its number inverted, and the mark of the scheduler's clock (Linux)
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self._pids)

    def us(self, work: Callable[[], object], times: int = 1) -> float:
        """Microseconds that they spend while ``work`` is called so often, for each time."""
        start = self.seconds
        for _ in range(times):
            work()
        return (self.seconds - start) / times * 1e6


@dataclass(frozen=True)
class Server:
    """A server process and what it spends."""

    port: int
    pid: int
    cpu: Cpu


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def served(command: list[str], port: int, environ: Mapping[str, str]) -> Iterator[Server]:
    """A server process that answers on ``port``."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            deadline, pause = time.monotonic() + 60, threading.Event()
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if time.monotonic() > deadline or process.poll() is not None:
                        raise SystemExit(f"{command} does not answer") from None
                    pause.wait(0.05)
            # the port is there before the process that answers
            line = Line(port)
            line.send("GET", "/livez")
            line.read_until(b"\r\n\r\n")
            line.close()
            family = [process.pid, *(one.pid for one in psutil.Process(process.pid).children(recursive=True))]
            yield Server(port, family[-1], Cpu(*family))
        finally:
            process.terminate()


@contextmanager
def house(folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[Server]:
    """An API process of the house on the store of ``folder``."""
    port = free_port()
    environ = {"HEARTS_DATA": str(folder), "HEARTS_PORT": str(port), **(environ or {})}
    with served([sys.executable, "-m", "services.cli", "serve"], port, environ) as server:
        yield server


@contextmanager
def bare_route(url: str) -> Iterator[Server]:
    """The bare application on the store at ``url``, under the same server."""
    port = free_port()
    with served(
        [sys.executable, str(Path(__file__).with_name("bare.py")), url, str(port)], port, {}
    ) as server:
        yield server


def store_cpu(store: EmbeddedStore) -> Cpu:
    """What the store spends."""
    return Cpu(int(connect(store.url).info("server")["process_id"]))


def tables_of(folder: Path, store: EmbeddedStore) -> Tables:
    """Tables on the store of a house, with its key."""
    key = load_key(folder / "server.key", os.urandom)
    return Tables(Store(connect(store.url), Keys(64)), key, lambda: time.time_ns() // 1_000_000, os.urandom)


def bots_game(tables: Tables, events: int) -> Table:
    """A game of bots that has come so far, and goes on when the house acts."""
    plans = [SeatPlan(kind="bot", bot=BOTS["rules"].id)] * 4
    table = tables.open(ruleset_of(RULES), plans, chain=LINKS).table
    while table.seq < events:
        table = tables.act_for_house(table.state.game, min(64, events - table.seq))
    return table


class Line:
    """A kept-open connection that reads the answer to a request without decoding it.

    With ``apart`` it sends a body in a packet of its own, as most clients in Python do.
    """

    def __init__(self, port: int, *, apart: bool = False) -> None:
        self._apart = apart
        self._socket = socket.create_connection(("127.0.0.1", port), 30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(
        self,
        method: str,
        path: str,
        token: str = "",
        body: Mapping[str, Any] | None = None,
        *,
        known: str = "",
    ) -> bytes:
        """The body of the answer; none where it is that nothing has changed. Raises `RuntimeError` for a refusal."""
        self.send(method, path, token, body, known=known)
        head, _, found = self.read_until(b"\r\n\r\n").partition(b"\r\n\r\n")
        if head.startswith(b"HTTP/1.1 304"):
            return b""
        fields = head.lower().split(b"\r\n")
        length = next(int(one.split(b":")[1]) for one in fields if one.startswith(b"content-length"))
        while len(found) < length:
            found += self._socket.recv(65536)
        if not head.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{method} {path}: {found!r}")
        return found

    def send(
        self,
        method: str,
        path: str,
        token: str = "",
        body: Mapping[str, Any] | None = None,
        accept: str = "application/json",
        known: str = "",
    ) -> None:
        """Send a request."""
        data = b"" if body is None else json.dumps(body).encode()
        fields = [f"{method} {path} HTTP/1.1", "Host: x", f"Accept: {accept}"]
        if token:
            fields.append(f"Authorization: Bearer {token}")
        if known:
            fields.append(f"If-None-Match: {known}")
        if body is not None:
            fields += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        head = "\r\n".join([*fields, "", ""]).encode()
        if self._apart and data:
            self._socket.sendall(head)
            self._socket.sendall(data)
        else:
            self._socket.sendall(head + data)

    def read_until(self, end: bytes) -> bytes:
        """All that comes up to ``end``, and what has come with it."""
        found = b""
        while end not in found:
            piece = self._socket.recv(65536)
            if not piece:
                raise RuntimeError(f"the server has hung up after {found!r:.300}")
            found += piece
        return found

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


class Persons:
    """Four persons who play hands without a pass."""

    def __init__(self, line: Line, tables: Tables) -> None:
        made = [json.loads(line.ask("POST", "/v1/players", "", {"name": f"P{seat}"})) for seat in range(4)]
        self.tables = tables
        self.tokens = [str(one["token"]) for one in made]
        self._ids = [str(one["id"]) for one in made]

    def game(self, events: int) -> Table:
        """A new game of theirs that has come so far, and to the place in a hand, played without HTTP."""
        plans = [SeatPlan(kind="player", player=one) for one in self._ids]
        table = self.tables.open(ruleset_of(RULES), plans, chain=LINKS).table
        for one in self._ids:
            table = self.tables.handle(table.state.game, GetReady(player=one)).table
        while table.seq < events or self._held(table) != HELD:
            seat, card = self.next_card(table)
            table = self.tables.handle(table.state.game, PlayCard(who=self._ids[seat], card=card)).table
        return table

    @staticmethod
    def _held(table: Table) -> int:
        hand = table.state.hand
        return 0 if hand is None else sum(mask.bit_count() for mask in hand.held)

    def next_card(self, table: Table) -> tuple[int, int]:
        """The seat whose turn it is, and a card that it may play."""
        hand = table.state.hand
        assert hand is not None
        return hand.turn, distinct_cards(legal_plays(table.state.terms, hand))[0]

    def move(self, line: Line, game: str) -> None:
        """One card, by whoever's turn it is, over HTTP."""
        seat, card = self.next_card(self.tables.load(game))
        line.ask("POST", f"/v1/games/{game}/moves", self.tokens[seat], {"play": NAMES[card]})


class Side(NamedTuple):
    """A server of a comparison: a connection to it, and what it spends."""

    line: Line
    cpu: Cpu

    def us(self, call: Callable[[], object], times: int) -> float:
        """Microseconds that it spends on each of so many calls, once it is warm."""
        for _ in range(WARM_UP):
            call()
        return self.cpu.us(call, times)


class Compared(NamedTuple):
    """The servers that are measured in turn, all on one store, and persons who play at the house."""

    bare: Side
    limited: Side
    """The house, which counts requests."""
    free: Side
    """The house without limits."""
    persons: Persons


@contextmanager
def compared(folder: Path) -> Iterator[Compared]:
    """The bare route, and the house with and without limits."""
    with (
        EmbeddedStore(folder, "everysec") as store,
        bare_route(store.url) as bare,
        house(folder) as limited,
        house(folder, WITHOUT_LIMITS) as free,
    ):
        sides = [Side(Line(one.port), one.cpu) for one in (bare, limited, free)]
        yield Compared(*sides, Persons(sides[-1].line, tables_of(folder, store)))


WAY: Final = (
    "  median us (its middle half), times the bare route; the rate limiter is off where it is not named"
)
"""How the figures of a comparison are told."""


def spread(values: Sequence[float], form: str = "{:6.0f}") -> str:
    """The median of some values, and between what the middle half of them lies."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{form.format(middle)} ({form.format(low).strip()} to {form.format(high).strip()})"


def ratios(values: Sequence[float], others: Sequence[float]) -> str:
    """The ratio of two measures that were taken in turn."""
    return spread([one / other for one, other in zip(values, others, strict=True)], "{:4.2f}")
