"""Players for the tests of running servers: each a program of its own, with connections that others do not share."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any, Final, NamedTuple, Self
from urllib.parse import urlsplit

import httpx

from services.embedded import EmbeddedStore
from tests.api.test_serve import ROOT, Server, serving

PATIENCE: Final = 30
"""Seconds after which somebody who waits has waited in vain."""


class Caller:
    """A player of the server at ``url``; ``stack`` closes its connections in the end."""

    def __init__(self, url: str, stack: ExitStack, name: str = "Anna") -> None:
        self.url, self.stack = url, stack
        self.id, self.token = "", ""
        self.http = self._connect()
        made = self.http.post("/v1/players", json={"name": name})
        assert 201 == made.status_code, made.text
        self.id, self.token = made.json()["id"], made.json()["token"]
        self.http.headers["Authorization"] = f"Bearer {self.token}"

    def _connect(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return self.stack.enter_context(
            httpx.Client(
                base_url=self.url,
                headers=headers,
                timeout=PATIENCE,
                transport=httpx.HTTPTransport(retries=8),
            )
        )

    def again(self, url: str = "") -> Self:
        """The same player by a connection of its own, at another server where one is named."""
        other = type(self).__new__(type(self))
        other.url, other.stack, other.id, other.token = url or self.url, self.stack, self.id, self.token
        other.http = other._connect()
        return other

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """What a call answers; header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        options: dict[str, Any] = {} if body is None else {"json": body}
        return self.http.request(method, path, headers=named, **options)

    def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """POST ``body`` to ``path``."""
        return self.call("POST", path, body, **headers)

    def move(self, game: str, body: Any, **headers: str) -> httpx.Response:
        """Send a move."""
        return self.post(f"/v1/games/{game}/moves", body, **headers)

    def table(self, game: str) -> dict[str, Any]:
        """The table as this player may see it."""
        seen = self.http.get(f"/v1/games/{game}")
        assert 200 == seen.status_code, seen.text
        body: dict[str, Any] = seen.json()
        return body

    def events(self, game: str, kind: str = "") -> list[dict[str, Any]]:
        """The events of a game, those of one kind where it is named."""
        items = self.http.get(f"/v1/games/{game}/events").json()["events"]
        found = [json.loads(item["event"]) for item in items]
        return [event for event in found if kind in ("", event["t"])]

    @contextmanager
    def stream(self, game: str, after: int = 0) -> Iterator[Iterator[dict[str, Any]]]:
        """The items of a game as they come, in a stream that ends with the block."""
        with self.http.stream(
            "GET", f"/v1/games/{game}/events?after={after}", headers={"Accept": "application/x-ndjson"}
        ) as answer:
            assert 200 == answer.status_code
            yield (json.loads(line) for line in answer.iter_lines() if line)


class Pair(NamedTuple):
    """Two servers of one store, one of them with two worker processes; and what is to be closed after a test."""

    wide: Server
    other: Server
    stack: ExitStack

    @property
    def urls(self) -> list[str]:
        """The addresses of both."""
        return [self.wide.url, self.other.url]

    def caller(self, name: str = "Anna") -> Caller:
        """A new player."""
        return Caller(self.wide.url, self.stack, name)

    def four(self) -> list[Caller]:
        """Four new players, at one server and at the other."""
        return [Caller(url, self.stack, f"Player {n}") for n, url in enumerate(self.urls * 2)]

    def clicks(self, one: Caller, send: Callable[[Caller], httpx.Response]) -> list[httpx.Response]:
        """What one player gets who sends the same by six connections, to both servers, at the same moment."""
        return at_once([partial(send, one.again(url)) for url in self.urls * 3])


@contextmanager
def two_servers(data: Path) -> Iterator[tuple[Server, Server]]:
    """Two servers of a store of their own under ``data``, with two worker processes and with one."""
    with ExitStack() as stack:
        store = stack.enter_context(EmbeddedStore(data, fsync="everysec"))
        environ = {
            **os.environ,
            "HEARTS_STORE_URL": store.url,
            "HEARTS_DATA": str(data),
            "PYTHONPATH": str(ROOT),
        }
        wide = stack.enter_context(serving(environ, "--port", "0", "--workers", "2"))
        yield wide, stack.enter_context(serving(environ, "--port", "0"))


def cut_off(url: str, started: str) -> None:
    """Send what begins a request, and break the connection off without a word."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port)) as end:
        end.sendall(started.encode())
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, not an end


def raw_status(url: str, request: bytes) -> str:
    """The status that bytes are answered with, nothing where the connection is closed without an answer."""
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as end:
        end.sendall(request)
        end.shutdown(socket.SHUT_WR)
        return end.recv(65536)[9:12].decode()


def open_table(owner: Caller, seats: Sequence[Any], **fields: Any) -> str:
    """A new table's id."""
    made = owner.post("/v1/games", {"variant": "basic", "seats": list(seats), **fields})
    assert 201 == made.status_code, made.text
    game: str = made.json()["id"]
    return game


def seat_all(callers: Sequence[Caller], **fields: Any) -> str:
    """A table at which ``callers`` sit clockwise, all ready, the cards dealt."""
    game = open_table(callers[0], ["me", *["open"] * (len(callers) - 1)], **fields)
    for caller in callers[1:]:
        assert 200 == caller.post(f"/v1/games/{game}/seats").status_code
    for caller in callers:
        ready = caller.post(f"/v1/games/{game}/ready")
        assert 200 == ready.status_code, ready.text
    return game


def play_on(callers: Sequence[Caller], game: str) -> dict[str, Any]:
    """The seat whose turn it is plays its first legal card. The table after it."""
    mover = callers[callers[0].table(game)["turn"]]
    moved = mover.move(game, {"play": mover.table(game)["legal"].split()[0]})
    assert 200 == moved.status_code, moved.text
    table: dict[str, Any] = moved.json()
    return table


def at_once(calls: Sequence[Callable[[], httpx.Response]]) -> list[httpx.Response]:
    """What calls answer that are made at the same moment, each in a thread of its own."""
    barrier = Barrier(len(calls))

    def send(call: Callable[[], httpx.Response]) -> httpx.Response:
        barrier.wait(PATIENCE)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(send, calls))


def code(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json()["code"]
