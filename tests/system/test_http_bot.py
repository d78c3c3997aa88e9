"""A bot over HTTP plays whole games against house bots, through a broken connection and a restart of the house."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx

from api.answered import Table
from api.bot import HttpBot
from api.client import PATIENT, Client
from api.following import Follower
from tests.support.house import up


class Breaking(httpx.BaseTransport):
    """A connection whose streams break off after some pieces, as long as ``breaks`` are left."""

    def __init__(self, breaks: int, pieces: int) -> None:
        self._inner = httpx.HTTPTransport()
        self.breaks, self.pieces = breaks, pieces
        self.opened: list[str | None] = []
        """The cursor of each stream."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass it on."""
        response = self._inner.handle_request(request)
        if request.url.path == "/v1/me/events":
            self.opened.append(request.headers.get("Last-Event-ID"))
            if self.breaks:
                self.breaks -= 1
                response.stream = _Broken(response.stream, self.pieces)
        return response

    def close(self) -> None:
        """Close it."""
        self._inner.close()


class _Broken(httpx.SyncByteStream):
    def __init__(self, stream: object, pieces: int) -> None:
        self._stream, self._pieces = stream, pieces

    def __iter__(self) -> Iterator[bytes]:
        for piece, _ in zip(self._stream, range(self._pieces), strict=False):  # type: ignore[call-overload]
            yield piece
        raise httpx.ReadError("the connection is gone")

    def close(self) -> None:
        """Close it."""
        self._stream.close()  # type: ignore[attr-defined]


def choose(table: Table) -> str | list[str]:
    """As the bot of ten lines does."""
    if table.phase == "moon":
        return "add"
    if table.phase == "pass":
        return table.hand.split()[: table.rules["pass_count"]]
    return table.legal.split()[0]


def test_a_bot_plays_on_through_breaks_and_a_restart(tmp_path: Path) -> None:
    """Three games at once, each to its end, no decision lost; the stream goes on at its cursor."""
    seats = ["me", {"bot": "rules"}, {"bot": "random"}, {"bot": "rules"}]
    transport, halfway, go_on = Breaking(2, 6), Event(), Event()

    def decide(table: Table) -> str | list[str]:
        if table.hand_number == 2:
            halfway.set()
            assert go_on.wait(60)
        return choose(table)

    with ThreadPoolExecutor(1) as thread, up(tmp_path / "data") as house:
        waits = [min(wait, 0.5) for wait in PATIENT for _ in range(4)]
        with Client(house.url, transport=transport, waits=waits) as client:
            client.new_player("Bot")
            games = [client.open_table("basic", seats, {"hand_limit": 2}).id for _ in range(3)]
            follower = Follower(client, chance=lambda: 1.0)
            bot = HttpBot(client, decide, most_games=2, follower=follower)
            playing = thread.submit(bot.play, 3)
            assert halfway.wait(60)
            port = house.port
            assert 0 == house.stop()
            go_on.set()
            with up(tmp_path / "data", port):
                playing.result(120)
                tables = [client.table(game) for game in games]
    assert [("over", 2)] * 3 == [(table.status, len(table.hands)) for table in tables]
    assert (3, 0) == (bot.finished, bot.failures)
    assert bot.moves >= 3 * 26
    assert len(transport.opened) >= 4
    assert None not in transport.opened[2:]
