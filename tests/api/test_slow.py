"""Clients that stop in the middle: nobody else waits for them."""

import json
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPResponse
from threading import Barrier, Event
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from flask import Flask

from api.app import create_app
from api.gate import LONG_ANSWERS, Gate
from domain import commands as c
from domain.bots import BOTS
from domain.variants import ruleset_of
from services.settings import Settings
from services.wiring import Services
from tests.api.guests import Guest
from tests.api.streaming import NDJSON
from tests.api.test_hostile import send
from tests.api.test_serve import environ, serving
from tests.support.house import until

__all__ = ["environ"]

HEAD = "POST /v1/players HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n"


class Stalled:
    """A body of which the sender has sent nothing yet."""

    def __init__(self, body: bytes) -> None:
        self.asked, self.sent = Event(), Event()
        self._body = body

    def read(self, size: int = -1) -> bytes:
        """The body, as soon as it is sent."""
        self.asked.set()
        assert self.sent.wait(30)
        body, self._body = self._body, b""
        return body


@pytest.fixture
def narrow(services: Services) -> Flask:
    """An application that works at one request at a time."""
    settings = Settings(data=services.settings.data, partitions=4, api_threads=1)
    object.__setattr__(services, "settings", settings)
    return create_app(services)


@pytest.mark.parametrize("length", ["15", ""])
def test_who_waits_for_a_body_keeps_nobody_from_working(narrow: Flask, length: str) -> None:
    """With and without Content-Length; the body that comes at last is read."""
    bodies = [Stalled(b'{"name":"Anna"}') for _ in range(3)]
    with ThreadPoolExecutor(len(bodies)) as pool:
        calls = [
            pool.submit(send, narrow, PATH_INFO="/v1/players", CONTENT_LENGTH=length, **{"wsgi.input": body})
            for body in bodies
        ]
        assert all(body.asked.wait(10) for body in bodies)
        assert 200 == Guest(narrow).get("/v1/variants").status_code
        assert 201 == Guest(narrow).post("/v1/players", {"name": "Bo"}).status_code
        for body in bodies:
            body.sent.set()
        assert [201] * 3 == [call.result(30)[0] for call in calls]


def test_only_so_many_work_at_a_time() -> None:
    """Further ones wait until a place is free; whether the process lives is told without one."""
    inside, leave = Event(), Event()
    seen: list[str] = []

    def app(environ: dict[str, Any], _: Any) -> list[bytes]:
        seen.append(environ["PATH_INFO"])
        if environ["PATH_INFO"] == "/first":
            inside.set()
            assert leave.wait(30)
        return [b""]

    guarded = Gate(1).guard(app)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(guarded, {"PATH_INFO": "/first"}, print)
        assert inside.wait(10)
        second = pool.submit(guarded, {"PATH_INFO": "/second"}, print)
        guarded({"PATH_INFO": "/livez"}, print)
        assert (["/first", "/livez"], False) == (seen, second.done())
        leave.set()
        first.result(10)
        second.result(10)
    assert ["/first", "/livez", "/second"] == seen


def test_a_slow_reader_holds_no_place() -> None:
    """A long answer is made piece by piece, and nobody waits for those who do not take theirs."""
    gate = Gate(1)

    def answer() -> Iterator[bytes]:
        yield b"one"
        yield b"two"

    answers = [gate.pieces(answer()) for _ in range(2 * LONG_ANSWERS)]
    assert [b"one"] * len(answers) == [next(one) for one in answers]
    assert [b"free"] == gate.guard(lambda _, __: [b"free"])({"PATH_INFO": "/"}, print)
    assert [[b"two"]] * len(answers) == [list(one) for one in answers]


def test_long_answers_crowd_nobody_out() -> None:
    """While as many as may be are being made, a request still gets its place."""
    gate, making, go = Gate(1), Barrier(LONG_ANSWERS + 1), Event()

    def answer() -> Iterator[bytes]:
        making.wait(10)
        assert go.wait(30)
        yield b"one"

    with ThreadPoolExecutor(LONG_ANSWERS) as pool:
        answers = [pool.submit(list, gate.pieces(answer())) for _ in range(LONG_ANSWERS)]
        making.wait(10)
        assert [b"free"] == gate.guard(lambda _, __: [b"free"])({"PATH_INFO": "/"}, print)
        go.set()
        assert [[b"one"]] * LONG_ANSWERS == [one.result(10) for one in answers]


def test_half_sent_bodies_do_not_stop_a_server(environ: dict[str, str]) -> None:
    """Many more than it has threads to work with, without a token: reads and moves are answered, and a sender may go on."""
    with serving(environ, "--port", "0", "--threads", "4") as server, ExitStack() as stack:
        address = (urlsplit(server.url).hostname, urlsplit(server.url).port)
        half = []
        for _ in range(100):
            half.append(stack.enter_context(socket.create_connection(address, 30)))
            half[-1].sendall(HEAD.encode() + b'{"na')
        for path in ("/livez", "/readyz", "/v1/variants", "/v1/games"):
            assert 200 == httpx.get(f"{server.url}{path}", timeout=30).status_code
        assert 201 == httpx.post(f"{server.url}/v1/players", json={"name": "Bo"}, timeout=30).status_code
        half[0].sendall(b'me":"Anna"}')
        assert half[0].recv(100).startswith(b"HTTP/1.1 201")
        half[1].shutdown(socket.SHUT_WR)
        told = HTTPResponse(half[1])
        told.begin()
        assert (400, "request/unreadable") == (told.status, json.loads(told.read())["code"])


CHUNKED = (
    "{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n{}\r\n"
)
BROKEN = ('ZZ\r\n{"clock":9}\r\n0\r\n\r\n', "-2\r\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n", "")


def test_broken_chunks_are_no_empty_body(environ: dict[str, str]) -> None:
    """Chunks that are none, or a sender that leaves: 400, and the command, which an empty body would do, is not done."""
    with serving(environ, "--port", "0", "--threads", "4") as server:
        token = httpx.post(f"{server.url}/v1/players", json={"name": "Bo"}).json()["token"]
        who = {"Authorization": f"Bearer {token}"}
        table = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
        made = httpx.post(f"{server.url}/v1/games", json=table, headers=who).json()
        for call in (f"POST /v1/games/{made['id']}/ready", f"DELETE /v1/games/{made['id']}/seats/0"):
            head = CHUNKED.format(call, f"Authorization: Bearer {token}\r\n")
            for body in BROKEN:
                told = json.loads(exchange(server.url, (head + body).encode()).split(b"\r\n\r\n")[1])
                assert (400, "request/unreadable") == (told["status"], told["code"]), (call, body, told)
                assert "a chunked body that is empty or broke off" == told["detail"]
        assert made["seq"] == httpx.get(f"{server.url}/v1/games/{made['id']}", headers=who).json()["seq"]


def exchange(url: str, request: bytes) -> bytes:
    """What a server answers to bytes, after which the sender leaves."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), 30) as line:
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return answer


def test_who_reads_nothing_of_a_stream_is_dropped(
    environ: dict[str, str], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a minute, here two seconds, the connection is closed, and its thread and its place are free again."""
    monkeypatch.setattr(
        "tests.api.test_serve.COMMAND",
        [
            sys.executable,
            "-c",
            "import api.serving, api.cli; api.serving.UNREAD_SECONDS = 2; api.cli.serve()",
        ],
    )
    rules = ruleset_of({"variant": "basic", "target": 1_000_000})
    bots = [c.SeatPlan(kind="bot", bot=BOTS["rules"].id)] * 4
    game = services.tables.open(rules, bots, chain=4096).table.state.game
    while services.tables.act_for_house(game).seq < 20_000:
        pass
    with serving({**environ, "HEARTS_PARTITIONS": "4"}, "--port", "0") as server, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(30)
        url = urlsplit(server.url)
        deaf.connect((url.hostname, url.port))
        deaf.sendall(f"GET /v1/games/{game}/events HTTP/1.1\r\nHost: x\r\nAccept: {NDJSON}\r\n\r\n".encode())
        assert deaf.recv(12) == b"HTTP/1.1 200"
        (worker,) = psutil.Process(server.process.pid).children()
        mine = deaf.getsockname()[1]
        until(lambda: all(not one.raddr or one.raddr.port != mine for one in worker.net_connections("tcp")))
        assert server.is_ready()
