"""CPU that a server process spends on a move over HTTP, against the bare route under the same server."""

from __future__ import annotations

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from domain.cards import NAMES, distinct_cards
from domain.rules import legal_plays
from services.audit import ServerKey
from services.embedded import EmbeddedStore
from services.folded import Table
from services.keys import Keys
from services.store import Store
from services.tables import Tables
from services.wire import connect

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5
MOVES = 52 * 8
WARM_UP = 52


@contextmanager
def served(command: list[str], port: int, environ: dict[str, str]) -> Iterator[psutil.Process]:
    """A server process that answers on ``port``."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            deadline, pause = time.monotonic() + 30, threading.Event()
            while time.monotonic() < deadline:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    pause.wait(0.05)
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def cpu_seconds(process: psutil.Process) -> float:
    """CPU that a process and its children have spent."""
    family = [process, *process.children(recursive=True)]
    return sum(sum(one.cpu_times()[:2]) for one in family)


class Caller:
    """One kept-open connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def post(self, path: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
        """The decoded answer; raises where the status is no 2xx."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        data: dict[str, Any] = json.loads(answer.read())
        if answer.status >= 300:
            raise RuntimeError(f"{path}: {answer.status} {data}")
        return data


class Players:
    """Four persons who play hands without a pass, each move over HTTP."""

    def __init__(self, caller: Caller, tables: Tables) -> None:
        self._caller, self._tables = caller, tables
        people = [caller.post("/v1/players", {"name": f"P{seat}"}) for seat in range(4)]
        self._tokens = [str(one["token"]) for one in people]
        self._ids = [str(one["id"]) for one in people]
        self._table: Table | None = None

    def move(self) -> None:
        """One card by whoever's turn it is."""
        table = self._table
        if table is None or table.state.phase == "over":
            table = self._open()
        hand = table.state.hand
        assert hand is not None
        card = distinct_cards(legal_plays(table.state.terms, hand))[0]
        game = table.state.game
        self._caller.post(f"/v1/games/{game}/moves", {"play": NAMES[card]}, self._tokens[hand.turn])
        self._table = self._tables.load(game)

    def look(self) -> None:
        """What a move does besides the call, so that both servers wait as long between two calls."""
        assert self._table is not None
        self._table = self._tables.load(self._table.state.game)

    def _open(self) -> Table:
        seats: list[Any] = ["me", *({"player": one} for one in self._ids[1:])]
        rules = {"variant": "basic", "pass_count": 0, "target": 100_000}
        opened = self._caller.post("/v1/games", {**rules, "seats": seats}, self._tokens[0])
        path = f"/v1/games/{opened['id']}"
        for token in self._tokens[1:]:
            self._caller.post(f"{path}/seats", {}, token)
        for token in self._tokens:
            self._caller.post(f"{path}/ready", {}, token)
        return self._tables.load(opened["id"])


def bench_moves(folder: Path) -> None:
    """Print CPU a move of the house, of the bare route, and the ratio."""
    with EmbeddedStore(folder, "everysec") as store:
        house_port, bare_port = free_port(), free_port()
        environ = {"HEARTS_DATA": str(folder), "HEARTS_PORT": str(house_port)}
        bare_command = [sys.executable, str(Path(__file__).with_name("bare.py")), store.url, str(bare_port)]
        house_command = [sys.executable, "-m", "services.cli", "serve"]
        with (
            served(bare_command, bare_port, {}) as bare,
            served(house_command, house_port, environ) as house,
        ):
            client = connect(store.url)
            log = Store(client, Keys(64))
            tables = Tables(log, ServerKey(bytes(32)), lambda: 0, os.urandom)
            players, plain = Players(Caller(house_port), tables), Caller(bare_port)
            ratios, house_us, bare_us = [], [], []
            for _ in range(WARM_UP):
                players.move()
                plain.post("/moves", {"play": "QS"})
            for _ in range(ROUNDS):
                start = cpu_seconds(house)
                for _ in range(MOVES):
                    players.move()
                house_us.append((cpu_seconds(house) - start) / MOVES * 1e6)
                start = cpu_seconds(bare)
                for _ in range(MOVES):
                    plain.post("/moves", {"play": "QS"})
                    players.look()
                bare_us.append((cpu_seconds(bare) - start) / MOVES * 1e6)
                ratios.append(house_us[-1] / bare_us[-1])
            signing = _signing_us()
            mid = statistics.median
            print(
                "\nMove over HTTP: CPU of the server process, fsync everysec, one client   (aim: 1.5, signing apart)"
            )
            print(f"  bare Flask + marshmallow + XADD: {mid(bare_us):6.0f} us")
            print(
                f"  a move                         : {mid(house_us):6.0f} us   {mid(ratios):.2f} times the bare route"
            )
            print(f"  signing its receipt            : {signing:6.0f} us")
            apart = (mid(house_us) - signing) / mid(bare_us)
            print(
                f"  a move, signing apart          : {mid(house_us) - signing:6.0f} us   {apart:.2f} times the bare route"
            )


def _signing_us() -> float:
    key = ServerKey(bytes(32))
    start = time.process_time()
    for _ in range(2000):
        key.receipt("g", 1, bytes(32))
    return (time.process_time() - start) / 2000 * 1e6
