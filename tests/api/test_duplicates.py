"""A duplicate table over HTTP: what is sealed stays so in records, open hands, practice tables and streams until its reveal."""

from __future__ import annotations

import json

import pytest

from domain import commands as c
from domain.state import State
from services.tables import Begun
from services.wiring import Services
from tests.api.guests import Guest
from tests.support.audited import project
from tests.support.duplicates import begin, play_on
from tests.support.games import Game


@pytest.fixture
def game(services: Services) -> str:
    """The id of a duplicate table of bots that is over, its two hands sealed."""
    made: list[Game] = []

    def opened(name: str, _: int) -> Begun:
        table = begin("bbbb", name, key=services.key.public, hand=3)
        play_on(table)
        made.append(table)
        return table.events, table.end

    return services.tables.create(opened).table.state.game


def state_of(services: Services, game: str) -> State:
    """The table as it is."""
    return services.tables.load(game).state


def reveal(services: Services, game: str) -> None:
    """Let all hands be shown, after the last event."""
    services.clock.now = max(services.clock(), state_of(services, game).last_at) + 5  # type: ignore[attr-defined]
    while (state := state_of(services, game)).sealed:
        services.tables.handle(game, c.RevealHand(hand=state.sealed[0].number))


def code(answer: object) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]  # type: ignore[attr-defined]


def test_nothing_shows_the_cards_before_the_reveal(services: Services, four: list[Guest], game: str) -> None:
    """Given a table that is over and sealed, then record, open hands and practice wait, and are there when all was revealed."""
    assert [1, 2] == [hand.number for hand in state_of(services, game).sealed]
    stranger = four[0]
    events = [json.loads(one["event"]) for one in stranger.get(f"/v1/games/{game}/events").json["events"]]
    at = next(one["n"] for one in events if one["t"] == "card_played")
    branch = {"at": at, "seat": 0}

    def ask() -> list[object]:
        return [
            stranger.get(f"/v1/games/{game}/record"),
            stranger.get(f"/v1/games/{game}?at={at}&open=1"),
            stranger.get(f"/v1/games/{game}?at={at}&as=2"),
            stranger.post(f"/v1/games/{game}/branch", branch),
        ]

    assert [
        (409, "game/not_over"),
        (409, "hand/not_over"),
        (409, "hand/not_over"),
        (409, "game/not_over"),
    ] == [code(one) for one in ask()]
    hands = state_of(services, game).sealed
    proof = stranger.get(f"/v1/games/{game}/proof").data
    assert not any(hand.secret.encode() in proof for hand in hands)
    reveal(services, game)
    assert [200, 200, 200, 201] == [one.status_code for one in ask()]  # type: ignore[attr-defined]
    proof = stranger.get(f"/v1/games/{game}/proof").data
    assert all(hand.secret.encode() in proof for hand in hands)
    assert 2 == len(stranger.get(f"/v1/games/{game}/record").json["hands"])


def test_the_games_own_audit_holds_before_and_after(services: Services, stranger: Guest, game: str) -> None:
    """Given a sealed table, then its audit says what it waits for; when all was revealed its claims hold."""
    before = {one["name"]: one for one in stranger.get(f"/v1/games/{game}/audit").json["claims"]}
    assert "are sealed until every table of group" in before["R"]["detail"]
    reveal(services, game)
    project(services, game)
    after = stranger.get(f"/v1/games/{game}/audit").json
    assert [] == after["problems"]
    assert {"I": "holds", "R": "holds", "B": "holds"}.items() <= {
        one["name"]: one["status"] for one in after["claims"]
    }.items()
