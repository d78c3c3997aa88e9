"""What each scope of a token lets do, at every address that there is."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.auth import goes_on
from api.pages import PAGE_FILES
from services.languages import ENGLISH, LANGUAGES
from services.store import StoreUnavailable
from services.token_forms import SCOPES
from services.wiring import Services
from tests.api.guests import Guest, open_table, seat_all
from tests.api.streaming import NDJSON, SSE, Stream

NEEDS = {
    "GET /v1/me/tokens": "watch",
    "GET /v1/games/{game}/hint": "watch",
    "PATCH /v1/me": "play",
    "DELETE /v1/me": "play",
    "POST /v1/me/tokens": "play",
    "DELETE /v1/me/tokens/{token}": "play",
    "POST /v1/games": "play",
    "POST /v1/games/{game}/seats": "play",
    "DELETE /v1/games/{game}/seats/{seat}": "play",
    "POST /v1/games/{game}/seats/{seat}/back": "play",
    "POST /v1/games/{game}/ready": "play",
    "POST /v1/games/{game}/moves": "play",
    "POST /v1/games/{game}/rematch": "play",
    "POST /v1/games/{game}/claim": "play",
    "POST /v1/games/{game}/branch": "play",
    "GET /v1/me/events": "watch",
    "GET /v1/me/turns": "watch",
    "DELETE /v1/players/{player}": "admin",
    "GET /v1/admin/overview": "admin",
    "POST /v1/admin/parked/{game}/retry": "admin",
    "POST /v1/admin/parked/{game}/skip": "admin",
}
"""The scope that a call needs."""
ANY_TOKEN = {"GET /v1/me", "POST /v1/me/token"}
"""Calls of every token."""
OPEN = {
    "POST /v1/players",
    "GET /v1/variants",
    "GET /v1/variants/{name}",
    "GET /v1/games",
    "GET /v1/games/{game}",
    "GET /v1/games/{game}/events",
    "GET /v1/games/{game}/proof",
    "GET /v1/games/{game}/record",
    "GET /v1/games/{game}/advice",
    "GET /v1/games/{game}/audit",
    "GET /v1/games/{game}/diff",
    "GET /v1/games/{game}/rules",
    "GET /v1/games/{game}/why",
    "GET /v1/log/checkpoint",
    "GET /v1/log/entries",
    "GET /v1/log/keys",
    "GET /v1/log/proof",
    "GET /v1/players/{player}",
    "GET /v1/leaderboard",
    "GET /livez",
    "GET /readyz",
    "GET /version",
    "GET /",
    "GET /about",
    "GET /docs",
    "GET /docs.css",
    "GET /admin",
    "GET /audit",
    "GET /verify",
    *(f"GET /{name}" for name in PAGE_FILES),
    *(f"GET /play/texts/{language}.json" for language in LANGUAGES if language != ENGLISH),
    "GET /v1/openapi.json",
}
"""Calls of anybody."""


def routes(app: Flask) -> set[str]:
    """Every call that the application answers, as ``METHOD /address``."""
    return {
        f"{method} " + re.sub(r"<(?:[a-z]+:)?([a-z]+)>", r"{\1}", rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


@pytest.fixture
def with_scope(services: Services, four: list[Guest]) -> Callable[[str], Guest]:
    """The first player, with a token of one scope."""

    def make(scope: str) -> Guest:
        holder = Guest(four[0].client.application)
        holder.id = four[0].id
        holder.token = services.players.tokens.issue(holder.id, [scope]).token
        return holder

    return make


def ask(guest: Guest, call: str, game: str) -> TestResponse:
    """Make a call that names nothing that is there but ``game``."""
    method, _, path = call.partition(" ")
    path = path.format(game=game, seat=9, token="t0", player="p0", name="basic")
    return guest.call(method, path, {"-": 0} if method in ("POST", "PATCH", "DELETE") else None)


def test_every_call_is_in_one_of_the_lists(app: Flask) -> None:
    """No address is without a rule for who may call it."""
    assert routes(app) == NEEDS.keys() | ANY_TOKEN | OPEN


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_lets_do_what_it_is_for(
    app: Flask, four: list[Guest], with_scope: Callable[[str], Guest], scope: str
) -> None:
    """A call that needs a scope is 403 for a token with any other one, and judged for what it says with it."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    holder = with_scope(scope)
    wrong = []
    for call in sorted(routes(app)):
        answer = ask(holder, call, game)
        forbidden = answer.status_code == 403 and answer.json["code"] == "auth/forbidden"
        if forbidden != (call in NEEDS and NEEDS[call] != scope):
            wrong.append((call, answer.status_code))
        if forbidden:
            challenge = f'error="insufficient_scope", scope="{NEEDS[call]}"'
            assert challenge in answer.headers["WWW-Authenticate"]
    assert not wrong


def test_who_has_no_token_is_asked_for_one(app: Flask, four: list[Guest], stranger: Guest) -> None:
    """401 wherever a scope is needed or any token, and nowhere else."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    refused = {call for call in routes(app) if ask(stranger, call, game).status_code == 401}
    assert refused == NEEDS.keys() | ANY_TOKEN


@pytest.mark.parametrize("scope", SCOPES)
def test_without_watch_one_reads_as_a_spectator(
    four: list[Guest], stranger: Guest, with_scope: Callable[[str], Guest], scope: str
) -> None:
    """Table, events and the answers to commands have the seat's own part for `watch` alone."""
    game = seat_all(four)
    holder = with_scope(scope)
    for path in (f"/v1/games/{game}", f"/v1/games/{game}?at=11", f"/v1/games/{game}/events"):
        mine, seen, public = (one.get(path).json for one in (four[0], holder, stranger))
        assert mine != public
        assert seen == (mine if scope == "watch" else public)
    for accept in (SSE, NDJSON):
        streams = [Stream(one, f"/v1/games/{game}/events", accept) for one in (four[0], holder, stranger)]
        mine, seen, public = (stream.items(four[0].table(game)["seq"]) for stream in streams)
        assert mine != public
        assert seen == (mine if scope == "watch" else public)
        for stream in streams:
            stream.__exit__()
    if scope == "play":
        hand = four[0].table(game)["hand"].split()
        passed: dict[str, Any] = holder.move(game, {"pass": hand[:3]}).json
        assert {"hand", "you", "legal", "received"}.isdisjoint(passed)
        assert passed["seats"][0]["passed"]


def test_a_long_answer_hears_of_the_end_of_its_token(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it lasts, ended by anybody; one without a token goes on, and so does one whose store is away."""
    environ: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {four[0].token}"}
    assert [True, True] == [goes_on(services.players, one) for one in (environ, {})]

    def silent(_: str) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(services.players, "by_token", silent)
        assert goes_on(services.players, environ)
    four[0].delete(f"/v1/me/tokens/{four[0].get('/v1/me').json['token']}")
    assert not goes_on(services.players, environ)


def test_without_watch_a_refusal_tells_of_no_card(
    four: list[Guest], with_scope: Callable[[str], Guest]
) -> None:
    """Given a token that may play and not look, then what is legal, or held, stands in no refusal of its moves."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    while turn != 0:
        legal = four[turn].table(game)["legal"].split()[0]
        turn = four[turn].move(game, {"play": legal}).json["turn"]
    holder, hand = with_scope("play"), four[0].table(game)["hand"].split()
    told = set()
    for card in [f"{rank}{suit}" for rank in "2345678TJQKA" for suit in "CDSH"]:
        refused = holder.move(game, {"play": card})
        if refused.status_code == 200:
            break
        assert not [held for held in hand if held in refused.text.replace(card, "")]
        told.add(refused.text.replace(card, ""))
        own = four[0].move(game, {"play": card}).json
        assert (own["code"], "legal" in own) == (refused.json["code"], True)
    assert 0 < len(told) <= len({"play/not_in_hand", "play/must_follow_suit", "play/hearts_not_broken"})
