"""Connections for the tests of the client: to the application in this process, breaking off, or away altogether."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from click.testing import Result
from flask import Flask

from services.tables import Tables

Play = Callable[..., Result]
"""Runs `hearts play` with words, and ``typed`` lines."""


class Wire(httpx.BaseTransport):
    """A connection to ``app`` that remembers its requests. ``tables`` makes the bots move after each of them.

    ``faults`` are used up in turn: ``refused`` never sends the request, ``dropped`` sends it and loses the answer, an
    answer is given in the place of the application's; none lets a request through.
    """

    def __init__(self, app: Flask, tables: Tables | None = None) -> None:
        self.app = app
        self._inner = httpx.WSGITransport(app=app)
        self._tables = tables
        self.seen: list[httpx.Request] = []
        self.faults: list[str | httpx.Response | None] = []
        self.meanwhile: list[Callable[[], object]] = []
        """What others do, one thing each time that events are waited for."""
        self.instead: Callable[[httpx.Request], httpx.Response | None] = lambda _: None
        """What is answered in the place of the application, by the request; none where that answers."""
        self.before: dict[str, Callable[[], object]] = {}
        """What others do just before the first request to a path arrives."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Let the next fault happen, or the application answer."""
        self.seen.append(request)
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, httpx.Response):
            return fault
        if (other := self.instead(request)) is not None:
            return other
        if fault == "refused":
            raise httpx.ConnectError("connection refused", request=request)
        if self.meanwhile and "wait" in request.url.params:
            self.meanwhile.pop(0)()
            if self._tables is not None:
                self._tables.act_for_house(request.url.path.split("/")[3])
        self.before.pop(request.url.path, lambda: None)()
        response = self._inner.handle_request(request)
        response.read()
        if self._tables is not None and request.method != "GET":
            self._move_bots(request, response)
        if fault == "dropped":
            raise httpx.ReadError("connection reset", request=request)
        return response

    def _move_bots(self, request: httpx.Request, response: httpx.Response) -> None:
        if self._tables is not None and response.is_success and "/v1/games" in request.url.path:
            self._tables.act_for_house(response.json()["id"])

    def keys(self) -> list[str | None]:
        """The idempotency key of each request so far."""
        return [request.headers.get("Idempotency-Key") for request in self.seen]


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.BaseTransport:
    """A connection to a server that answers by ``answer``."""
    return httpx.MockTransport(answer)
