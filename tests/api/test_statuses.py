"""The statuses that the OpenAPI document lists for a call are ones that it answers with; `Guest` holds the other way round."""

import dataclasses
from threading import Semaphore
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.app import create_app
from api.house import House
from services.hub import Cut
from services.players import Player
from services.store import StoreUnavailable
from services.token_forms import SCOPES, digest_of, id_of
from services.wiring import Services
from tests.api.guests import Guest, documented, open_table

NOBODY = "0" * 24
ALL_OPEN = ["me", "open", "open", "open"]
QUERIES: dict[str, str] = {
    "/v1/games/{game}/why": "?card=QS",
    "/v1/games/{game}/diff": "?before=1",
    "/v1/games/{game}/advice": "?at=1",
}
"""What a call must be asked, where it must be."""
BODIES: dict[str, Any] = {
    "/v1/players": {"name": "Anna"},
    "/v1/games": {"variant": "basic", "seats": ALL_OPEN},
    "/v1/games/{game}/moves": {"play": "2C"},
    "/v1/games/{game}/branch": {"at": 1, "seat": 0},
    "/v1/me": {"name": "Bo"},
}


class Provoker:
    """Calls made so that they are answered with a status."""

    def __init__(self, services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch) -> None:
        self.services, self.me, self.patch = services, four[0], monkeypatch
        self.game = open_table(four[0], ALL_OPEN)

    def call(self, method: str, path: str, *, game: str | None = None, **options: Any) -> TestResponse:
        """Call an address of the document, at the open table unless another is named."""
        names = {
            "name": options.pop("name", "basic"),
            "player": options.pop("player", self.me.id),
            "token": options.pop("token", "t0"),
        }
        address = path.format(game=game or self.game, seat=0, **names)
        address += options.pop("query", QUERIES.get(path, "") if "environ_overrides" not in options else "")
        headers = {"Authorization": f"Bearer {self.me.token}"} | options.pop("headers", {})
        if method in ("POST", "PATCH") and "data" not in options:
            options["json"] = BODIES.get(path, {})
        client = options.pop("client", self.me.client)
        return client.open(address, method=method, headers=headers, **options)

    def provoke(self, status: int, method: str, path: str) -> TestResponse:  # noqa: C901 (a case a status)
        """The answer to such a call."""
        body = method in ("POST", "PATCH", "DELETE")
        json_type = {"Content-Type": "application/json"}
        operated = path == "/v1/players/{player}" or path.startswith("/v1/admin/")
        if operated and status not in (401, 403):
            operator = Player(self.me.id, "Anna", frozenset(SCOPES), id_of(digest_of(self.me.token)))
            self.patch.setattr(self.services.players, "by_token", lambda _: operator)
        match status:
            case 400 if body:
                return self.call(method, path, data=b"{", headers=json_type)
            case 400:
                return self.call(method, path, environ_overrides={"QUERY_STRING": "\xff=\xff"})
            case 401:
                return self.call(method, path, headers={"Authorization": "Bearer nobody"})
            case 403:
                powerless = Player(self.me.id, "Anna", frozenset())
                self.patch.setattr(self.services.players, "by_token", lambda _: powerless)
            case 404 if path == "/v1/log/proof":
                return self.call(method, path, query="?game=nobody&kind=lock")
            case 404:
                return self.call(method, path, game=NOBODY, name="bridge", player="nobody")
            case 406:
                return self.call(method, path, headers={"Accept": "text/html"})
            case 409:
                return self.clash(method, path)
            case 412:
                return self.call(method, path, headers={"If-Match": '"1-0"'})
            case 413:
                return self.call(method, path, data=b" " * 70_000, headers=json_type)
            case 415:
                return self.call(method, path, data=b"{}", headers={"Content-Type": "text/plain"})
            case 422 if body:
                return self.call(method, path, data=b"[]", headers=json_type)
            case 422:
                return self.call(method, path, query="?players=99&limit=x&at=x&wait=x&size=x&language=x")
            case 429:
                if path.endswith("/audit"):
                    self.game = self.over()
                if path.endswith(("/audit", "/events", "/turns")):
                    return self.poll(method, path)
                return self.flood(method, path)
            case 204:
                game = self.over()
                last = self.me.table(game)["seq"]
                headers = {"Accept": "text/event-stream"}
                return self.call(method, path, game=game, query=f"?after={last}", headers=headers)
            case 304:
                return self.ask_again(method, path)
            case 503:
                self.silence()
        return self.call(method, path)

    def clash(self, method: str, path: str) -> TestResponse:
        """A call that cannot be as things stand."""
        if path.endswith("/seats/{seat}"):
            self.me.post(f"/v1/games/{self.ready()}/ready")
        elif path == "/v1/games":
            self.patch.setattr(self.services.opened, "count", lambda *_: 10**6)
        elif path.startswith("/v1/me/token"):
            self.patch.setattr("services.tokens.MOST_TOKENS", 0)
            self.patch.setattr("services.tokens.MOST_KEYS", 0)
            own = self.me.get("/v1/me").json["token"]
            return self.call(method, path, token=own, headers={"Idempotency-Key": "k"})
        elif path in ("/v1/games/{game}", "/v1/games/{game}/diff"):
            game = open_table(self.me, ["me", *[{"bot": "rules"}] * 3])
            self.me.post(f"/v1/games/{game}/ready")
            query = "?before=8&as=1" if path.endswith("/diff") else "?open=1"
            return self.call(method, path, game=game, query=query)
        elif path.endswith("/events"):
            self.cut()
            return self.call(method, path, query="?after=2&wait=1")
        return self.call(method, path)

    def ask_again(self, method: str, path: str) -> TestResponse:
        """A call for what has not changed since the call before."""
        if "{game}" not in path:
            etag = self.me.get(path.format(player=self.me.id)).headers["ETag"]
            return self.call(method, path, headers={"If-None-Match": etag})
        game = self.over() if path.endswith("/record") else self.game
        etag = self.me.get(path.format(game=game)).headers["ETag"]
        return self.call(method, path, game=game, headers={"If-None-Match": etag})

    def ready(self) -> str:
        """The open table with everybody seated, so that somebody may be ready."""
        for guest in [Guest(self.me.client.application, f"More {n}") for n in range(3)]:
            guest.post(f"/v1/games/{self.game}/seats")
        return self.game

    def over(self) -> str:
        """A finished game."""
        game = open_table(self.me, [{"bot": "rules"}] * 4, hand_limit=1)
        self.services.tables.act_for_house(game)
        return game

    def poll(self, method: str, path: str) -> TestResponse:
        """A call that waits, or works for long, while all places are taken."""
        house: House = self.me.client.application.extensions["hearts"]
        self.patch.setattr(house.places, "places", 0)
        self.patch.setattr(house, "reports", Semaphore(0))
        return self.call(method, path, query="?after=2&wait=1" if "{game}" in path else "?wait=1")

    def cut(self) -> None:
        """Let the store lose events that were told."""

        def begin(*_: object) -> None:
            raise Cut("the store has lost events that were told")

        self.patch.setattr("services.hub.GameTopic.begin", begin)

    def flood(self, method: str, path: str) -> TestResponse:
        """A call of somebody who has called as often as one may."""
        settings = dataclasses.replace(self.services.settings, rate_player="1/minute")
        client = create_app(dataclasses.replace(self.services, settings=settings)).test_client()
        self.call("GET", "/v1/variants", client=client)
        return self.call(method, path, client=client)

    def silence(self) -> None:
        """Let the store be away."""

        def silent(*_: object, **__: object) -> object:
            raise StoreUnavailable("gone")

        services = self.services
        self.patch.setattr(services.players.tokens._believed, "get", lambda _: None)
        for wire in (
            services.store.wire,
            services.players._wire,
            services.projections._wire,
            services.desks._wire,
            services.standings._wire,
        ):
            for name in ("call", "run", "pipeline"):
                self.patch.setattr(wire, name, silent)


@pytest.fixture
def provoker(services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch) -> Provoker:
    """Somebody who knows how to be refused."""
    return Provoker(services, four, monkeypatch)


def test_every_status_that_is_listed_can_be_had(provoker: Provoker, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each call of the document and each of its statuses but success, a request that is answered so."""
    wrong = []
    for (method, path), statuses in documented(provoker.me.client.application).items():
        for status in sorted(statuses - {200, 201}):
            provoker.game = open_table(provoker.me, ALL_OPEN)
            with monkeypatch.context() as patch:
                provoker.patch = patch
                answer = provoker.provoke(status, method, path)
            if answer.status_code != status:
                wrong.append((method, path, status, answer.status_code, answer.text[:200]))
    assert not wrong, "\n".join(map(str, wrong))
