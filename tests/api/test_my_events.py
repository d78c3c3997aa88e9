"""All games of a player in one call: what happens in them, and which of them wait."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from services.wiring import Services
from tests.api.guests import Guest, hub_of, open_table, play_on, seat_all
from tests.api.streaming import NDJSON, SSE, Stream
from tests.support.house import until
from workers.projector import Projector

FORMATS = [SSE, NDJSON]


@pytest.fixture
def projected(projector: Projector) -> Callable[[], None]:
    """Lets the projector deal with all that has happened."""

    def all_of_it() -> None:
        while projector.round():
            pass

    return all_of_it


def pages(guest: Guest, after: str | None = None) -> tuple[list[Any], str]:
    """All that is there behind a cursor, and the cursor behind it."""
    read = guest.get("/v1/me/events" + (f"?after={after}" if after else ""))
    assert 200 == read.status_code, read.text
    return read.json["events"], read.json["next"]


def seen(items: list[Any]) -> list[tuple[str, int]]:
    """Which events they are."""
    return [(item["game"], item["seq"]) for item in items]


def test_it_begins_with_the_tables_as_they_are(four: list[Guest], projected: Callable[[], None]) -> None:
    """Those that I play at, as I see them; not those of others, and not what is over."""
    mine = [seat_all(four) for _ in range(3)]
    open_table(four[1], ["me", "open", "open", "open"])
    projected()
    items, cursor = pages(four[0])
    assert sorted(mine) == sorted(item["game"] for item in items)
    for item in items:
        assert item["table"] == four[0].table(item["game"])
        assert (item["seq"], item["head"]) == (item["table"]["seq"], item["table"]["head"])
    assert ([], cursor) == pages(four[0], cursor)
    nobody = pages(Guest(four[0].client.application, "New"))
    assert [] == nobody[0]


def test_then_come_the_events_of_all(four: list[Guest], projected: Callable[[], None]) -> None:
    """Each as the game's own events have it; of a new game from the first on."""
    old = seat_all(four)
    projected()
    _, cursor = pages(four[2])
    seq = four[2].table(old)["seq"]
    play_on(four, old)
    new = seat_all([four[2], *four[:2], four[3]])
    projected()
    items, cursor = pages(four[2], cursor)
    for game, after in ((old, seq), (new, 0)):
        expected = four[2].get(f"/v1/games/{game}/events?after={after}").json["events"]
        assert [{"game": game, **item} for item in expected] == [i for i in items if i["game"] == game]
    assert ([], cursor) == pages(four[2], cursor)


@pytest.mark.parametrize("accept", FORMATS)
def test_a_stream_of_all_games_goes_on(four: list[Guest], projected: Callable[[], None], accept: str) -> None:
    """Tables first, then events as they come, with what they tell my seats alone."""
    games = [seat_all(four) for _ in range(2)]
    projected()
    with Stream(four[0], "/v1/me/events", accept) as stream:
        assert sorted(games) == sorted(item["game"] for item in stream.items(2) if item["table"])
        for game in games:
            seq = four[0].table(game)["seq"]
            play_on(four, game)
            projected()
            expected = four[0].get(f"/v1/games/{game}/events?after={seq}").json["events"]
            assert [{"game": game, **item} for item in expected] == stream.items(len(expected))
            assert any(item["private"] for item in expected)


def test_a_stream_goes_on_after_any_event(four: list[Guest], projected: Callable[[], None]) -> None:
    """Without a gap and without a repeat, whichever event was the last that came through."""
    games = [seat_all(four) for _ in range(2)]
    projected()
    _, start = pages(four[0])
    for _ in range(3):
        for game in games:
            play_on(four, game)
        projected()
    with Stream(four[0], "/v1/me/events", Last_Event_ID=start) as stream:
        whole = stream.items(len(pages(four[0], start)[0]))
        ids = stream.ids
    assert len(whole) > 12
    for at, cursor in enumerate(ids, 1):
        assert whole[at:] == pages(four[0], cursor)[0]
        if at < len(ids):
            with Stream(four[0], f"/v1/me/events?after={start}", NDJSON, Last_Event_ID=cursor) as stream:
                assert whole[at:] == stream.items(len(whole) - at)


def test_what_is_delivered_twice_is_told_once(
    services: Services, four: list[Guest], projected: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A projector that died after it told, and before it said so, is followed by one that tells nothing again."""
    game = seat_all(four)
    projected()
    _, cursor = pages(four[0])
    play_on(four, game)
    broken = Projector(services.store, services.feed, services.projections, services.clock, block_ms=0)

    def dies(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(services.projections, "write", dies)
    with pytest.raises(KeyboardInterrupt):
        broken.round()
    monkeypatch.undo()
    told = pages(four[0], cursor)[0]
    again = Projector(
        services.store,
        services.feed,
        services.projections,
        services.clock,
        block_ms=0,
        stale_ms=0,
    )
    while again.round():
        pass
    assert told == pages(four[0], cursor)[0]
    assert told


def test_a_cursor_too_far_back_begins_anew(
    services: Services, four: list[Guest], projected: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the inbox no longer reaches back, the tables come as they are, and nothing is missing."""
    game = seat_all(four)
    projected()
    _, cursor = pages(four[0])
    play_on(four, game)
    projected()
    inbox = services.keys.inbox(services.keys.partition(four[0].id))
    monkeypatch.setattr("services.desks.KEPT", 1)
    services.client.xtrim(inbox, maxlen=1, approximate=False)
    (item,), later = pages(four[0], cursor)
    assert (game, four[0].table(game)) == (item["game"], item["table"])
    play_on(four, game)
    projected()
    assert [(game, item["seq"] + 1)] == seen(pages(four[0], later)[0])[:1]


@pytest.mark.parametrize("wrong", ["x", "1", "1-", "1-1-1", "1-1.x", "-1-1", "1-1." + "9" * 17, "٣-1"])
def test_what_is_no_cursor_is_refused(four: list[Guest], wrong: str) -> None:
    """422, by query and by header."""
    for query, header in ((f"?after={wrong}", {}), ("", {"Last_Event_ID": wrong.encode().decode("latin1")})):
        refused = four[0].get(f"/v1/me/events{query}", **header)
        assert (422, "request/invalid") == (refused.status_code, refused.json["code"])


def test_a_seat_that_is_kept_for_me_is_told(four: list[Guest], projected: Callable[[], None]) -> None:
    """So an invitation finds its player; nobody else is told for whom the seat is kept."""
    _, cursor = pages(four[1])
    game = open_table(four[0], ["me", {"player": four[1].id}, "open", "open"])
    projected()
    assert [(game, 1), (game, 2)] == seen(pages(four[1], cursor)[0])
    assert four[1].id not in json.dumps(pages(four[0])[0])
    assert [] == pages(four[2])[0]


def test_who_leaves_hears_that_and_no_more(four: list[Guest], projected: Callable[[], None]) -> None:
    """The game is on its desk no longer."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    four[1].post(f"/v1/games/{game}/seats")
    projected()
    items, cursor = pages(four[1])
    assert [game] == [item["game"] for item in items]
    four[1].delete(f"/v1/games/{game}/seats/1")
    projected()
    items, cursor = pages(four[1], cursor)
    assert [(game, 4)] == seen(items)
    four[2].post(f"/v1/games/{game}/seats")
    projected()
    assert ([], cursor) == pages(four[1], cursor)
    assert [] == pages(four[1])[0]


def test_a_waiting_call_wakes_on_any_game(
    app: Flask, four: list[Guest], projected: Callable[[], None]
) -> None:
    """And ends empty when nothing comes."""
    _, cursor = pages(four[3])
    assert ([], cursor) == tuple(four[3].get(f"/v1/me/events?after={cursor}&wait=1").json.values())
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(four[3].get, f"/v1/me/events?after={cursor}&wait=30")
        until(lambda: hub_of(app).listeners())
        game = open_table(four[3], ["me", "open", "open", "open"])
        projected()
        assert [(game, 1), (game, 2)] == seen(call.result(20).json["events"])


def test_my_turns_are_the_games_that_wait_for_me(four: list[Guest], projected: Callable[[], None]) -> None:
    """In every phase; what the log says counts, also where the read model lags behind it."""
    games = sorted(seat_all(four, clock=60) for _ in range(2))
    projected()
    for guest in four:
        turns = guest.get("/v1/me/turns").json["turns"]
        assert games == [turn["game"] for turn in turns]
        for turn in turns:
            table = guest.table(turn["game"])
            assert (table["seq"], table["you"], table["phase"], table["deadline"], "basic") == (
                *(turn["seq"], turn["seat"], turn["phase"], turn["deadline"]),
                turn["variant"],
            )
    table = play_on(four, games[0])
    # not projected yet: a move that was made is no turn any more
    waiting = [[turn["game"] for turn in guest.get("/v1/me/turns").json["turns"]] for guest in four]
    assert [games if seat == table["turn"] else games[1:] for seat in range(4)] == waiting
    projected()
    assert waiting == [[turn["game"] for turn in guest.get("/v1/me/turns").json["turns"]] for guest in four]


def test_waiting_for_a_turn(app: Flask, four: list[Guest], projected: Callable[[], None]) -> None:
    """The call ends when a game waits for me, and with an ETag when the list is another."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    projected()
    empty = four[0].get("/v1/me/turns?wait=1")
    assert {"turns": []} == empty.json
    same = four[0].get("/v1/me/turns?wait=1", If_None_Match=empty.headers["ETag"])
    assert (304, b"") == (same.status_code, same.data)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(four[0].get, "/v1/me/turns?wait=30", If_None_Match=empty.headers["ETag"])
        until(lambda: hub_of(app).listeners())
        for guest in four[1:]:
            guest.post(f"/v1/games/{game}/seats")
        projected()
        answer = call.result(20)
    assert [(game, 0, "seats")] == [
        (turn["game"], turn["seat"], turn["phase"]) for turn in answer.json["turns"]
    ]
    assert answer.headers["ETag"] != empty.headers["ETag"]
    four[0].post(f"/v1/games/{game}/ready")
    assert {"turns": []} == four[0].get("/v1/me/turns").json


def test_both_want_a_player(stranger: Guest) -> None:
    """401 without a token."""
    for path in ("/v1/me/events", "/v1/me/turns"):
        assert 401 == stranger.get(path).status_code
