"""The server's own report over HTTP."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.audits import AuditAnswer
from services import auditor
from services.wiring import Services
from tests.api.guests import Guest, open_table
from tests.api.test_docs import check
from tests.support.clock import Clock
from tests.support.tampering import change, place, rewrite, stream
from workers.projector import Projector

KEPT = "public, max-age=60"


@pytest.fixture
def game(services: Services, four: list[Guest], projector: Projector) -> str:
    """A finished game, projected."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    services.tables.act_for_house(game)
    while projector.round():
        pass
    return game


def test_the_report_on_a_finished_game(
    services: Services, stranger: Guest, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything holds; it is worked out once, and may be kept."""
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert (200, KEPT) == (answer.status_code, answer.headers["Cache-Control"])
    body = answer.json
    check(AuditAnswer, body)
    table = services.tables.load(game)
    assert (True, "over", [], True) == (body["ok"], body["status"], body["problems"], body["settled"])
    assert (game, table.seq, table.head.hex()) == (body["game"], body["seq"], body["head"])
    assert {"F": "not shown", "I": "holds", "R": "holds", "B": "holds"} == {
        one["name"]: one["status"] for one in body["claims"]
    }
    assert table.etag == answer.headers["ETag"]

    def fail(_: object) -> None:
        raise AssertionError("it was worked out again")

    monkeypatch.setattr(services.auditor, "audit", fail)
    again = stranger.get(f"/v1/games/{game}/audit")
    assert (answer.data, KEPT) == (again.data, again.headers["Cache-Control"])


def test_a_report_is_worked_out_again_after_a_minute(
    services: Services, stranger: Guest, game: str, clock: Clock
) -> None:
    """Given a game that somebody changes in the store meanwhile, then it is told within a minute."""
    assert stranger.get(f"/v1/games/{game}/audit").json["ok"]
    services.client.delete(services.keys.snapshot(game))
    services.client.set(services.keys.snapshot(game), "999:x")
    assert stranger.get(f"/v1/games/{game}/audit").json["ok"]
    clock.now += 60_000
    assert not stranger.get(f"/v1/games/{game}/audit").json["ok"]


def test_reports_are_kept_within_bounds(
    services: Services, stranger: Guest, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was asked for longest ago makes room."""
    monkeypatch.setattr(auditor, "KEPT_REPORTS", 0)
    assert 200 == stranger.get(f"/v1/games/{game}/audit").status_code
    assert services.auditor.kept_json(game, services.tables.load(game)) is None


def test_a_game_that_was_changed(services: Services, stranger: Guest, game: str) -> None:
    """What is wrong is told with its event, and the report is not kept."""
    seq = change(services, game, "card_played", lambda raw: raw.replace(b'"by":"bot"', b'"by":"clock"'))
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert "no-cache" == answer.headers["Cache-Control"]
    check(AuditAnswer, answer.json)
    assert answer.json["ok"] is False
    assert {"check": "R", "event": seq} == {
        key: value
        for one in answer.json["problems"]
        if one["check"] == "R"
        for key, value in one.items()
        if key != "detail"
    }


def test_before_the_read_models_have_the_end(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Given that the projector is behind, then the report holds, is not settled, and is not kept."""
    services.feed.ensure_group("projector")
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    services.tables.act_for_house(game)
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert (True, False) == (answer.json["ok"], answer.json["settled"])
    assert "no-cache" == answer.headers["Cache-Control"]


def test_it_waits_for_the_end(four: list[Guest], stranger: Guest) -> None:
    """409 before, with the version; 404 for what there is not."""
    game = open_table(four[0], ["me", *[{"bot": "rules"}] * 3])
    early = stranger.get(f"/v1/games/{game}/audit")
    assert (409, "game/not_over") == (early.status_code, early.json["code"])
    assert early.headers["ETag"].startswith(f'"{early.json["seq"]}-')
    assert 404 == stranger.get(f"/v1/games/{'0' * 24}/audit").status_code
    assert 404 == stranger.get("/v1/games/%7Bx%7D/audit").status_code


def test_a_game_that_cannot_be_folded(services: Services, stranger: Guest, game: str) -> None:
    """Given a hole in the stream, when nobody can load the table, then the report says so all the same."""
    services.client.xdel(services.keys.stream(game), "30-0")
    services.client.delete(services.keys.snapshot(game))
    services.tables._cache.drop(game)
    assert 500 == stranger.get(f"/v1/games/{game}").status_code
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert (200, "no-cache") == (answer.status_code, answer.headers["Cache-Control"])
    check(AuditAnswer, answer.json)
    assert {"check": "stream", "event": 30, "detail": "the stream has entry 31-0 here"} in answer.json[
        "problems"
    ]
    assert answer.headers["ETag"] == f'"29-{answer.json["head"][:16]}"'


Take = Callable[[Services, str], object]


def drop_the_end(services: Services, game: str) -> None:
    """Take the last events out of the stream."""
    last = services.store.last(game)
    for seq in range(last - 2, last + 1):
        services.client.xdel(services.keys.stream(game), f"{seq}-0")


@pytest.mark.parametrize(
    ("take", "words"),
    [
        (drop_the_end, "cut off"),
        (lambda services, game: services.client.delete(services.keys.stream(game)), "there are 0: cut off"),
        (
            lambda services, game: (
                services.client.delete(services.keys.stream(game)),
                services.client.lpush(services.keys.stream(game), "x"),
            ),
            "holds a list, and should hold a stream",
        ),
        (
            lambda services, game: (
                services.client.delete(services.keys.snapshot(game)),
                services.client.lpush(services.keys.snapshot(game), "x"),
            ),
            "holds a list, and should hold a string",
        ),
    ],
    ids=["end", "all", "stream", "snapshot"],
)
@pytest.mark.parametrize("fresh", [True, False])
def test_a_game_that_was_taken_away(
    services: Services, stranger: Guest, game: str, clock: Clock, take: Take, words: str, fresh: bool
) -> None:
    """Given that its end, or all of it, is gone, then the report tells so; it is no game that goes on, and not unknown."""
    if not fresh:
        assert stranger.get(f"/v1/games/{game}/audit").json["ok"]
    take(services, game)
    if fresh:
        services.tables._cache.drop(game)
    clock.now += 60_000
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert (200, "no-cache") == (answer.status_code, answer.headers["Cache-Control"]), answer.json
    check(AuditAnswer, answer.json)
    assert answer.json["ok"] is False
    assert words in " ".join(one["detail"] for one in answer.json["problems"])


@pytest.mark.parametrize("left", ["summary", "snapshot", "leaves"])
def test_whatever_is_left_of_a_game_tells_that_it_was_there(
    services: Services, stranger: Guest, game: str, left: str
) -> None:
    """Given that all is gone but one copy, then the report tells what that has of it."""
    client, keys = services.client, services.keys
    services.tables._cache.drop(game)
    client.delete(keys.stream(game))
    if left != "summary":
        client.delete(keys.table(game))
    if left != "snapshot":
        client.delete(keys.snapshot(game))
    if left != "leaves":
        client.delete(keys.log_places)
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert (200, False) == (answer.status_code, answer.json["ok"])
    check(AuditAnswer, answer.json)


def test_an_event_that_is_nested_without_end(services: Services, stranger: Guest, game: str) -> None:
    """It is told as any other that cannot be read."""
    entries = stream(services, game)
    seq = place(entries, "card_played") + 1
    entries[seq - 1][b"p"] = b"[" * 100_000
    rewrite(services, game, entries, number=False)
    answer = stranger.get(f"/v1/games/{game}/audit")
    assert 200 == answer.status_code
    check(AuditAnswer, answer.json)
    assert "fold" in {one["check"] for one in answer.json["problems"] if one["event"] == seq}
