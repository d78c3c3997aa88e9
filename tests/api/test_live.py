"""Events as streams: two formats, one cursor, and no event twice or not at all."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from flask import Flask

from api.app import create_app
from services.wiring import Services
from tests.api.guests import Guest, hub_of, open_table, play_on, seat_all
from tests.api.streaming import NDJSON, SSE, Stream
from tests.support.clock import Clock
from tests.support.house import until

FORMATS = [SSE, NDJSON]


def page(guest: Guest, game: str, after: int = 0) -> list[Any]:
    """The events of a game as a page has them."""
    found: list[Any] = guest.get(f"/v1/games/{game}/events?after={after}").json["events"]
    return found


@pytest.mark.parametrize("accept", FORMATS)
def test_a_stream_has_the_items_of_the_pages(four: list[Guest], stranger: Guest, accept: str) -> None:
    """What was and what comes, to the seat with its private parts, to others without."""
    game = seat_all(four)
    path = f"/v1/games/{game}/events"
    with Stream(four[1], path, accept) as mine, Stream(stranger, path, accept) as others:
        before = page(four[1], game)
        assert before == mine.items(len(before))
        play_on(four, game)
        play_on(four, game)
        after = page(four[1], game, len(before))
        assert after == mine.items(len(after))
        theirs = page(stranger, game)
        assert theirs == others.items(len(theirs))
        assert any(item["private"] for item in before + after)
        assert not any(item["private"] for item in theirs)


@pytest.mark.parametrize("accept", FORMATS)
def test_whoever_comes_back_goes_on_where_it_stopped(four: list[Guest], accept: str) -> None:
    """From every event on, by `after` and by Last-Event-ID, which counts where both are there."""
    game = seat_all(four)
    play_on(four, game)
    whole = page(four[0], game)
    for after in range(len(whole)):
        for query, header in ((f"?after={after}", {}), ("?after=0", {"Last_Event_ID": str(after)})):
            with Stream(four[0], f"/v1/games/{game}/events{query}", accept, **header) as stream:
                assert whole[after:] == stream.items(len(whole) - after)


def test_the_id_of_an_event_is_its_seq(four: list[Guest]) -> None:
    """A browser sends it as Last-Event-ID when it comes back, and is told when to."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    with Stream(four[0], f"/v1/games/{game}/events") as stream:
        assert b"retry: 1000" == stream._frame()
        stream.items(2)
        assert ["1", "2"] == stream.ids


@pytest.mark.parametrize("wrong", ["-1", "x", "1.5", "99999", "9" * 20])
def test_a_last_event_that_cannot_be_is_refused(four: list[Guest], wrong: str) -> None:
    """400 for what is no number, 422 for one that the game has not reached."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    refused = four[0].get(f"/v1/games/{game}/events", Accept=SSE, Last_Event_ID=wrong)
    assert (422 if wrong == "99999" else 400) == refused.status_code
    assert refused.json["code"] in ("request/invalid", "request/unreadable")


@pytest.mark.parametrize("accept", FORMATS)
def test_the_stream_of_a_game_ends_with_it(services: Services, four: list[Guest], accept: str) -> None:
    """After the last event; who comes back then gets nothing more, a browser a 204 so that it stays away."""
    table = four[0].post("/v1/games", {"variant": "basic", "seats": [{"bot": "rules"}] * 4, "chain": 1}).json
    game = table["id"]
    with Stream(four[0], f"/v1/games/{game}/events", accept) as stream, ThreadPoolExecutor(1) as pool:
        reading = pool.submit(stream.rest)
        while services.tables.act_for_house(game).state.phase != "over":
            pass
        items = reading.result(30)
    assert page(four[0], game) == items
    assert "game_ended" == json.loads(items[-1]["event"])["t"]
    again = four[0].get(f"/v1/games/{game}/events?after={len(items)}", Accept=accept)
    assert ((204, b"") if accept == SSE else (200, b"\n")) == (again.status_code, again.data)
    assert {"events": [], "next": len(items)} == four[0].get(
        f"/v1/games/{game}/events?after={len(items)}&wait=30"
    ).json


@pytest.mark.parametrize("accept", FORMATS)
def test_a_quiet_stream_says_that_it_is_there(
    four: list[Guest], accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a comment or an empty line, which no reader takes for an event; then events come as before."""
    monkeypatch.setattr("api.streams.KEEP_ALIVE_SECONDS", 0.05)
    game = open_table(four[0], ["me", "open", "open", "open"])
    with Stream(four[0], f"/v1/games/{game}/events?after=2", accept) as stream:
        stream.beat()
        stream.beat()
        four[1].post(f"/v1/games/{game}/seats")
        assert [3] == [item["seq"] for item in stream.items(1)]


@pytest.mark.parametrize("accept", FORMATS)
def test_a_token_that_ends_ends_the_stream(
    four: list[Guest], accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reader is told why, whether it is quiet or there is ever more to tell."""
    monkeypatch.setattr("api.streams.KEEP_ALIVE_SECONDS", 0.05)
    monkeypatch.setattr("api.streams.CHECK_SECONDS", 0.05)
    game = open_table(four[0], ["me", "open", "open", "open"])
    with Stream(four[0], f"/v1/games/{game}/events?after=2", accept) as stream:
        four[0].delete(f"/v1/me/tokens/{four[0].get('/v1/me').json['token']}")
        problem = stream.rest()[-1]
    assert (401, "auth/required") == (problem["status"], problem["code"])


def test_a_busy_stream_ends_with_its_token_too(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though an event comes before every sign of life, and long before the game is over."""
    monkeypatch.setattr("api.streams.CHECK_SECONDS", 0.0)
    monkeypatch.setattr("api.streams.PIECES", 1)
    table = four[0].post("/v1/games", {"variant": "basic", "seats": [{"bot": "rules"}] * 4, "chain": 1}).json
    services.tables.act_for_house(table["id"])
    with Stream(four[0], f"/v1/games/{table['id']}/events", NDJSON) as stream:
        stream.items(3)
        four[0].delete(f"/v1/me/tokens/{four[0].get('/v1/me').json['token']}")
        rest = stream.rest()
    assert (401, "auth/required") == (rest[-1]["status"], rest[-1]["code"])
    assert len(rest) <= 2


def test_a_waiting_call_does_not_outlive_its_token(app: Flask, four: list[Guest]) -> None:
    """What comes after the token has ended is not told to who holds it."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(four[0].get, f"/v1/games/{game}/events?after=2&wait=30")
        until(lambda: hub_of(app).listeners())
        four[0].delete(f"/v1/me/tokens/{four[0].get('/v1/me').json['token']}")
        four[1].post(f"/v1/games/{game}/seats")
        answer = call.result(20)
    assert (401, "auth/required") == (answer.status_code, answer.json["code"])


def test_a_slow_reader_is_told_and_left(four: list[Guest], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is gathered for it meanwhile; it comes back with its cursor and has missed nothing."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    with Stream(four[0], f"/v1/games/{game}/events") as stream:
        stream.items(2)
        monkeypatch.setattr("api.streams.SLOW_SECONDS", -1.0)
        four[1].post(f"/v1/games/{game}/seats")
        (problem,) = stream.rest()
    assert (429, "stream/too_slow") == (problem["status"], problem["code"])
    monkeypatch.undo()
    with Stream(four[0], f"/v1/games/{game}/events", Last_Event_ID="2") as stream:
        assert [3] == [item["seq"] for item in stream.items(1)]
    assert 0 == hub_of(four[0].client.application).listeners()


def test_a_connection_that_breaks_is_let_go(app: Flask, four: list[Guest]) -> None:
    """Its place is free again, and nobody listens for it."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    for _ in range(3):
        with Stream(four[0], f"/v1/games/{game}/events") as stream:
            stream.items(1)
            assert 1 == hub_of(app).listeners()
        assert 0 == hub_of(app).listeners()
    assert 0 == app.extensions["hearts"].places._taken.total()


def test_a_stopping_server_ends_its_streams(services: Services, four: list[Guest]) -> None:
    """Within a second or so, without a word that could be taken for an event; who asks then is sent away."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    stopping = Event()
    app = create_app(services, stopping=stopping.is_set)
    four[0].client = app.test_client()
    with Stream(four[0], f"/v1/games/{game}/events") as stream, ThreadPoolExecutor(1) as pool:
        stream.items(2)
        reading = pool.submit(stream.rest)
        stopping.set()
        assert [] == reading.result(10)
    refused = four[0].get(f"/v1/games/{game}/events", Accept=SSE)
    assert (503, "server/stopping") == (refused.status_code, refused.json["code"])


def test_another_process_sees_what_this_one_appends(services: Services, four: list[Guest]) -> None:
    """Listeners hear of events from the log, whoever appended them; each process has a hub of its own."""
    game = seat_all(four)
    seq = four[0].table(game)["seq"]
    elsewhere = Guest(create_app(services))
    with Stream(elsewhere, f"/v1/games/{game}/events?after={seq}") as stream:
        play_on(four, game)
        assert page(elsewhere, game, seq) == stream.items(5)


def test_a_hundred_listeners_cost_one_reading(
    app: Flask, services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is asked once for an event, and an event is rendered once for all who get the same."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    hub, asked, rendered = hub_of(app), [], []
    reading, render = services.store.read_many, hub.render
    streams = [Stream(four[0], f"/v1/games/{game}/events?after=2") for _ in range(30)]
    monkeypatch.setattr(services.store, "read_many", lambda w: asked.extend(w) or reading(w))
    monkeypatch.setattr(hub, "render", lambda item: rendered.append(item.seq) or render(item))
    four[1].post(f"/v1/games/{game}/seats")
    assert [[3]] * 30 == [[item["seq"] for item in stream.items(1)] for stream in streams]
    assert ([(game, 1)], [3]) == (asked, rendered)
    for stream in streams:
        stream.__exit__()


def test_more_events_than_are_kept_come_all(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game of bots is appended in large steps; a listener reads from the log what the hub no longer has."""
    monkeypatch.setattr("services.hub.RECENT", 8)
    table = four[0].post("/v1/games", {"variant": "basic", "seats": [{"bot": "rules"}] * 4, "chain": 1}).json
    with Stream(four[0], f"/v1/games/{table['id']}/events", NDJSON) as stream:
        stream.items(table["seq"])
        services.tables.act_for_house(table["id"])
        items = stream.rest()
    assert list(range(table["seq"] + 1, items[-1]["seq"] + 1)) == [item["seq"] for item in items]


@pytest.mark.parametrize("accept", FORMATS)
def test_a_log_that_was_cut_is_told(
    app: Flask, services: Services, four: list[Guest], accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the store has lost events that a listener was told, its stream ends with that word instead of going on."""
    monkeypatch.setattr("services.hub.CHECK_SECONDS", 0.05)
    game = open_table(four[0], ["me", "open", "open", "open"])
    four[1].post(f"/v1/games/{game}/seats")
    with Stream(four[0], f"/v1/games/{game}/events", accept) as stream:
        stream.items(3)
        services.client.xdel(services.keys.stream(game), "3-0")
        problem = stream.rest()[-1]
    assert (409, "log/cut") == (problem["status"], problem["code"])


def test_a_pointer_that_is_lost_delays_an_event_and_no_more(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every game that is listened to is looked at now and then, whatever the feeds say."""
    monkeypatch.setattr("services.hub.CHECK_SECONDS", 0.2)
    game = open_table(four[0], ["me", "open", "open", "open"])
    with Stream(four[0], f"/v1/games/{game}/events") as stream:
        stream.items(2)
        monkeypatch.setattr("services.hub.read_pointers", lambda _: [])
        four[1].post(f"/v1/games/{game}/seats")
        assert [3] == [item["seq"] for item in stream.items(1)]


def test_the_hub_rests_when_nobody_listens(
    app: Flask, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread ends after a while, and begins again with the next listener."""
    monkeypatch.setattr("services.hub.LINGER_SECONDS", 0.0)
    game = open_table(four[0], ["me", "open", "open", "open"])
    for seq, guest in ((3, four[1]), (4, four[2])):
        with Stream(four[0], f"/v1/games/{game}/events?after={seq - 1}") as stream:
            guest.post(f"/v1/games/{game}/seats")
            assert [seq] == [item["seq"] for item in stream.items(1)]
        until(lambda: hub_of(app)._thread is None)


def test_who_sits_down_while_listening_hears_its_cards(guest: Callable[[], Guest], clock: Clock) -> None:
    """A stream that began as a spectator's tells a seat's own part from the deal on."""
    four = [guest() for _ in range(4)]
    game = open_table(four[0], ["me", "open", "open", "open"])
    with Stream(four[3], f"/v1/games/{game}/events", NDJSON) as stream:
        for one in four[1:]:
            one.post(f"/v1/games/{game}/seats")
        for one in four:
            one.post(f"/v1/games/{game}/ready")
        whole = page(four[3], game)
        assert whole == stream.items(len(whole))
        assert whole[-1]["private"]["cards"] == four[3].table(game)["hand"]
