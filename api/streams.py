"""Events as they go out: one cursor in three formats, as a page that may be waited for or as a stream that goes on.

A stream takes its pieces from a reader of `services.readers` and holds no buffer of its own: who reads slowly is given
the next events when it has taken the ones before, and who takes none for `SLOW_SECONDS` is told so and left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from flask import request

from api.errors import Problem, problem_body, problem_of
from api.gate import Gate
from api.inputs import wsgi
from api.sent import JSON
from services.hub import Bell, Closed
from services.readers import Piece

NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"
KEEP_ALIVE_SECONDS: Final = 15.0
"""After so long without an event a stream says that it is still there."""
CHECK_SECONDS: Final = 5.0
"""How often a stream looks whether its reader still may read, however much there is to tell."""
SLOW_SECONDS: Final = 30.0
"""How long a reader may take to take what is offered."""
PIECES: Final = 128
"""Events that are offered at once."""
RETRY_MS: Final = 1_000
"""After how long a browser should come back."""


class Reader(Protocol):
    """What a stream takes its pieces from."""

    @property
    def done(self) -> bool:
        """Whether nothing can come any more."""

    def take(self, most: int = ...) -> list[Piece]:
        """The next pieces, at most so many; none where there are none yet."""

    def close(self) -> None:
        """Listen no more."""


class Format(NamedTuple):
    """How pieces are framed in a stream."""

    media_type: str
    opening: bytes
    frame: Callable[[Piece], bytes]
    problem: Callable[[bytes], bytes]
    """How a problem that ends the stream is framed."""
    alive: bytes
    """What says that the stream is still there."""


def _frame_sse(piece: Piece) -> bytes:
    kind = b"event: table\n" if piece.is_table else b""
    return b"%bid: %b\ndata: %b\n\n" % (kind, piece.cursor.encode(), piece.data)


STREAMS: Final = {
    NDJSON: Format(NDJSON, b"\n", lambda piece: piece.data + b"\n", lambda body: body + b"\n", b"\n"),
    SSE: Format(
        SSE,
        b"retry: %d\n\n" % RETRY_MS,
        _frame_sse,
        lambda body: b"event: problem\ndata: %b\n\n" % body,
        b": \n\n",
    ),
}
"""The formats of streams by media type."""


def wanted_format() -> Format | None:
    """The stream that the request accepts best, none where that is a page of JSON. Raises ``request/not_acceptable``."""
    accept = wsgi().get("HTTP_ACCEPT")
    if not accept:
        return None
    best = request.accept_mimetypes.best_match([JSON, SSE, NDJSON])
    if best is None:
        raise Problem(
            "request/not_acceptable",
            f"events come as {JSON}, {NDJSON} or {SSE}, and Accept asks for {accept!r:.80}",
            hint=f"accept {JSON} for a page, {SSE} or {NDJSON} for a stream",
        )
    return STREAMS.get(best)


def page(pieces: Sequence[Piece], cursor: bytes) -> bytes:
    """The body of a page of JSON; ``cursor`` is `next` as JSON."""
    return b'{"events":[%b],"next":%b}' % (b",".join(piece.data for piece in pieces), cursor)


def wait_for_pieces(
    reader: Reader, bell: Bell, gate: Gate, seconds: float, most: int, stopping: Callable[[], bool]
) -> list[Piece]:
    """The next pieces, as soon as there are any; none after so many seconds, or when the server stops."""
    end = time.monotonic() + seconds
    while True:
        try:
            pieces = reader.take(most)
        except Closed:
            return []
        left = end - time.monotonic()
        if pieces or left <= 0 or reader.done or stopping():
            return pieces
        gate.outside(bell.wait, left)


def stream_headers(etag: str | None = None) -> list[tuple[str, str]]:
    """The headers of a stream but its type."""
    fields = [
        ("Cache-Control", "private, no-store"),
        ("Vary", "Authorization, Accept"),
        # a proxy that gathers answers before it passes them on would hold a stream back
        ("X-Accel-Buffering", "no"),
    ]
    return [*fields, ("ETag", etag)] if etag else fields


def flow(reader: Reader, bell: Bell, form: Format, check: Callable[[], object]) -> Iterator[bytes]:
    """A stream, until its reader is done, the server stops, or a problem ends it.

    ``check`` raises where the reader may no longer read.
    """
    pending, check_at = form.opening, time.monotonic() + CHECK_SECONDS
    try:
        while True:
            if time.monotonic() >= check_at:
                check()
                check_at = time.monotonic() + CHECK_SECONDS
            pieces = reader.take(PIECES)
            chunk = pending + b"".join(map(form.frame, pieces))
            pending = b""
            if chunk:
                offered = time.monotonic()
                yield chunk
                _check_pace(time.monotonic() - offered)
            if reader.done:
                return
            if not pieces and not bell.wait(KEEP_ALIVE_SECONDS):
                pending = form.alive
    except Closed:
        return  # who comes back is answered by the process that takes over
    except Exception as error:  # noqa: BLE001 (it is told as the problem that it is, or logged)
        yield form.problem(problem_body(problem_of(error)))


def _check_pace(seconds: float) -> None:
    if seconds > SLOW_SECONDS:
        raise Problem(
            "stream/too_slow",
            f"nothing was read for {seconds:.0f} seconds",
            hint="come back with the last cursor, and read faster",
        )
