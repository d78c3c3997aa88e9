"""Rate limits by player and by address, and how many tables a player may open."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from api.app import create_app
from api.limits import network_of
from domain.state import State
from services import pressure
from services.keys import Keys
from services.projections import GROUP
from services.settings import Settings
from services.store import StoreUnavailable
from services.wiring import Services, build
from tests.api.bearers import project
from tests.api.guests import Guest, open_table
from workers.projector import Projector

Limited = Callable[..., Flask]


@pytest.fixture
def limited(services: Services) -> Limited:
    """Makes an application with other settings, on the store of the test."""

    def make(**changes: Any) -> Flask:
        settings = dataclasses.replace(services.settings, **changes)
        bounds = build(settings, store=services.client).pressure
        return create_app(dataclasses.replace(services, settings=settings, pressure=bounds))

    return make


def statuses(answers: Iterator[TestResponse]) -> list[int]:
    """The statuses of answers."""
    return [answer.status_code for answer in answers]


def from_address(app: Flask, address: str) -> Client:
    """A client at an address, without a token."""
    client = app.test_client()
    client.environ_base = {"REMOTE_ADDR": address}  # type: ignore[attr-defined]
    return client


def test_a_player_is_limited_over_all_its_tokens(limited: Limited, guest: Callable[[], Guest]) -> None:
    """Whichever token, wherever from; another player is not, though it calls from the same address."""
    anna, bo = guest(), guest()
    second = anna.post("/v1/me/tokens", {}).json["token"]
    client = limited(rate_player="3/minute").test_client()

    def call(token: str) -> int:
        return client.get("/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code

    tokens = [anna.token, second, anna.token, second, anna.token, bo.token]
    assert [200, 200, 200, 429, 429, 200] == [call(token) for token in tokens]


def test_a_refusal_says_when_to_come_back(limited: Limited, four: list[Guest]) -> None:
    """429 as a problem, with Retry-After and where the caller stands; what passes is told that, too."""
    client = limited(rate_player="2/minute;1000/hour").test_client()
    headers = {"Authorization": f"Bearer {four[0].token}"}
    answers = [client.get("/v1/games", headers=headers) for _ in range(3)]
    assert ['"player";q=2;w=60'] * 3 == [one.headers["RateLimit-Policy"] for one in answers]
    assert ["1", "0", "0"] == [one.headers["RateLimit"].split(";")[1][2:] for one in answers]
    refused = answers[2]
    assert (429, "rate/limited", "application/problem+json") == (
        refused.status_code,
        refused.json["code"],
        refused.content_type,
    )
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert f"ask again in {refused.headers['Retry-After']} second" in refused.json["hint"]
    assert "nosniff" == refused.headers["X-Content-Type-Options"]


def test_a_refused_command_changes_nothing_and_burns_no_key(
    limited: Limited, four: list[Guest], services: Services
) -> None:
    """The same key opens the table once it is let in."""
    client = limited(rate_player="1/minute").test_client()
    headers = {"Authorization": f"Bearer {four[0].token}", "Idempotency-Key": "k"}
    body = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
    assert 200 == client.get("/v1/me", headers=headers).status_code
    assert 429 == client.post("/v1/games", json=body, headers=headers).status_code
    opened = four[0].post("/v1/games", body, Idempotency_Key="k")
    assert (201, None) == (opened.status_code, opened.headers.get("Idempotency-Replayed"))


def test_without_a_token_the_address_is_limited(limited: Limited) -> None:
    """By address, and of IPv6 by the network that one household has."""
    app = limited(rate_address="2/minute")
    calls = ["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2", "2001:db8::3"]
    assert [200, 200, 429, 200, 200, 200, 429] == [
        from_address(app, one).get("/v1/games").status_code for one in calls
    ]


@pytest.mark.parametrize(
    "address, counted",
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_what_stands_for_an_address(address: str, counted: str) -> None:
    """IPv4 itself, mapped or not; of IPv6 the first 64 bits; what is no address as it is."""
    assert counted == network_of(address)


def test_a_player_is_not_held_for_its_address(limited: Limited, four: list[Guest]) -> None:
    """Where the address has had its share, a valid token still gets in."""
    client = limited(rate_address="1/minute", rate_player="9/minute").test_client()
    assert [200, 429] == [client.get("/v1/games").status_code for _ in range(2)]
    assert 200 == client.get("/v1/games", headers={"Authorization": f"Bearer {four[0].token}"}).status_code


def test_making_players_is_limited_more_strictly(limited: Limited) -> None:
    """By address, beside the limit of all calls; refused ones make nobody."""
    app = limited(rate_new_players="2/minute")
    answers = [from_address(app, "10.0.0.1").post("/v1/players", json={"name": "Anna"}) for _ in range(3)]
    assert [201, 201, 429] == [one.status_code for one in answers]
    assert ("rate/limited", '"new-players";q=2;w=60') == (
        answers[2].json["code"],
        answers[2].headers["RateLimit-Policy"],
    )
    assert int(answers[2].headers["Retry-After"]) >= 1
    assert 201 == from_address(app, "10.0.0.2").post("/v1/players", json={"name": "Bo"}).status_code


def test_tokens_that_are_not_valid_are_limited_more_strictly(limited: Limited, four: list[Guest]) -> None:
    """By address; a valid one from there is not refused, so that nobody can lock out a neighbour."""
    client = limited(rate_bad_tokens="2/minute", rate_address="100/minute").test_client()

    def call(token: str) -> int:
        return client.get("/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code

    guesses = ["hearts_" + letter * 43 for letter in "ABC"]
    assert [401, 401, 429, 200] == [call(token) for token in [*guesses, four[0].token]]
    assert 200 == client.get("/v1/games").status_code


def test_pages_and_health_are_free(limited: Limited) -> None:
    """Operators' calls, pages, the document and what a browser asks beforehand are never limited, nor told limits."""
    client = limited(rate_address="1/minute", cors_origins="https://cards.example").test_client()
    assert [200, 429] == [client.get("/v1/games").status_code for _ in range(2)]
    for path in (
        "/livez",
        "/readyz",
        "/version",
        "/",
        "/docs",
        "/docs.css",
        "/verify",
        "/verify.js",
        "/v1/openapi.json",
    ):
        answer = client.get(path)
        assert (200, None) == (answer.status_code, answer.headers.get("RateLimit"))
    assert 200 == client.options("/v1/games").status_code


def test_nothing_is_limited_where_no_limit_is_set(app: Flask) -> None:
    """Empty settings cost a request nothing and say nothing."""
    answer = app.test_client().get("/v1/games")
    assert {"RateLimit", "RateLimit-Policy"}.isdisjoint(answer.headers.keys())
    assert [] == app.before_request_funcs.get(None, [])


def test_the_extension_costs_other_routes_nothing(limited: Limited) -> None:
    """Flask-Limiter guards the route that has a limit of its own, and runs for no other."""
    app = limited(rate_new_players="1/minute", rate_player="1/minute")
    assert 1 == len(app.before_request_funcs[None])
    assert {} == {**app.after_request_funcs, **app.teardown_request_funcs}


def test_the_usual_limits_let_play_be(limited: Limited, services: Services) -> None:
    """A bot that plays a game over HTTP as fast as it can never meets the defaults."""
    names = ("rate_player", "rate_address", "rate_new_players", "rate_bad_tokens")
    app = limited(**{name: getattr(Settings(), name) for name in names})
    anna = Guest(app, "Anna")
    game = open_table(anna, ["me", *[{"bot": "rules"}] * 3], hand_limit=1, pass_count=0)
    anna.post(f"/v1/games/{game}/ready")
    for _ in range(13):
        services.tables.act_for_house(game)
        table = anna.table(game)
        assert 200 == anna.move(game, {"play": table["legal"].split()[0]}).status_code
    services.tables.act_for_house(game)
    assert "over" == anna.table(game)["status"]


def test_a_store_that_is_away_is_told_as_such(
    limited: Limited, services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits neither fail nor refuse where the store does not answer: 503, as without them."""

    def silent(*_: object, **__: object) -> object:
        raise StoreUnavailable("gone")

    game = open_table(four[0], ["me", "open", "open", "open"])
    client = limited(
        rate_player="5/minute", rate_address="5/minute", rate_new_players="5/minute"
    ).test_client()
    for wire in (services.store.wire, services.rates._wire, services.players._wire):
        for name in ("call", "run", "pipeline"):
            monkeypatch.setattr(wire, name, silent)
    for headers in ({}, {"Authorization": f"Bearer {four[0].token}"}):
        assert 503 == client.get(f"/v1/games/{game}", headers=headers).status_code
    assert 503 == client.post("/v1/players", json={"name": "Anna"}).status_code
    assert 200 == client.get("/livez").status_code


def test_an_address_is_believed_from_as_many_proxies_as_are_named(limited: Limited) -> None:
    """Without proxies X-Forwarded-For is whatever a caller likes; with one, its last entry is the caller."""
    said = {"X-Forwarded-For": "6.6.6.6, 10.0.0.9"}
    plain = limited(rate_address="1/minute")
    assert [200, 429] == [
        from_address(plain, "10.0.0.1")
        .get("/v1/games", headers={"X-Forwarded-For": f"10.0.0.{n}"})
        .status_code
        for n in (5, 6)
    ]
    behind = limited(rate_address="1/hour", proxies=1)
    assert 200 == from_address(behind, "10.0.0.2").get("/v1/games", headers=said).status_code
    other = {"X-Forwarded-For": "7.7.7.7, 10.0.0.9"}
    assert 429 == from_address(behind, "10.0.0.3").get("/v1/games", headers=other).status_code


def test_no_address_reaches_the_store(limited: Limited, services: Services) -> None:
    """Counts are kept under what cannot be traced back without the server's key."""
    app = limited(rate_address="5/minute", rate_new_players="5/minute")
    from_address(app, "198.51.100.77").post("/v1/players", json={"name": "Anna"})
    kept = list(services.client.scan_iter(Keys.rate("*")))
    assert 2 == len(kept)
    assert not [key for key in kept if b"198.51" in key or b"Anna" in key]


# --- tables


SEATS = ["me", "open", "open", "open"]


def test_a_player_may_open_so_many_tables(limited: Limited, services: Services, four: list[Guest]) -> None:
    """Those that are over do not count; sitting at others' tables does not either; the rest is refused, and says why."""
    app = limited(most_tables=2)
    anna, bo = Guest(app, "Anna"), Guest(app, "Bo")
    over = open_table(anna, [{"bot": "rules"}] * 4, hand_limit=1)
    games = [open_table(anna, SEATS)]
    refused = anna.post("/v1/games", {"variant": "basic", "seats": SEATS})
    assert (409, "game/too_many") == (refused.status_code, refused.json["code"])
    services.tables.act_for_house(over)
    project(services, over)
    games.append(open_table(anna, SEATS))
    assert 409 == anna.post("/v1/games", {"variant": "basic", "seats": SEATS}).status_code
    assert 200 == anna.post(f"/v1/games/{open_table(bo, SEATS)}/seats").status_code
    assert 2 == services.opened.count(anna.id, 2)


def test_a_table_that_all_have_left_counts_no_longer(limited: Limited, services: Services) -> None:
    """Once nobody sits there any more, as the refusal says; while another one does, or a bot plays, it counts."""
    app = limited(most_tables=3)
    anna, bo = Guest(app, "Anna"), Guest(app, "Bo")
    bots = open_table(anna, [{"bot": "rules"}] * 4)
    alone = open_table(anna, ["me", {"bot": "rules"}, {"player": bo.id}, "open"])
    shared = open_table(anna, SEATS)
    bo.post(f"/v1/games/{shared}/seats")
    for game in (alone, shared):
        anna.delete(f"/v1/games/{game}/seats/0")
    project(services, bots, alone, shared)
    assert 2 == services.opened.count(anna.id, 3)
    open_table(anna, SEATS)
    refused = anna.post("/v1/games", {"variant": "basic", "seats": SEATS})
    assert ((409, "game/too_many"), True) == (told(refused), "leave" in refused.json["hint"])
    bo.delete(f"/v1/games/{shared}/seats/1")
    project(services, shared)
    open_table(anna, SEATS)


def test_no_table_is_opened_while_the_projectors_are_behind(
    limited: Limited, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given more appends than may wait, then new tables are refused and games go on; when they are dealt with, there is room."""
    monkeypatch.setattr(pressure, "LOOK_SECONDS", 0)
    services.feed.ensure_group(GROUP)
    anna = Guest(limited(most_lag=3), "Anna")
    body = {"variant": "basic", "seats": ["me", *[{"bot": "rules"}] * 3]}
    opened = anna.post("/v1/games", body, Idempotency_Key="k")
    game = opened.json["id"]
    over = open_table(anna, [{"bot": "rules"}] * 4, hand_limit=1)
    services.tables.act_for_house(over)
    assert 3 <= services.projections.lag()
    for path, more in (("", body), (f"/{over}/branch", {"at": 20, "seat": 0})):
        refused = anna.post(f"/v1/games{path}", more)
        assert ((503, "server/busy"), True) == (told(refused), int(refused.headers["Retry-After"]) > 0)
    assert opened.data == anna.post("/v1/games", body, Idempotency_Key="k").data
    assert 200 == anna.post(f"/v1/games/{game}/ready").status_code
    assert any("no new tables are opened" in one for one in anna.get("/readyz").json["warnings"])
    projector = Projector(services.store, services.feed, services.projections, services.clock, block_ms=1)
    while projector.round():
        pass
    assert 201 == anna.post("/v1/games", body).status_code


@pytest.mark.parametrize("seats", [["open"] * 4, [{"bot": "rules"}, "open", "open", "open"]])
def test_a_table_that_waits_for_its_first_player_counts(
    limited: Limited, services: Services, seats: list[Any]
) -> None:
    """Who opens tables without sitting down has no more of them than others."""
    anna = Guest(limited(most_tables=1), "Anna")
    project(services, open_table(anna, seats))
    assert (409, "game/too_many") == told(anna.post("/v1/games", {"variant": "basic", "seats": seats}))


def test_a_repeat_is_answered_though_there_are_too_many(limited: Limited) -> None:
    """Under its key the table that was opened before is told again, and counted once."""
    anna = Guest(limited(most_tables=2), "Anna")
    body = {"variant": "basic", "seats": SEATS}
    first = [anna.post("/v1/games", body, Idempotency_Key="k") for _ in range(3)]
    open_table(anna, SEATS)
    again = anna.post("/v1/games", body, Idempotency_Key="k")
    assert [201] * 4 == [one.status_code for one in (*first, again)]
    assert 1 == len({one.json["id"] for one in (*first, again)})
    assert 409 == anna.post("/v1/games", body, Idempotency_Key="other").status_code
    assert 422 == anna.post("/v1/games", body | {"chain": 3}, Idempotency_Key="k").status_code


def test_a_rematch_counts_as_a_table(limited: Limited, services: Services) -> None:
    """For who opens it; who joins it is not held up, nor who asks again."""
    app = limited(most_tables=1)
    anna, bo = Guest(app, "Anna"), Guest(app, "Bo")
    old = open_table(
        anna, ["me", {"player": bo.id}, {"bot": "rules"}, {"bot": "rules"}], hand_limit=1, clock=1
    )
    bo.post(f"/v1/games/{old}/seats")
    for guest in (anna, bo):
        guest.post(f"/v1/games/{old}/ready")
    play_out(services, old)
    project(services, old)
    others = open_table(anna, SEATS), open_table(bo, SEATS)
    assert (409, "game/too_many") == told(anna.post(f"/v1/games/{old}/rematch"))
    anna.delete(f"/v1/games/{others[0]}/seats/0")
    services.opened.forget(anna.id)
    assert 201 == anna.post(f"/v1/games/{old}/rematch").status_code
    assert [201, 201] == [guest.post(f"/v1/games/{old}/rematch").status_code for guest in (anna, bo)]


def told(answer: TestResponse) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json["code"]


def play_out(services: Services, game: str) -> None:
    """Let every clock of a game run out until it is over."""
    clock: Any = services.clock
    state: State = services.tables.load(game).state
    while state.phase != "over":
        clock.now += 2_000
        state = services.tables.act_for_house(game).state


def test_no_bound_of_tables_where_none_is_set(limited: Limited, services: Services) -> None:
    """0 is no bound, and then nothing is counted."""
    anna = Guest(limited(most_tables=0), "Anna")
    for _ in range(3):
        open_table(anna, SEATS)
    assert 0 == services.opened.count(anna.id, 1)
