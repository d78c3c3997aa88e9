"""Events as JSON: one cursor, the chain, and calls that wait."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.app import create_app
from api.house import House
from domain.shuffle import genesis_head, next_head
from services.wiring import Services
from tests.api.guests import Guest, noted_reads, open_table, play_on, seat_all


class Polling:
    """Calls that wait, in threads of their own, and how many of them have found nothing and wait in the store."""

    def __init__(self, services: Services) -> None:
        self.pool = ThreadPoolExecutor(16)
        self.begun = Event()
        tail = services.store.tail

        def told(*args: object) -> object:
            self.begun.set()
            return tail(*args)  # type: ignore[arg-type]

        services.store.tail = told  # type: ignore[method-assign, assignment]

    def start(self, guest: Guest, path: str) -> Future[TestResponse]:
        """Begin a call."""
        return self.pool.submit(guest.get, path)


@pytest.fixture
def polling(services: Services) -> Iterator[Polling]:
    """Long polls of this test."""
    polls = Polling(services)
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
    """Of a long game a page takes reading that page, not all that came before it."""
    game = seat_all(four)
    play_on(four, game)
    monkeypatch.setattr("services.paging.PAGE", 4)
    asked = noted_reads(services.store, monkeypatch)
    for after in (0, 4, 8):
        four[0].get(f"/v1/games/{game}/events?after={after}&limit=4")
    pages = [(after, upto) for after, upto in asked if upto is not None]
    # the last page is told, and each one before is passed once to get there
    assert [(0, 4), (0, 4), (4, 8), (4, 8), (8, 12)] == pages


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
    assert polling.begun.wait(10)
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


def test_a_stopping_server_lets_waiting_calls_go(
    services: Services, four: list[Guest], polling: Polling
) -> None:
    """They end within a second or so instead of holding up the stop."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    stopping = Event()
    four[0].client = create_app(services, stopping=stopping.is_set).test_client()
    waiting = polling.start(four[0], f"/v1/games/{game}/events?after=2&wait=30")
    assert polling.begun.wait(10)
    stopping.set()
    assert {"events": [], "next": 2} == waiting.result(10).json


def test_waiting_calls_leave_threads_for_moves(app: Flask, four: list[Guest]) -> None:
    """Three quarters of the threads may wait; a further call is told to come back, and one without wait is answered."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    house: House = app.extensions["hearts"]
    assert 6 == house.most_polls

    def ask() -> TestResponse:
        return four[0].get(f"/v1/games/{game}/events?after=2&wait=1")

    places = [house.poll() for _ in range(6)]
    for place in places:
        place.__enter__()
    refused = ask()
    assert (429, "rate/limited", "1") == (
        refused.status_code,
        refused.json["code"],
        refused.headers["Retry-After"],
    )
    assert 200 == four[0].get(f"/v1/games/{game}/events?after=2").status_code
    assert 200 == four[0].get(f"/v1/games/{game}/events?after=0&wait=30").status_code
    for place in places:
        place.__exit__(None, None, None)
    assert 200 == ask().status_code


@pytest.mark.parametrize(
    "accept, status",
    [
        ("application/json", 200),
        ("*/*", 200),
        ("text/html, application/*;q=0.5", 200),
        ("", 200),
        ("text/event-stream", 406),
        ("application/x-ndjson", 406),
    ],
)
def test_formats_that_are_not_served_are_refused(four: list[Guest], accept: str, status: int) -> None:
    """Events come as JSON here; whoever asks for a stream is told so and not given something else."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    read = four[0].get(f"/v1/games/{game}/events", Accept=accept)
    assert status == read.status_code
    assert ("request/not_acceptable" if status == 406 else None) == read.json.get("code")


def test_events_of_no_game(stranger: Guest) -> None:
    """404, with and without waiting."""
    for query in ("", "?wait=30"):
        assert 404 == stranger.get(f"/v1/games/{'0' * 24}/events{query}").status_code
