"""Events as JSON: one cursor, the chain, and calls that wait."""

import dataclasses
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.app import create_app
from domain.shuffle import genesis_head, next_head
from services.wiring import Services
from tests.api.guests import Guest, hub_of, noted_reads, open_table, play_on, seat_all
from tests.support.house import until


class Polling:
    """Calls that wait, in threads of their own."""

    def __init__(self, app: Flask) -> None:
        self.pool = ThreadPoolExecutor(16)
        self._hub = hub_of(app)

    def start(self, guest: Guest, path: str) -> Future[TestResponse]:
        """Begin a call, and return when it listens."""
        before = self._hub.listeners()
        call = self.pool.submit(guest.get, path)
        until(lambda: self._hub.listeners() > before)
        return call


@pytest.fixture
def polling(app: Flask) -> Iterator[Polling]:
    """Long polls of this test."""
    polls = Polling(app)
    with polls.pool:
        yield polls


def test_events_come_in_order_with_their_heads(four: list[Guest], stranger: Guest) -> None:
    """Whoever reads from the beginning can compute every head from the bytes that were stored."""
    game = seat_all(four)
    read = stranger.get(f"/v1/games/{game}/events")
    head = genesis_head(game)
    for seq, item in enumerate(read.json["events"], 1):
        head = next_head(head, item["event"].encode())
        assert (seq, head.hex()) == (item["seq"], item["head"])
    assert (seq, f'"{seq}-{head.hex()[:16]}"') == (read.json["next"], read.headers["ETag"])


def test_the_cursor_goes_on_where_it_stopped(four: list[Guest]) -> None:
    """`next` of one call is `after` of the next; at the end there is nothing, and `next` stays."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    events = f"/v1/games/{game}/events"
    first = four[0].get(events).json
    assert [1, 2] == [item["seq"] for item in first["events"]]
    assert [2] == [item["seq"] for item in four[0].get(f"{events}?after=1").json["events"]]
    four[1].post(f"/v1/games/{game}/seats")
    then = four[0].get(f"{events}?after={first['next']}").json
    assert ([3], 3) == ([item["seq"] for item in then["events"]], then["next"])
    assert {"events": [], "next": 3} == four[0].get(f"{events}?after=3").json


def test_a_long_game_comes_in_pages(
    services: Services, four: list[Guest], stranger: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`limit` events at most; `next` leads on, and page by page all is read that is read at once, private parts too."""
    game = seat_all(four)
    play_on(four, game)
    for one in [four[1], stranger]:
        path = f"/v1/games/{game}/events"
        whole = one.get(path).json["events"]
        assert len(whole) > 12
        monkeypatch.setattr("services.paging.PAGE", 4)
        for limit in (1, 3, 4, 1000):
            found, after = [], 0
            while page := one.get(f"{path}?after={after}&limit={limit}").json["events"]:
                assert len(page) <= limit
                found += page
                after = page[-1]["seq"]
            assert whole == found
        for after in range(len(whole)):
            answer = one.get(f"{path}?after={after}&limit=2")
            assert whole[after : after + 2] == answer.json["events"]
            assert f'"{answer.json["next"]}-' in answer.headers["ETag"]
        monkeypatch.undo()


def test_who_reads_on_does_not_make_the_server_begin_again(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long game a page takes reading that page and the one before, not all that came before it."""
    game = seat_all(four)
    play_on(four, game)
    monkeypatch.setattr("services.paging.PAGE", 4)
    monkeypatch.setattr("services.paging.STEP", 4)
    asked = noted_reads(services.store, monkeypatch)
    for after in (0, 4, 8):
        four[0].get(f"/v1/games/{game}/events?after={after}&limit=4")
    pages = [(after, upto) for after, upto in asked if upto is not None]
    # of a station that was kept its own event is read again, to see that it is still there
    assert [(0, 4), (0, 8), (3, 12)] == pages


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=x",
        "after=-1",
        "after=x",
        "after=1.0",
        "after=٣",
        "wait=31",
        "wait=-1",
        "after=3",
    ],
)
def test_a_cursor_that_cannot_be_is_refused(four: list[Guest], query: str) -> None:
    """422: what is no number, waits too long, or lies behind the end of the game."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    refused = four[0].get(f"/v1/games/{game}/events?{query}")
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"])


def test_a_waiting_call_wakes_on_a_move(four: list[Guest], polling: Polling) -> None:
    """It ends as soon as the event is there, with what the event tells its caller."""
    game = seat_all(four)
    seq = four[0].table(game)["seq"]
    hand = four[0].table(game)["hand"].split()[:3]
    waiting = [polling.start(one, f"/v1/games/{game}/events?after={seq}&wait=30") for one in four[:2]]
    began = time.monotonic()
    four[0].move(game, {"pass": hand})
    mine, others = (call.result(10).json for call in waiting)
    assert time.monotonic() - began < 10
    assert [seq + 1] == [item["seq"] for item in mine["events"]] == [item["seq"] for item in others["events"]]
    assert " ".join(hand) == mine["events"][0]["private"]["cards"]
    assert others["events"][0]["private"] is None


def test_a_waiting_call_ends_empty(four: list[Guest]) -> None:
    """After the seconds that were asked for the answer is an empty list."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    began = time.monotonic()
    assert {"events": [], "next": 2} == four[0].get(f"/v1/games/{game}/events?after=2&wait=1").json
    assert 0.9 < time.monotonic() - began < 5


def test_a_stopping_server_lets_waiting_calls_go(services: Services, four: list[Guest]) -> None:
    """They end within a second or so instead of holding up the stop."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    stopping = Event()
    app = create_app(services, stopping=stopping.is_set)
    four[0].client = app.test_client()
    polling = Polling(app)
    waiting = polling.start(four[0], f"/v1/games/{game}/events?after=2&wait=30")
    stopping.set()
    assert {"events": [], "next": 2} == waiting.result(10).json


def test_those_who_wait_have_so_many_places(
    services: Services, four: list[Guest], stranger: Guest, polling: Polling
) -> None:
    """Half of them at most are for callers without a token; a further call is told to come back, and reads without wait."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    settings = dataclasses.replace(services.settings, listeners=2)
    app = create_app(dataclasses.replace(services, settings=settings))
    for one in [*four, stranger]:
        one.client = app.test_client()
    path = f"/v1/games/{game}/events?after=2"
    polling = Polling(app)
    first = polling.start(stranger, f"{path}&wait=30")
    for refused in (stranger.get(f"{path}&wait=30"), stranger.get(path, Accept="text/event-stream")):
        told = (refused.status_code, refused.json["code"], refused.headers["Retry-After"])
        assert (429, "rate/limited", "1") == told
    second = polling.start(four[0], f"{path}&wait=30")
    assert 429 == four[1].get(f"{path}&wait=1").status_code
    assert {"events": [], "next": 2} == stranger.get(path).json
    assert 200 == stranger.get(f"/v1/games/{game}/events?after=0&wait=30").status_code
    four[1].post(f"/v1/games/{game}/seats")
    assert [3, 3] == [call.result(10).json["next"] for call in (first, second)]
    assert {"events": [], "next": 3} == stranger.get(f"/v1/games/{game}/events?after=3&wait=1").json


@pytest.mark.parametrize(
    "accept, kind",
    [
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/html, application/*;q=0.5", "application/json"),
        ("", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("application/x-ndjson", "application/x-ndjson"),
        ("application/json;q=0.1, application/x-ndjson;q=0.9", "application/x-ndjson"),
        ("text/html", None),
    ],
)
def test_accept_chooses_the_format(four: list[Guest], accept: str, kind: str | None) -> None:
    """JSON unless a stream is asked for; whoever accepts none of the three is told which there are."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    read = four[0].call("HEAD", f"/v1/games/{game}/events", Accept=accept)
    if kind is None:
        assert 406 == read.status_code
        refused = four[0].get(f"/v1/games/{game}/events", Accept=accept)
        assert "request/not_acceptable" == refused.json["code"]
    else:
        assert (200, kind) == (read.status_code, read.headers["Content-Type"])


def test_events_of_no_game(stranger: Guest) -> None:
    """404, with and without waiting."""
    for query in ("", "?wait=30"):
        assert 404 == stranger.get(f"/v1/games/{'0' * 24}/events{query}").status_code
