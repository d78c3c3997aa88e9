"""Streams for the tests of the API: what comes, item by item, and what is in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.api.guests import Guest

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"


class Stream:
    """An answer that goes on, read as far as a test asks for."""

    def __init__(self, guest: Guest, path: str, accept: str = SSE, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()} | {"Accept": accept}
        if guest.token:
            named.setdefault("Authorization", f"Bearer {guest.token}")
        self.answer = guest.client.open(path, method="GET", headers=named, buffered=False)
        assert (200, accept) == (self.answer.status_code, self.answer.headers["Content-Type"])
        self._chunks: Iterator[bytes] = iter(self.answer.iter_encoded())
        self._rest = b""
        self.ids: list[str] = []
        """The ids of the items so far; of a stream of server-sent events."""
        self.alive = 0
        """How often it has said that it is still there."""
        self._end = b"\n\n" if accept == SSE else b"\n"

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.answer.close()

    def items(self, count: int) -> list[Any]:
        """The next ``count`` items, waited for."""
        found: list[Any] = []
        while len(found) < count:
            item = self._next()
            assert item is not None, "the stream has ended"
            found.append(item)
        return found

    def rest(self) -> list[Any]:
        """What comes until the stream ends."""
        return list(iter(self._next, None))

    def beat(self) -> None:
        """Wait until it says that it is still there."""
        before = self.alive
        while self.alive == before:
            frame = self._frame()
            assert frame is not None
            assert self._read(frame) is None, "an item has come"

    def _next(self) -> Any:
        while (frame := self._frame()) is not None:
            item = self._read(frame)
            if item is not None:
                return item
        return None

    def _frame(self) -> bytes | None:
        while self._end not in self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                assert not self._rest, "the stream has ended within an item"
                return None
            self._rest += chunk
        frame, _, self._rest = self._rest.partition(self._end)
        return frame

    def _read(self, frame: bytes) -> Any:
        if self._end == b"\n":
            if not frame:
                self.alive += 1
            return json.loads(frame) if frame else None
        fields = dict(line.split(b": ", 1) for line in frame.split(b"\n"))
        if b"data" not in fields:
            self.alive += b"" in fields
            return None
        if b"id" in fields:
            self.ids.append(fields[b"id"].decode())
        return json.loads(fields[b"data"])
