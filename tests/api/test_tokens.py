"""Several tokens a player: making, rotating and ending them; another name; being forgotten."""

import hashlib
from typing import Any

import pytest
import redis
from flask import Flask

from api.app import create_app
from services.keys import Keys
from services.token_forms import MOST_TOKENS, id_of
from services.tokens import Tokens
from services.wiring import Services, build
from tests.api.bearers import asks, everything, made, refusal
from tests.api.guests import Guest
from tests.support.clock import Clock


@pytest.fixture
def anna(app: Flask) -> Guest:
    """A player."""
    return Guest(app, "Anna")


@pytest.fixture
def elsewhere(services: Services, clock: Clock) -> Guest:
    """Somebody without a token, who asks another process on the same store."""
    other = build(services.settings, store=services.client, clock=clock)
    return Guest(create_app(other))


def test_a_player_sees_its_tokens(anna: Guest, clock: Clock) -> None:
    """Each with id, label, scopes, when it was made, when it ends and on which day it was used; never itself."""
    more = made(anna, {"label": "my bot", "scopes": ["watch"], "expires_in": 60})
    first, second = anna.get("/v1/me/tokens").json["tokens"]
    assert {
        "id": more["id"],
        "label": "my bot",
        "scopes": ["watch"],
        "created_at": clock.now,
        "expires_at": clock.now + 60_000,
        "last_used": None,
    } == second
    assert (["play", "watch"], "2023-11-14", None) == (
        first["scopes"],
        first["last_used"],
        first["expires_at"],
    )
    assert more["token"] not in anna.get("/v1/me/tokens").text
    assert first["id"] == anna.get("/v1/me").json["token"]


def test_a_new_token_is_believed_with_its_own_scopes(anna: Guest) -> None:
    """It speaks for the same player, and for no more than it was made for."""
    more = made(anna, {"scopes": ["watch"]})
    me = asks(anna, more["token"]).json
    assert (anna.id, ["watch"], more["id"]) == (me["id"], me["scopes"], me["token"])


def test_no_token_gives_on_what_it_has_not(anna: Guest, services: Services) -> None:
    """Scopes are a part of those of the token that asks; one without `play` makes none at all."""
    for scope in ("audit", "admin"):
        assert (403, "auth/forbidden") == refusal(anna.post("/v1/me/tokens", {"scopes": ["play", scope]}))
    watcher = made(anna, {"scopes": ["watch"]})["token"]
    answer = anna.post("/v1/me/tokens", {"scopes": ["watch"]}, Authorization=f"Bearer {watcher}")
    assert (403, "auth/forbidden") == refusal(answer)
    assert 2 == len(anna.get("/v1/me/tokens").json["tokens"])


def test_a_token_outlasts_none_that_made_it(anna: Guest, clock: Clock) -> None:
    """A token that ends by itself cannot make one that goes on, whatever it asks for."""
    short = made(anna, {"expires_in": 60})
    for asked in ({}, {"expires_in": 1000}):
        child = anna.post("/v1/me/tokens", asked, Authorization=f"Bearer {short['token']}").json
        assert short["expires_at"] == child["expires_at"]
    clock.now += 60_000
    assert (401, "auth/required") == refusal(asks(anna, short["token"]))
    assert 1 == len(anna.get("/v1/me/tokens").json["tokens"])


@pytest.mark.parametrize(
    "body, field",
    [
        ({"label": "x" * 41}, "label"),
        ({"label": "a\nb"}, "label"),
        ({"label": 7}, "label"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["play"] * 5}, "scopes"),
        ({"scopes": "play"}, "scopes"),
        ({"scopes": ["all"]}, "scopes.0"),
        ({"expires_in": 0}, "expires_in"),
        ({"expires_in": 10**9}, "expires_in"),
        ({"expires_in": "60"}, "expires_in"),
        ({"name": "x"}, "name"),
    ],
)
def test_a_token_that_cannot_be_is_refused(anna: Guest, body: Any, field: str) -> None:
    """The field is named, and nothing was made."""
    refused = anna.post("/v1/me/tokens", body)
    assert (422, [field]) == (refused.status_code, [one["field"] for one in refused.json["errors"]])
    assert 1 == len(anna.get("/v1/me/tokens").json["tokens"])


def test_tokens_are_bounded(anna: Guest) -> None:
    """A player has so many at a time; when one is ended there is room again."""
    ids = [made(anna)["id"] for _ in range(MOST_TOKENS - 1)]
    assert (409, "token/too_many") == refusal(anna.post("/v1/me/tokens", {}))
    assert 200 == anna.delete(f"/v1/me/tokens/{ids[0]}").status_code
    made(anna)


def test_the_same_key_tells_the_same_token(anna: Guest, valkey: redis.Redis) -> None:
    """A repeat under an idempotency key gets the token again, which nothing in the store holds."""
    once = anna.post("/v1/me/tokens", {"label": "bot"}, Idempotency_Key="k")
    again = anna.post("/v1/me/tokens", {"label": "bot"}, Idempotency_Key="k")
    assert once.json == again.json
    assert (None, "true") == tuple(one.headers.get("Idempotency-Replayed") for one in (once, again))
    assert 200 == asks(anna, again.json["token"]).status_code
    assert 2 == len(anna.get("/v1/me/tokens").json["tokens"])
    assert once.json["token"].encode() not in everything(valkey)
    assert (422, "key/reused") == refusal(anna.post("/v1/me/tokens", {}, Idempotency_Key="k"))


def test_a_key_is_that_of_the_token_that_asks(anna: Guest) -> None:
    """A token with fewer scopes does not learn another one by repeating what made it."""
    player = made(anna, {"scopes": ["play"]})["token"]
    as_player = {"Authorization": f"Bearer {player}", "Idempotency_Key": "k"}
    for path in ("/v1/me/tokens", "/v1/me/token"):
        mine = anna.post(path, {}, Idempotency_Key="k").json
        other = anna.post(path, {}, **as_player).json
        assert (["play", "watch"], ["play"]) == (mine["scopes"], other["scopes"])


def test_what_is_kept_under_keys_is_bounded(
    anna: Guest, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """Beyond so many a day a change under a further key is refused; a repeat is not, nor one without a key."""
    monkeypatch.setattr("services.tokens.MOST_KEYS", 2)
    first, second = (made(anna, Idempotency_Key=f"k{number}") for number in range(2))
    assert (409, "token/too_many") == refusal(anna.post("/v1/me/tokens", {}, Idempotency_Key="k2"))
    path = f"/v1/me/tokens/{first['id']}"
    assert (409, "token/too_many") == refusal(anna.delete(path, Idempotency_Key="k3"))
    assert second == made(anna, Idempotency_Key="k1")
    assert 200 == asks(anna, first["token"]).status_code
    assert 200 == anna.delete(path).status_code
    made(anna)
    clock.now += 24 * 60 * 60 * 1000
    made(anna, Idempotency_Key="k2")


def test_there_is_always_room_for_a_rotation(anna: Guest) -> None:
    """With as many tokens as there may be, one can still be replaced."""
    for _ in range(MOST_TOKENS - 1):
        made(anna)
    assert 201 == anna.post("/v1/me/token", {}).status_code


def test_no_token_is_logged(
    anna: Guest, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong and however much is logged, no line has a token."""
    caplog.set_level("DEBUG")
    tokens = [anna.token, made(anna)["token"], "hearts_" + "B" * 43]
    for token in tokens:
        asks(anna, token)
        anna.post("/v1/me/token", {"grace": "x"}, Authorization=f"Bearer {token}")
        anna.delete("/v1/players/x", Authorization=f"Bearer {token}")

    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("api.tokens.told", fail)
    assert 500 == anna.get("/v1/me/tokens").status_code
    assert "a fault of ours" in caplog.text
    assert not [token for token in tokens if token in caplog.text]


def test_a_repeat_wakes_no_token_that_has_ended(anna: Guest, clock: Clock) -> None:
    """What is told again does not work again; and once the key is forgotten, it makes another token."""
    token = made(anna, Idempotency_Key="k")
    anna.delete(f"/v1/me/tokens/{token['id']}")
    assert token["token"] == made(anna, Idempotency_Key="k")["token"]
    assert (401, "auth/required") == refusal(asks(anna, token["token"]))
    clock.now += 24 * 60 * 60 * 1000
    assert token["token"] != made(anna, Idempotency_Key="k")["token"]
    assert (401, "auth/required") == refusal(asks(anna, token["token"]))


def test_a_token_that_is_ended_stops_at_once(anna: Guest, elsewhere: Guest, clock: Clock) -> None:
    """In the process that ended it with the next request, in another one within five seconds."""
    token = made(anna)
    assert [200, 200] == [asks(guest, token["token"]).status_code for guest in (anna, elsewhere)]
    left = anna.delete(f"/v1/me/tokens/{token['id']}")
    assert [anna.get("/v1/me").json["token"]] == [one["id"] for one in left.json["tokens"]]
    assert [401, 200] == [asks(guest, token["token"]).status_code for guest in (anna, elsewhere)]
    clock.now += 5_001
    assert 401 == asks(elsewhere, token["token"]).status_code


def test_a_token_read_while_it_ends_is_not_believed(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before the end and arrives after it is not kept in memory."""
    player, token = services.players.create("Anna")
    tokens: Tokens = services.players.tokens
    read = tokens._read

    def slow(digest: str) -> Any:
        found = read(digest)
        tokens.end(player.id, player.token)
        return found

    monkeypatch.setattr(tokens, "_read", slow)
    assert services.players.by_token(token) is not None
    monkeypatch.setattr(tokens, "_read", read)
    assert services.players.by_token(token) is None


def test_ending_is_done_once_for_a_key(anna: Guest) -> None:
    """A repeat is answered as done before; without a key the token is not there any more; another's never was."""
    token = made(anna)["id"]
    path = f"/v1/me/tokens/{token}"
    answers = [anna.delete(path, Idempotency_Key="k") for _ in range(2)]
    assert [(200, None), (200, "true")] == [
        (one.status_code, one.headers.get("Idempotency-Replayed")) for one in answers
    ]
    assert (404, "token/unknown") == refusal(anna.delete(path))
    bo = Guest(anna.client.application, "Bo")
    for name in (bo.get("/v1/me").json["token"], "nonsense", f"once:{'0' * 64}", "used:x"):
        assert (404, "token/unknown") == refusal(anna.delete(f"/v1/me/tokens/{name}"))
    assert 200 == bo.get("/v1/me").status_code


def test_a_token_may_end_itself_and_no_other_without_play(anna: Guest) -> None:
    """One that only watches logs out by itself, and cannot lock its owner out."""
    watcher = made(anna, {"scopes": ["watch"]})
    as_watcher = {"Authorization": f"Bearer {watcher['token']}"}
    mine = anna.get("/v1/me").json["token"]
    assert (403, "auth/forbidden") == refusal(anna.delete(f"/v1/me/tokens/{mine}", **as_watcher))
    assert 200 == anna.delete(f"/v1/me/tokens/{watcher['id']}", **as_watcher).status_code
    assert 401 == asks(anna, watcher["token"]).status_code


def test_rotation_ends_the_old_token_after_its_grace(anna: Guest, clock: Clock) -> None:
    """The new one has the same scopes, label and end; the old one goes on for a minute, unless it is told not to."""
    old = made(anna, {"label": "bot", "scopes": ["watch"], "expires_in": 10_000})
    answer = anna.post("/v1/me/token", {}, Authorization=f"Bearer {old['token']}")
    new = answer.json
    assert (201, "no-store" in answer.headers["Cache-Control"]) == (answer.status_code, True)
    assert [old[key] for key in ("label", "scopes", "expires_at")] == [
        new[key] for key in ("label", "scopes", "expires_at")
    ]
    assert [200, 200] == [asks(anna, one["token"]).status_code for one in (old, new)]
    clock.now += 60_000
    assert [401, 200] == [asks(anna, one["token"]).status_code for one in (old, new)]
    last = anna.post("/v1/me/token", {"grace": 0}, Authorization=f"Bearer {new['token']}").json
    assert [401, 200] == [asks(anna, one["token"]).status_code for one in (new, last)]
    assert {anna.get("/v1/me").json["token"], last["id"]} == {
        one["id"] for one in anna.get("/v1/me/tokens").json["tokens"]
    }


def test_a_rotation_whose_answer_was_lost_is_asked_again(anna: Guest, clock: Clock) -> None:
    """Within the grace, under the same key, with the old token: the same new one, and the old ends no later."""
    first = anna.post("/v1/me/token", {"grace": 100}, Idempotency_Key="k").json
    clock.now += 90_000
    again = anna.post("/v1/me/token", {"grace": 100}, Idempotency_Key="k")
    assert (first["token"], "true") == (again.json["token"], again.headers["Idempotency-Replayed"])
    clock.now += 10_000
    assert (401, 200) == (anna.get("/v1/me").status_code, asks(anna, first["token"]).status_code)


def test_a_token_from_before_there_were_several_goes_on(
    anna: Guest, services: Services, valkey: redis.Redis, clock: Clock
) -> None:
    """It stood as the player's id under its digest, the scopes with the player: believed, listed, and to be ended."""
    token = "hearts_" + "A" * 43
    digest = hashlib.sha256(token.encode()).hexdigest()
    valkey.set(Keys.token(digest), anna.id)
    assert (anna.id, ["play", "watch"]) == tuple(asks(anna, token).json[key] for key in ("id", "scopes"))
    assert id_of(digest) in {one["id"] for one in anna.get("/v1/me/tokens").json["tokens"]}
    assert 200 == anna.delete(f"/v1/me/tokens/{id_of(digest)}").status_code
    assert 401 == asks(anna, token).status_code


def test_a_digest_is_compared_whole(anna: Guest, services: Services, valkey: redis.Redis) -> None:
    """What lies under the key of a digest and is not its own lets nobody in."""
    digest = hashlib.sha256(anna.token.encode()).hexdigest()
    forged = valkey.get(Keys.token(digest)).replace(digest.encode(), b"0" * 64)
    valkey.set(Keys.token(digest), forged)
    services.players.tokens.forget()
    assert 401 == anna.get("/v1/me").status_code


def test_a_day_of_use_is_noted_once(anna: Guest, valkey: redis.Redis, clock: Clock) -> None:
    """The first request of a day notes it; a store that takes no writes is no reason to refuse."""
    field = f"used:{anna.get('/v1/me').json['token']}"
    valkey.hdel(Keys.tokens(anna.id), field)
    clock.now += 6_000
    anna.get("/v1/me")
    assert not valkey.hexists(Keys.tokens(anna.id), field)
    clock.now += 24 * 60 * 60 * 1000
    valkey.config_set("maxmemory", "1")
    try:
        assert 200 == anna.get("/v1/me").status_code
    finally:
        valkey.config_set("maxmemory", "0")
    clock.now += 6_000
    anna.get("/v1/me")
    assert b"2023-11-15" == valkey.hget(Keys.tokens(anna.id), field)
