"""Players, tokens, and who is let in."""

import hashlib
import json
from collections.abc import Callable

import pytest
import redis
from flask import Flask

from domain.bots import BOTS
from domain.refusals import Malformed
from services.audit import ServerKey
from services.keys import Keys
from services.memory import Remembered
from services.players import Players, clean_name
from services.wiring import Services
from tests.api.guests import Guest, open_table
from tests.support.clock import Clock


@pytest.mark.parametrize(
    "given, kept",
    [
        ("  Anna ", "Anna"),
        ("A\u0308nna", "Änna"),
        ("王小明", "王小明"),
        ("x" * 40, "x" * 40),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
    ],
)
def test_a_name_is_kept_in_normal_form(app: Flask, given: str, kept: str) -> None:
    """A name is trimmed and composed, and otherwise kept as it was given."""
    made = Guest(app).post("/v1/players", {"name": given})
    assert (201, kept) == (made.status_code, made.json["name"])
    asked = Guest(app).get("/v1/me", Authorization=f"Bearer {made.json['token']}")
    assert (made.json["id"], kept, ["play", "watch"]) == tuple(
        asked.json[k] for k in ("id", "name", "scopes")
    )


@pytest.mark.parametrize(
    "name", ["", " \t ", "x" * 41, "a\nb", "a\0b", "a\u202eb", "\u200d", "\u0301", "a\u2028b"]
)
def test_a_name_that_cannot_be_seen_is_refused(stranger: Guest, name: str) -> None:
    """Empty, too long, control and direction characters: refused, and the field is named."""
    refused = stranger.post("/v1/players", {"name": name})
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"])
    assert ["name"] == [error["field"] for error in refused.json["errors"]]


@pytest.mark.parametrize(
    "name", ["\u3164", "\u115f\u1160", "\u2800\u2800", "\uffa0", "\u3164 \u200d\u0301", "\U0001d159"]
)
def test_a_name_of_fillers_is_refused(app: Flask, stranger: Guest, name: str) -> None:
    """Letters and symbols that show nothing are no name by themselves; beside others they are kept."""
    refused = stranger.post("/v1/players", {"name": name})
    assert (422, ["name"]) == (refused.status_code, [error["field"] for error in refused.json["errors"]])
    assert "can be seen" in refused.json["errors"][0]["detail"]
    assert 422 == Guest(app, "Anna").call("PATCH", "/v1/me", {"name": name}).status_code
    assert f"a{name}b" == stranger.post("/v1/players", {"name": f"a{name}b"}).json["name"]


@pytest.mark.parametrize(
    "name",
    [
        *BOTS,
        "Rules",
        "RANDOM",
        "bot:rules@1",
        "Bot:Random",
        "rules@2",
        "bot:rules@1~500",
        "ru\u200dles",
        "\uff52ules",
    ],
)
def test_nobody_is_called_like_a_house_bot(app: Flask, stranger: Guest, name: str) -> None:
    """However it is written: refused with the reason, to new players and those that are there."""
    refused = stranger.post("/v1/players", {"name": name})
    assert (422, ["name"]) == (refused.status_code, [error["field"] for error in refused.json["errors"]])
    assert "house bot" in refused.json["errors"][0]["detail"]
    anna = Guest(app, "Anna")
    assert 422 == anna.call("PATCH", "/v1/me", {"name": name}).status_code
    assert "Anna" == anna.get("/v1/me").json["name"]


@pytest.mark.parametrize("name", ["Rules lawyer", "random@home", "bot:marvin", "Rulés", "rules~"])
def test_a_name_that_only_resembles_one_is_allowed(stranger: Guest, name: str) -> None:
    """Nothing but the bots' own names is kept from players."""
    assert 201 == stranger.post("/v1/players", {"name": name}).status_code


def test_who_was_called_like_a_bot_keeps_the_name(
    app: Flask, services: Services, valkey: redis.Redis
) -> None:
    """A name from before it was refused, and those of imported games, stay; and a token may be labelled so."""
    anna = Guest(app, "Anna")
    valkey.hset(Keys.player(anna.id), "name", "rules")
    assert "rules" == anna.get("/v1/me").json["name"]
    assert ["rules"] == list(services.players.names([services.players.name("rules")]).values())
    assert "rules" == anna.post("/v1/me/tokens", {"label": "rules"}).json["label"]


def test_a_lone_surrogate_is_no_name() -> None:
    """Half a character cannot become a name by way of any caller."""
    with pytest.raises(Malformed):
        clean_name("a\ud800")


def test_of_a_token_only_the_hash_is_stored(app: Flask, valkey: redis.Redis) -> None:
    """Nothing in the store holds the token, and its SHA-256 leads to the player."""
    anna = Guest(app, "Anna")
    stored = valkey.get(Keys.token(hashlib.sha256(anna.token.encode()).hexdigest()))
    assert anna.id == json.loads(stored)["player"]
    for key in valkey.scan_iter():
        found = valkey.hgetall(key) if valkey.type(key) == b"hash" else valkey.get(key)
        assert anna.token.encode() not in key + repr(found).encode()


@pytest.mark.parametrize(
    "header",
    ["Bearer nonsense", "Bearer hearts_" + "A" * 43, "Basic QTpC", "Bearer", "", "Bearer hearts_" + "ü" * 43],
)
def test_a_bad_token_is_refused_everywhere(stranger: Guest, header: str) -> None:
    """A token that is not valid is 401 with a challenge, also where none would be needed."""
    for path in ("/v1/me", "/v1/games/abc"):
        refused = stranger.get(path, Authorization=header)
        assert (401, "auth/required") == (refused.status_code, refused.json["code"])
        assert refused.headers["WWW-Authenticate"].startswith('Bearer realm="hearts"')


def test_a_token_in_the_address_counts_for_nothing(app: Flask, stranger: Guest) -> None:
    """Addresses end up in logs, so a token there is not looked at."""
    anna = Guest(app, "Anna")
    for name in ("token", "access_token"):
        assert 401 == stranger.get(f"/v1/me?{name}={anna.token}").status_code


def test_the_scheme_is_read_in_any_case(app: Flask, stranger: Guest) -> None:
    """`bearer` is `Bearer`."""
    anna = Guest(app, "Anna")
    assert anna.id == stranger.get("/v1/me", Authorization=f"bearer  {anna.token}").json["id"]


def test_a_token_without_the_scope_is_forbidden(app: Flask, four: list[Guest]) -> None:
    """Watching does not give the right to play."""
    watcher = Guest(app, "Watcher")
    watcher.token = watcher.post("/v1/me/tokens", {"scopes": ["watch"]}).json["token"]
    game = open_table(four[0], ["me", "open", "open", "open"])
    refused = watcher.post(f"/v1/games/{game}/seats")
    assert (403, "auth/forbidden") == (refused.status_code, refused.json["code"])
    assert 200 == watcher.get("/v1/me").status_code


def test_a_token_is_asked_for_once_in_a_while(services: Services, valkey: redis.Redis, clock: Clock) -> None:
    """Within seconds it is believed without the store; after that it must still be there."""
    player, token = services.players.create("Anna")
    assert player == services.players.by_token(token)
    valkey.delete(Keys.token(hashlib.sha256(token.encode()).hexdigest()))
    assert player == services.players.by_token(token)
    clock.now += 5_001
    assert services.players.by_token(token) is None


def test_an_erased_name_is_empty(
    services: Services, valkey: redis.Redis, clock: Clock, four: list[Guest]
) -> None:
    """Names live outside the log: once erased they are gone from every table."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    assert "Player 1" == four[1].table(game)["seats"][0]["name"]
    valkey.hdel(Keys.player(four[0].id), "name")
    clock.now += 60_001
    assert "" == four[1].table(game)["seats"][0]["name"]
    assert {four[0].id: "", "p0": ""} == services.players.names([four[0].id, "p0"])


def test_what_is_remembered_is_bounded() -> None:
    """The oldest entry makes room for a new one."""
    memory: Remembered[int] = Remembered(lambda: 0, 10, 2)
    for number in range(3):
        memory.put(str(number), number)
    assert [None, 1, 2] == [memory.get(str(number)) for number in range(3)]


def test_an_id_that_is_taken_is_not_given_again(valkey: redis.Redis) -> None:
    """Of two players with the same draw of chance the second gets another id."""
    draws = iter([b"\1" * 8, b"\1" * 32, b"\1" * 8, b"\2" * 8, b"\2" * 32])
    players = Players(valkey, ServerKey(bytes(32)), lambda: 0, lambda _: next(draws))
    first, second = players.create("Anna")[0], players.create("Bo")[0]
    assert (first.id, second.id) == ("p" + "01" * 8, "p" + "02" * 8)
    assert {first.id: "Anna", second.id: "Bo"} == players.names([first.id, second.id])


def test_idempotency_is_not_for_players(guest: Callable[[], Guest], stranger: Guest) -> None:
    """The same key makes two players: a token is shown once and cannot be repeated."""
    made = [stranger.post("/v1/players", {"name": "Anna"}, Idempotency_Key="k").json["id"] for _ in range(2)]
    assert made[0] != made[1]
