"""Clients for the tests of the API: somebody with a token, and tables at which such people sit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.house import House
from services.hub import Hub
from services.store import Entry, Store


@cache
def documented(app: Flask) -> dict[tuple[str, str], set[int]]:
    """The statuses that the OpenAPI document lists, by method and address."""
    paths = app.test_client().get("/v1/openapi.json").json["paths"]
    return {
        (method.upper(), path): {int(status) for status in operation["responses"] if status != "default"}
        for path, item in paths.items()
        for method, operation in item.items()
        if method != "parameters"
    }


def hub_of(app: Flask) -> Hub:
    """The hub of an application."""
    house: House = app.extensions["hearts"]
    return house.hub


class Guest:
    """A caller of the API, with a token where it has one."""

    def __init__(self, app: Flask, name: str | None = None) -> None:
        self.client = app.test_client()
        self.id, self.token = "", ""
        if name is not None:
            made = self.client.post("/v1/players", json={"name": name})
            assert 201 == made.status_code, made.text
            self.id, self.token = made.json["id"], made.json["token"]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Call ``path``; header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            named.setdefault("Authorization", f"Bearer {self.token}")
        options: dict[str, Any] = {} if body is None else {"json": body}
        return self.client.open(path, method=method, headers=named, **options)

    def get(self, path: str, **headers: str) -> TestResponse:
        """GET ``path``."""
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> TestResponse:
        """POST ``body`` as JSON to ``path``."""
        return self.call("POST", path, body, **headers)

    def delete(self, path: str, **headers: str) -> TestResponse:
        """DELETE ``path``."""
        return self.call("DELETE", path, **headers)

    def table(self, game: str) -> dict[str, Any]:
        """The table as this guest may see it."""
        seen = self.get(f"/v1/games/{game}")
        assert 200 == seen.status_code, seen.text
        body: dict[str, Any] = seen.json
        return body

    def move(self, game: str, body: Any, **headers: str) -> TestResponse:
        """Send a move."""
        return self.post(f"/v1/games/{game}/moves", body, **headers)


def open_table(owner: Guest, seats: Sequence[Any], **fields: Any) -> str:
    """A new table's id."""
    made = owner.post("/v1/games", {"variant": "basic", "seats": list(seats), **fields})
    assert 201 == made.status_code, made.text
    game: str = made.json["id"]
    return game


def seat_all(guests: Sequence[Guest], **fields: Any) -> str:
    """A table at which ``guests`` sit clockwise, all ready, the cards dealt."""
    game = open_table(guests[0], ["me", *["open"] * (len(guests) - 1)], **fields)
    for guest in guests[1:]:
        sat = guest.post(f"/v1/games/{game}/seats")
        assert 200 == sat.status_code, sat.text
    for guest in guests:
        ready = guest.post(f"/v1/games/{game}/ready")
        assert 200 == ready.status_code, ready.text
    return game


def play_on(guests: Sequence[Guest], game: str) -> dict[str, Any]:
    """One legal step at a table of persons: all passes that are owed, or a card, or a choice. The table after it."""
    table = guests[0].table(game)
    if table["phase"] == "pass":
        for guest, seat in zip(guests, table["seats"], strict=True):
            if not seat["passed"]:
                hand = guest.table(game)["hand"].split()
                table = _accepted(guest.move(game, {"pass": hand[: table["rules"]["pass_count"]]}))
        return table
    guest = guests[table["turn"]]
    if table["phase"] == "moon":
        return _accepted(guest.move(game, {"moon": "add"}))
    return _accepted(guest.move(game, {"play": guest.table(game)["legal"].split()[0]}))


def _accepted(answer: TestResponse) -> dict[str, Any]:
    assert 200 == answer.status_code, answer.text
    table: dict[str, Any] = answer.json
    return table


def noted_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    """A list that every read of a game's events is noted in from now on: after which event, and up to which."""
    asked: list[tuple[int, int | None]] = []
    read = store.read

    def told(game: str, after: int = 0, upto: int | None = None) -> list[Entry]:
        asked.append((after, upto))
        return read(game, after, upto)

    monkeypatch.setattr(store, "read", told)
    return asked
