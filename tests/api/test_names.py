"""Another name, being forgotten, and where names are kept."""

from typing import Any

import pytest
import redis
from flask import Flask

from services.keys import Keys
from services.store import StoreUnavailable
from services.wiring import Services
from tests.api.bearers import asks, everything, made, project, refusal, stored
from tests.api.guests import Guest, open_table, play_on, seat_all


@pytest.fixture
def anna(app: Flask) -> Guest:
    """A player."""
    return Guest(app, "Anna")


def test_another_name_is_told_everywhere(anna: Guest, app: Flask) -> None:
    """At once by this process, in running games too; a bad one is refused as at the start."""
    game = open_table(anna, ["me", "open", "open", "open"])
    assert "Anna" == anna.table(game)["seats"][0]["name"]
    renamed = anna.call("PATCH", "/v1/me", {"name": " Änna "})
    assert (200, "Änna") == (renamed.status_code, renamed.json["name"])
    assert ("Änna", "Änna") == (anna.get("/v1/me").json["name"], anna.table(game)["seats"][0]["name"])
    assert (422, "request/invalid") == refusal(anna.call("PATCH", "/v1/me", {"name": "\n"}))
    assert "Änna" == anna.get("/v1/me").json["name"]


def test_to_be_forgotten(four: list[Guest], services: Services, valkey: redis.Redis) -> None:
    """Name and tokens are gone from the store, the games stay, and the stand-in bot plays on in running ones."""
    anna = four[0]
    other = made(anna)["token"]
    playing, waiting = seat_all(four), open_table(anna, ["me", "open", "open", "open"])
    project(services, playing, waiting)
    erased = anna.delete("/v1/me")
    assert (200, {"id": anna.id, "seats_left": 2}) == (erased.status_code, erased.json)
    for token in (anna.token, other):
        assert 401 == asks(anna, token).status_code
    seat = four[1].table(playing)["seats"][0]
    assert ("", True) == (seat["name"], seat["away"])
    assert "open" == four[1].table(waiting)["seats"][0]["kind"]
    left = everything(valkey)
    assert b"Player 1" not in left
    assert Keys.tokens(anna.id).encode() not in left
    assert b"Player 2" in left
    assert (422, "request/invalid") == refusal(
        four[1].post("/v1/games", {"variant": "basic", "seats": ["me", {"player": anna.id}, "open", "open"]})
    )


def test_an_operator_forgets_anybody(app: Flask, services: Services, four: list[Guest]) -> None:
    """By a token with the scope admin, which no call gives out; again changes nothing; who is nobody is told so."""
    operator = Guest(app, "Operator")
    assert (403, "auth/forbidden") == refusal(operator.delete(f"/v1/players/{four[0].id}"))
    operator.token = services.players.tokens.issue(operator.id, ["admin"]).token
    for _ in range(2):
        assert 200 == operator.delete(f"/v1/players/{four[0].id}").status_code
    assert 401 == four[0].get("/v1/me").status_code
    for nobody in ("p0000000000000000", "x", "%2e"):
        assert (404, "player/unknown") == refusal(operator.delete(f"/v1/players/{nobody}"))


def test_who_is_forgotten_cannot_be_called_again(services: Services, valkey: redis.Redis) -> None:
    """A change of name that arrives after the erasure does not bring it back, nor is the id given to another."""
    player, _ = services.players.create("Anna")
    services.players.erase(player.id)
    assert services.players.rename(player.id, "Anna") is None
    assert services.players.get(player.id) is None
    assert not valkey.hsetnx(Keys.player(player.id), "name", "Bo")


def test_an_erasure_that_broke_off_has_shut_the_door(
    services: Services, anna: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the store goes away in the middle, no token is believed any longer; and it can be done again."""

    def silent(_: str) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(services.players.tokens, "end_all", silent)
        with pytest.raises(StoreUnavailable):
            services.players.erase(anna.id)
    services.players.tokens.forget()
    assert 401 == anna.get("/v1/me").status_code
    services.players.erase(anna.id)


def test_names_stay_out_of_the_log(four: list[Guest], services: Services, valkey: redis.Redis) -> None:
    """Of a played game no stored byte but the players' own records has a name: not the events, nor the read models."""
    names = [f"Zq{number}xname" for number in range(4)]
    for guest, name in zip(four, names, strict=True):
        guest.call("PATCH", "/v1/me", {"name": name})
    game = seat_all(four, hand_limit=1)
    table: dict[str, Any] = {"status": "playing"}
    while table["status"] != "over":
        table = play_on(four, game)
    assert names == [seat["name"] for seat in table["seats"]]
    project(services, game)
    for key in valkey.scan_iter():
        if not key.startswith(Keys.player("").encode()):
            held = stored(valkey, key)
            assert not [name for name in names if name.encode() in key + held], key
    proof = four[0].get(f"/v1/games/{game}/proof").data
    assert not [name for name in names if name.encode() in proof]
