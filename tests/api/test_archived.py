"""Archived games over HTTP: whatever is asked for, the answer is the same as when they were in the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import redis
from werkzeug.test import TestResponse

from api.app import create_app
from services.archive import file_name
from services.settings import Settings
from services.wiring import Services, build
from tests.api.guests import Guest, open_table
from tests.support.audited import project
from tests.support.clock import Clock


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path, clock: Clock) -> Services:
    """Services with an archive."""
    return build(Settings(data=tmp_path, partitions=4), store=valkey, clock=clock)


@pytest.fixture
def game(services: Services, four: list[Guest]) -> str:
    """A finished game of two hands between persons and bots."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=2)
    services.tables.act_for_house(game, 10_000)
    project(services, game)
    return game


def addresses(services: Services, game: str) -> list[str]:
    """What can be asked of a finished game."""
    entries = services.store.read(game)
    events = [json.loads(public) for _, public, _ in entries]
    plays = [event["n"] for event in events if event["t"] == "card_played"]
    middle, late = plays[9], plays[-3]
    card = events[middle - 1]["card"]
    pages = [
        "",
        "/events",
        f"/events?after={middle}&limit=7",
        f"/events?after={late}",
        "/proof",
        "/record",
        "/audit",
    ]
    pages += [f"?at={at}" for at in (1, middle, late)] + [
        f"?at={middle}&seat=2",
        f"/diff?from={middle}&to={late}",
    ]
    pages += [f"/why?card={card}&at={middle - 1}", "/receipt", "/log", f"/events?after={len(entries)}"]
    return [f"/v1/games/{game}{page}" for page in pages]


def plain(answer: TestResponse) -> object:
    """An answer without what changes from one minute to the next."""
    if answer.content_type.startswith("application/json"):
        return (
            answer.status_code,
            answer.headers.get("ETag"),
            answer.headers.get("Cache-Control"),
            answer.json,
        )
    lines = [line for line in answer.data.split(b"\n") if not line.startswith(b'{"checkpoint"')]
    return answer.status_code, answer.headers.get("ETag"), lines


def test_every_answer_is_the_same(services: Services, stranger: Guest, game: str) -> None:
    """Given a server that knew the game, and one that has just started, then both answer from the archive as before."""
    asked = addresses(services, game)
    before = {address: plain(stranger.get(address)) for address in asked}
    good = [address for address, answer in before.items() if answer[0] == 200]
    assert 12 <= len(good), before
    assert services.archiver is not None
    assert services.archiver.archive(game)
    assert before == {address: plain(stranger.get(address)) for address in asked}
    anew = build(services.settings, store=services.client, clock=services.clock)
    other = Guest(create_app(anew))
    assert before == {address: plain(other.get(address)) for address in asked}


def test_an_archive_that_cannot_be_read_is_told(
    services: Services, stranger: Guest, game: str, tmp_path: Path
) -> None:
    """Given a file that is gone, then the game was altered; given a folder that is not to be had, one may come back."""
    last = services.store.last(game)
    assert services.archiver is not None
    services.archiver.archive(game)
    path = tmp_path / "archive" / file_name(game, last)
    block = path.read_bytes()
    path.unlink()
    anew = Guest(create_app(build(services.settings, store=services.client, clock=services.clock)))
    answer = anew.get(f"/v1/games/{game}/events")
    assert (500, "game/altered") == (answer.status_code, answer.json["code"])
    path.parent.rmdir()
    path.parent.write_bytes(b"")
    answer = anew.get(f"/v1/games/{game}/events")
    assert (503, "store/unavailable") == (answer.status_code, answer.json["code"])
    assert "Retry-After" in answer.headers
    path.parent.unlink()
    path.parent.mkdir()
    path.write_bytes(block)
    assert 200 == anew.get(f"/v1/games/{game}/events").status_code
