"""Idempotency keys: a request that is sent twice is carried out once, whoever answers the second time."""

from typing import Any

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from api.app import create_app
from services.settings import Settings
from services.wiring import Services, build
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.support.clock import Clock

TABLE = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
DAY_MS = 24 * 60 * 60 * 1000


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def same(first: TestResponse, again: TestResponse) -> bool:
    """Whether the second answer is the first one again, marked as such."""
    assert "Idempotency-Replayed" not in first.headers
    assert "true" == again.headers["Idempotency-Replayed"]
    kept = ("ETag", "Location", "Content-Type")
    return (first.status_code, first.data, [first.headers.get(name) for name in kept]) == (
        again.status_code,
        again.data,
        [again.headers.get(name) for name in kept],
    )


def test_a_repeated_move_is_played_once(four: list[Guest]) -> None:
    """The same card, status and receipt come back, as the table was then, though others have moved since."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    first = four[turn].move(game, {"play": "2C"}, Idempotency_Key="once")
    play_on(four, game)
    assert same(first, four[turn].move(game, {"play": "2C"}, Idempotency_Key="once"))
    assert 2 == len(four[0].table(game)["trick"])


def test_with_two_decks_a_repeat_does_not_play_the_twin(four: list[Guest]) -> None:
    """With a key the second of two identical cards stays in the hand."""
    game = seat_all(four, decks=2, hand=26, pass_count=0)
    turn = four[0].table(game)["turn"]
    hand = four[turn].table(game)["hand"].split()
    card = four[turn].table(game)["legal"]
    four[turn].move(game, {"play": card}, Idempotency_Key="k")
    for _ in range(3):
        play_on(four, game)
    again = four[turn].move(game, {"play": card}, Idempotency_Key="k")
    assert "true" == again.headers["Idempotency-Replayed"]
    assert 25 == len(four[turn].table(game)["hand"].split())
    assert hand.count(card) - 1 == four[turn].table(game)["hand"].split().count(card)


def test_a_repeated_table_is_the_same_table(app: Flask, four: list[Guest]) -> None:
    """201 with the same address, even of a table at which others sit by now."""
    first = four[0].post("/v1/games", TABLE, Idempotency_Key="mine")
    four[1].post(f"/v1/games/{first.json['id']}/seats")
    assert same(first, four[0].post("/v1/games", TABLE, Idempotency_Key="mine"))
    assert first.json["id"] != four[1].post("/v1/games", TABLE, Idempotency_Key="mine").json["id"]
    assert (422, "key/reused") == code(
        four[0].post("/v1/games", TABLE | {"target": 50}, Idempotency_Key="mine")
    )


@pytest.mark.parametrize("path, body", [("seats", {"seat": 1}), ("seats", None), ("ready", {})])
def test_every_command_takes_a_key(four: list[Guest], path: str, body: Any) -> None:
    """Sitting down and being ready are repeated without harm, though without a key they would be refused."""
    game = open_table(four[0], ["me", "open", {"bot": "rules"}, {"bot": "rules"}])
    if path == "ready":
        four[1].post(f"/v1/games/{game}/seats")
    address = f"/v1/games/{game}/{path}"
    first = four[1].post(address, body, Idempotency_Key="k")
    assert same(first, four[1].post(address, body, Idempotency_Key="k"))
    assert 409 == four[1].post(address, body).status_code


def test_leaving_and_coming_back_take_a_key(four: list[Guest]) -> None:
    """DELETE and `back`, too; the same key counts for each route by itself."""
    game = seat_all(four)
    seat = f"/v1/games/{game}/seats/0"
    left = four[0].delete(seat, Idempotency_Key="k")
    assert same(left, four[0].delete(seat, Idempotency_Key="k"))
    back = four[0].post(f"{seat}/back", Idempotency_Key="k")
    assert same(back, four[0].post(f"{seat}/back", Idempotency_Key="k"))
    assert same(left, four[0].delete(seat, Idempotency_Key="k"))


def test_another_body_under_the_key_is_refused(four: list[Guest]) -> None:
    """422 key/reused, whether or not the other body would be accepted; spelling and order of keys do not matter."""
    game = seat_all(four)
    hand = four[0].table(game)["hand"].split()
    first = four[0].move(game, {"pass": hand[:3]}, Idempotency_Key="k")
    assert (422, "key/reused") == code(four[0].move(game, {"pass": hand[1:4]}, Idempotency_Key="k"))
    raw = f'{{ "pass" : ["{hand[0]}",\n"{hand[1]}", "{hand[2]}"] }}'
    again = four[0].client.post(
        f"/v1/games/{game}/moves",
        data=raw,
        headers={
            "Authorization": f"Bearer {four[0].token}",
            "Idempotency-Key": "k",
            "Content-Type": "application/json; charset=UTF-8",
        },
    )
    assert same(first, again)


def test_the_key_of_one_player_is_not_another_ones(four: list[Guest]) -> None:
    """Everybody may call a key what they like."""
    game = seat_all(four)
    for one in four[:2]:
        hand = one.table(game)["hand"].split()
        passed = one.move(game, {"pass": hand[:3]}, Idempotency_Key="1")
        assert (200, None) == (passed.status_code, passed.headers.get("Idempotency-Replayed"))


def test_the_key_is_looked_up_before_the_version(four: list[Guest]) -> None:
    """A repeat with the version of the first try is answered, though the table has moved on by that very try."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    etag = four[0].get(f"/v1/games/{game}").headers["ETag"]
    first = four[turn].move(game, {"play": "2C"}, Idempotency_Key="k", If_Match=etag)
    assert same(first, four[turn].move(game, {"play": "2C"}, Idempotency_Key="k", If_Match=etag))


def test_a_refused_command_burns_no_key(four: list[Guest]) -> None:
    """After a refusal, of any kind, the key is as good as new."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    mover = four[turn]
    assert "play/not_in_hand" in {
        mover.move(game, {"play": card}, Idempotency_Key="k").json["code"]
        for card in ("AH", "AS", "AD", "AC")
    }
    assert (422, "request/invalid") == code(mover.move(game, {"play": "??"}, Idempotency_Key="k"))
    stale = mover.move(game, {"play": "2C"}, Idempotency_Key="k", If_Match='"1-0"')
    assert (412, "version/stale") == code(stale)
    accepted = mover.move(game, {"play": "2C"}, Idempotency_Key="k")
    assert (200, None) == (accepted.status_code, accepted.headers.get("Idempotency-Replayed"))


def test_a_key_outlives_the_process(
    valkey: redis.Redis, services: Services, clock: Clock, four: list[Guest], app: Flask
) -> None:
    """Another process on the same store, which has seen nothing of the game, gives the same answer; for a day."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    first = four[turn].move(game, {"play": "2C"}, Idempotency_Key="k")
    table = four[0].post("/v1/games", TABLE, Idempotency_Key="k")
    settings = Settings(data=services.settings.data, partitions=4)
    other = create_app(build(settings, store=valkey, clock=clock))
    for guest in (four[turn], four[0]):
        guest.client = other.test_client()
    play_on(four, game)
    assert same(first, four[turn].move(game, {"play": "2C"}, Idempotency_Key="k"))
    assert same(table, four[0].post("/v1/games", TABLE, Idempotency_Key="k"))
    clock.now += DAY_MS
    late = four[turn].move(game, {"play": "2C"}, Idempotency_Key="k")
    assert (409, "play/not_your_turn") == code(late)


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256, "a\tb", "\x7f"])
def test_a_key_that_cannot_be_one_is_refused(four: list[Guest], key: str) -> None:
    """400, for it cannot be read; nothing is done."""
    game = open_table(four[0], TABLE["seats"])
    refused = four[1].post(f"/v1/games/{game}/seats", Idempotency_Key=key)
    assert (400, "request/unreadable") == code(refused)
    assert "Idempotency-Key" == refused.json["errors"][0]["field"]
    assert "open" == four[0].table(game)["seats"][1]["kind"]


def test_the_longest_key_is_taken(four: list[Guest]) -> None:
    """255 characters, and any that can be seen."""
    key = "!~|" * 85
    game = open_table(four[0], TABLE["seats"])
    assert 200 == four[1].post(f"/v1/games/{game}/seats", Idempotency_Key=key).status_code
    again = four[1].post(f"/v1/games/{game}/seats", Idempotency_Key=key)
    assert "true" == again.headers["Idempotency-Replayed"]
