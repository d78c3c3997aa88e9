"""What a token may still do in a process that has not heard of its end: nothing that lasts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from api.app import create_app
from services.keys import Keys
from services.store import StoreUnavailable
from services.token_forms import MOST_TOKENS, TokenEnded, digest_of
from services.wire import Wire
from services.wiring import Services, build
from tests.api.bearers import asks, made, refusal
from tests.api.guests import Guest, open_table
from tests.support.clock import Clock

ENDED = (401, "auth/required")
SEATS = ["me", "open", "open", "open"]


@pytest.fixture
def anna(app: Flask) -> Guest:
    """A player."""
    return Guest(app, "Anna")


@pytest.fixture
def there(services: Services, clock: Clock, anna: Guest) -> Guest:
    """The same player in another process on the same store, which has just believed the token."""
    other = Guest(create_app(build(services.settings, store=services.client, clock=clock)))
    other.token, other.id = anna.token, anna.id
    assert 200 == other.get("/v1/me").status_code
    return other


def token_id(guest: Guest) -> str:
    """The id of the token that a guest asks with."""
    found: str = guest.get("/v1/me").json["token"]
    return found


LASTING: dict[str, Callable[[Guest, str], TestResponse]] = {
    "make": lambda guest, _: guest.post("/v1/me/tokens", {}),
    "rotate": lambda guest, _: guest.post("/v1/me/token", {}),
    "end": lambda guest, other: guest.delete(f"/v1/me/tokens/{other}"),
    "rename": lambda guest, _: guest.call("PATCH", "/v1/me", {"name": "Mallory"}),
    "erase": lambda guest, _: guest.delete("/v1/me"),
    "open": lambda guest, _: guest.post("/v1/games", {"variant": "basic", "seats": SEATS}),
}
"""What outlasts the seconds for which an ended token is believed."""


@pytest.mark.parametrize("what", LASTING)
def test_a_revoked_token_does_nothing_that_lasts(anna: Guest, there: Guest, what: str) -> None:
    """Given a token ended elsewhere, then it is refused at once where it is still believed, and nothing has changed."""
    keeper = made(anna)
    anna.delete(f"/v1/me/tokens/{token_id(anna)}")
    assert ENDED == refusal(LASTING[what](there, keeper["id"]))
    anna.token = keeper["token"]
    assert [keeper["id"]] == [one["id"] for one in anna.get("/v1/me/tokens").json["tokens"]]
    assert "Anna" == anna.get("/v1/me").json["name"]
    assert 401 == there.get("/v1/me").status_code


@pytest.mark.parametrize("what", LASTING)
def test_who_was_erased_does_nothing_that_lasts(
    anna: Guest, there: Guest, valkey: redis.Redis, what: str
) -> None:
    """Given an erasure elsewhere, then no token is made, no name given and no table opened, nor is anything kept."""
    anna.delete("/v1/me")
    assert ENDED == refusal(LASTING[what](there, "t0000000000000000"))
    assert not valkey.exists(Keys.tokens(anna.id), Keys.opened(anna.id))
    assert b"" == valkey.hget(Keys.player(anna.id), "name")


def test_who_was_erased_sits_down_nowhere(app: Flask, anna: Guest, there: Guest) -> None:
    """Neither in a free seat, nor back in the one that was given up, nor at a rematch."""
    game = open_table(Guest(app, "Bo"), SEATS)
    anna.delete("/v1/me")
    for path in (f"{game}/seats", f"{game}/seats/1/back", f"{game}/rematch", f"{game}/branch"):
        there.token = anna.token
        assert ENDED == refusal(
            there.post(f"/v1/games/{path}", {"at": 1, "seat": 0} if "branch" in path else {})
        )
    assert [None] * 3 == [seat["player"] for seat in other_seats(app, game)]


def other_seats(app: Flask, game: str) -> list[dict[str, Any]]:
    """The seats of a table but the first."""
    seats: list[dict[str, Any]] = Guest(app).get(f"/v1/games/{game}").json["seats"]
    return seats[1:]


def test_an_operator_whose_token_ended_forgets_nobody(services: Services, anna: Guest, there: Guest) -> None:
    """The scope admin ends with its token, at once."""
    made_here = services.players.tokens.issue(anna.id, ["admin"])
    there.token = made_here.token
    assert 404 == there.delete("/v1/players/p0").status_code
    services.players.tokens.end(anna.id, made_here.info.id)
    assert ENDED == refusal(there.delete(f"/v1/players/{anna.id}"))
    assert 200 == anna.get("/v1/me").status_code


def interrupt(monkeypatch: pytest.MonkeyPatch, others: Callable[[], None]) -> None:
    """Let ``others`` happen between what the next call of the tokens has read and its step in the store."""
    run, waiting = Wire.run, [others]

    def interrupted(self: Wire, *args: Any) -> Any:
        while waiting:
            waiting.pop()()
        return run(self, *args)

    monkeypatch.setattr(Wire, "run", interrupted)


@pytest.mark.parametrize("grace", [0, 60_000])
def test_one_of_simultaneous_rotations_wins(
    services: Services, monkeypatch: pytest.MonkeyPatch, grace: int
) -> None:
    """Ten that have all read the token before any has replaced it: one new token, and nine are refused."""
    player, token = services.players.create("Anna")
    tokens = services.players.tokens
    bearer = tokens.bearer(token)
    assert bearer is not None
    won: list[str] = []

    def rotate(depth: int) -> None:
        if depth:
            interrupt(monkeypatch, lambda: rotate(depth - 1))
        try:
            won.append(tokens.rotate(bearer, grace, None).token)
        except TokenEnded:
            won.append("")

    rotate(9)
    assert [""] * 9 == sorted(won)[:9]
    new = tokens.bearer(max(won))
    assert new is not None
    kept = {one.id for one in tokens.all_of(player.id)}
    assert kept == ({new.token} if grace == 0 else {new.token, player.token})


def test_a_token_is_replaced_once(anna: Guest) -> None:
    """Within its grace the old one may still be used, and not be replaced again, but under the same key."""
    first = anna.post("/v1/me/token", {}, Idempotency_Key="k").json
    assert ENDED == refusal(anna.post("/v1/me/token", {}))
    assert ENDED == refusal(anna.post("/v1/me/token", {}, Idempotency_Key="other"))
    assert first["token"] == anna.post("/v1/me/token", {}, Idempotency_Key="k").json["token"]
    assert 200 == anna.get("/v1/me").status_code


def test_simultaneous_rotations_under_one_key_tell_one_token(anna: Guest, there: Guest) -> None:
    """Also when the old token has ended with the first of them."""
    answers = [one.post("/v1/me/token", {"grace": 0}, Idempotency_Key="k") for one in (anna, there)]
    assert [201, 201] == [one.status_code for one in answers]
    assert answers[0].json["token"] == answers[1].json["token"]
    assert 200 == asks(there, answers[0].json["token"]).status_code


def test_a_token_in_its_grace_makes_none_that_outlasts_it(anna: Guest, there: Guest, clock: Clock) -> None:
    """Also in a process that still believes it to have no end."""
    anna.post("/v1/me/token", {"grace": 60})
    child = made(there)
    assert clock.now + 60_000 == child["expires_at"]
    clock.now += 60_000
    assert 401 == asks(there, child["token"]).status_code


@pytest.mark.parametrize("call", ["make", "end"])
def test_a_token_that_ends_between_reading_and_writing_is_refused(
    services: Services, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The step in the store itself sees that the asking token is not there any more."""
    player, token = services.players.create("Anna")
    tokens = services.players.tokens
    other = tokens.issue(player.id, ["play"]).info.id
    bearer = tokens.bearer(token)
    assert bearer is not None
    interrupt(monkeypatch, lambda: tokens.end(player.id, player.token) and None)
    ask = {
        "make": lambda: tokens.issue(player.id, ["play"], asker=bearer.token),
        "end": lambda: tokens.end(player.id, other, asker=bearer.token),
    }
    with pytest.raises(TokenEnded):
        ask[call]()
    assert [other] == [one.id for one in tokens.all_of(player.id)]


def test_an_erasure_takes_a_token_made_meanwhile(
    services: Services, valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is made while the others are being ended is gone with them."""
    player, _ = services.players.create("Anna")
    tokens = services.players.tokens
    interrupt(monkeypatch, lambda: tokens.issue(player.id, ["play"]) and None)
    tokens.end_all(player.id)
    assert [] == list(valkey.scan_iter(Keys.token("*")))
    assert [] == tokens.all_of(player.id)


@pytest.mark.parametrize("grace", [0, 60_000])
def test_a_rotation_that_broke_off_is_finished(
    services: Services, monkeypatch: pytest.MonkeyPatch, clock: Clock, grace: int
) -> None:
    """Where the store went away before the old token's end was written, it ends nevertheless."""
    player, token = services.players.create("Anna")
    tokens = services.players.tokens
    bearer = tokens.bearer(token)
    assert bearer is not None

    def gone(*_: object) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(tokens, "_close", gone)
        with pytest.raises(StoreUnavailable):
            tokens.rotate(bearer, grace, None)
    clock.now += grace
    assert 1 == len(tokens.all_of(player.id))
    tokens.forget()
    assert tokens.bearer(token) is None


def test_an_old_token_that_ends_while_it_is_adopted_stays_ended(
    services: Services, valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One from when a player had one alone, ended between being read and being kept as all are now."""
    player, _ = services.players.create("Anna")
    token = "hearts_" + "A" * 43
    place = Keys.token(digest_of(token))
    valkey.set(place, player.id)
    call = Wire.call

    def ended(self: Wire, *command: Any, **more: Any) -> Any:
        if command[0] == "HSETNX":
            valkey.delete(place)
        return call(self, *command, **more)

    monkeypatch.setattr(Wire, "call", ended)
    assert services.players.by_token(token) is None
    assert [player.token] == [one.id for one in services.players.tokens.all_of(player.id)]


def test_ten_rotations_by_ten_threads_make_one_token(services: Services) -> None:
    """Without any order between them: one new token, nine refusals, and the old one is gone."""
    player, token = services.players.create("Anna")
    tokens = services.players.tokens
    bearer = tokens.bearer(token)
    assert bearer is not None
    start = Barrier(10)

    def rotate(_: int) -> str:
        start.wait(30)
        try:
            return tokens.rotate(bearer, 0, None).info.id
        except TokenEnded:
            return ""

    with ThreadPoolExecutor(10) as pool:
        found = sorted(pool.map(rotate, range(10)))
    assert [""] * 9 == found[:9]
    assert [found[9]] == [one.id for one in tokens.all_of(player.id)]


def test_a_replaced_token_counts_until_it_ends(anna: Guest, clock: Clock) -> None:
    """A player with as many as there may be can replace one, has one more then, and replaces no other in its grace."""
    others = [made(anna) for _ in range(MOST_TOKENS - 1)]
    new = anna.post("/v1/me/token", {}).json["token"]
    old, anna.token = anna.token, new
    assert MOST_TOKENS + 1 == len(anna.get("/v1/me/tokens").json["tokens"])
    assert (409, "token/too_many") == refusal(anna.post("/v1/me/tokens", {}))
    second = {"Authorization": f"Bearer {others[0]['token']}"}
    assert (409, "token/too_many") == refusal(anna.post("/v1/me/token", {}, **second))
    assert 201 == anna.post("/v1/me/token", {"grace": 0}, **second).status_code
    assert MOST_TOKENS + 1 == len(anna.get("/v1/me/tokens").json["tokens"])
    clock.now += 60_000
    assert 401 == asks(anna, old).status_code
    assert MOST_TOKENS == len(anna.get("/v1/me/tokens").json["tokens"])
