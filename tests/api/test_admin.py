"""What an operator sees of the house, and games that were set aside tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api.admin import OverviewAnswer, RetryAnswer, SkipAnswer
from api.meter import BOUNDS, SPAN, Meter
from services.projections import Parked
from services.queue import Queue
from services.store import StoreUnavailable
from services.wiring import Services
from tests.api.guests import Guest, open_table
from tests.api.test_docs import check
from workers.projector import Projector


@pytest.fixture
def operator(services: Services, four: list[Guest]) -> Guest:
    """Somebody with a token of the scope admin."""
    four[3].token = services.players.tokens.issue(four[3].id, ["admin"]).token
    return four[3]


@pytest.fixture
def catch_up(projector: Projector) -> Callable[[], None]:
    """Lets the projector deal with what there is."""

    def caught_up() -> None:
        while projector.round():
            pass

    return caught_up


def overview(operator: Guest) -> dict[str, Any]:
    """How the house does."""
    answer = operator.get("/v1/admin/overview")
    assert (200, "no-store") == (answer.status_code, answer.headers["Cache-Control"])
    body: dict[str, Any] = answer.json
    check(OverviewAnswer, body)
    return body


def test_only_for_operators(four: list[Guest], stranger: Guest) -> None:
    """Without a token 401, without the scope 403; the page itself tells nothing and is for all."""
    for method, path in (("GET", "overview"), ("POST", "parked/x/retry"), ("POST", "parked/x/skip")):
        assert 401 == stranger.call(method, f"/v1/admin/{path}").status_code
        assert 403 == four[0].call(method, f"/v1/admin/{path}").status_code
    assert 200 == stranger.get("/admin").status_code


def test_the_figures(
    services: Services, operator: Guest, four: list[Guest], catch_up: Callable[[], None]
) -> None:
    """Games by status, what is due and what lags, and that the queues' server does not answer."""
    before = overview(operator)
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    now = overview(operator)
    assert 1 == now["figures"]["lag"]["projector"]
    assert 1 == now["appends"] - before["appends"]
    assert (1, [game]) == (now["figures"]["overdue"], [one["game"] for one in now["overdue"]])
    services.tables.act_for_house(game)
    catch_up()
    now = overview(operator)
    assert (0, 1, 0) == (
        now["figures"]["lag"]["projector"],
        now["figures"]["games"]["over"],
        now["figures"]["due"],
    )
    assert ["hearts", "hearts-audits"] == [one["name"] for one in now["queues"]]
    assert {None} == {one[field] for one in now["queues"] for field in ("waiting", "workers")}
    assert 2 == now["leaves"]


def test_what_the_process_has_done(operator: Guest, stranger: Guest) -> None:
    """Requests, commands and refusals of the last seconds."""
    for _ in range(3):
        stranger.get("/v1/games/nothing")
    body = overview(operator)
    assert SPAN == body["width"] * len(body["recent"])
    for piece in body["recent"]:
        assert piece["refused"] <= piece["requests"]


def test_a_parked_game_is_tried_again(
    services: Services, operator: Guest, four: list[Guest], catch_up: Callable[[], None]
) -> None:
    """Given a game with a hole, then it is set aside and told; once the hole is mended and it is tried again, it is projected."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    key, client = services.keys.stream(game), services.client
    entries = client.xrange(key)
    client.xdel(key, entries[1][0])
    catch_up()
    (told,) = overview(operator)["parked"]
    assert (game, 1) == (told["game"], told["times"])
    assert told["why"].startswith("CorruptStream")
    answer = operator.post(f"/v1/admin/parked/{game}/retry")
    check(RetryAnswer, answer.json)
    assert {"game": game, "retried": True} == answer.json
    catch_up()
    assert [2] == [one["times"] for one in overview(operator)["parked"]]
    client.delete(key)
    for entry, fields in entries:
        client.xadd(key, fields, id=entry)
    assert operator.post(f"/v1/admin/parked/{game}/retry").json["retried"]
    catch_up()
    assert [] == overview(operator)["parked"]
    assert {"game": game, "retried": False} == operator.post(f"/v1/admin/parked/{game}/retry").json
    assert 404 == operator.post(f"/v1/admin/parked/{'0' * 24}/retry").status_code


def test_a_parked_game_is_left_alone(
    services: Services, operator: Guest, four: list[Guest], catch_up: Callable[[], None]
) -> None:
    """Given a game with a hole is skipped, then neither figures nor warnings count it, but it is told; until it is tried again."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    services.client.xdel(services.keys.stream(game), services.client.xrange(services.keys.stream(game))[1][0])
    catch_up()
    assert any("set aside" in one for one in overview(operator)["warnings"])
    for _ in range(2):
        answer = operator.post(f"/v1/admin/parked/{game}/skip")
        check(SkipAnswer, answer.json)
        assert {"game": game, "skipped": True} == answer.json
    told = overview(operator)
    assert (0, 1) == (told["figures"]["parked"], told["figures"]["skipped"])
    assert not any("set aside" in one for one in told["warnings"])
    assert [(game, True, False)] == [(one["game"], one["skipped"], one["asked"]) for one in told["parked"]]
    assert operator.post(f"/v1/admin/parked/{game}/retry").json["retried"]
    told = overview(operator)
    assert [(False, True, 1)] == [(one["skipped"], one["asked"], one["times"]) for one in told["parked"]]
    catch_up()
    told = overview(operator)
    assert [(False, False, 2)] == [(one["skipped"], one["asked"], one["times"]) for one in told["parked"]]
    assert (1, 0) == (told["figures"]["parked"], told["figures"]["skipped"])
    services.projections.take_back(game)
    assert {"game": game, "skipped": False} == operator.post(f"/v1/admin/parked/{game}/skip").json
    assert 404 == operator.post(f"/v1/admin/parked/{'0' * 24}/skip").status_code


def test_a_mark_that_was_left(
    services: Services, operator: Guest, four: list[Guest], catch_up: Callable[[], None]
) -> None:
    """Given a game that is projected and still marked, or one whose stream is gone."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    catch_up()
    services.projections.park(
        {game: Parked(seq=1, why="x", times=1, at=1), "f" * 24: Parked(seq=1, why="x", times=1, at=1)}
    )
    assert operator.post(f"/v1/admin/parked/{game}/retry").json["retried"]
    assert ["f" * 24] == [one["game"] for one in overview(operator)["parked"]]
    assert 404 == operator.post(f"/v1/admin/parked/{'f' * 24}/retry").status_code


def test_a_queue_that_does_not_answer(
    services: Services, operator: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told so, and the rest is told all the same."""

    def gone(_: Queue) -> list[str]:
        raise StoreUnavailable("no answer")

    monkeypatch.setattr(Queue, "waiting", gone)
    body = overview(operator)
    assert [None, None] == [one["waiting"] for one in body["queues"]]
    assert body["figures"]["queued"] is None


# --- the meter


def test_the_meter_counts_by_the_second() -> None:
    """Each second in its piece, the present one in none; after `SPAN` seconds it is forgotten."""
    now = [1000.0]
    meter = Meter(lambda: now[0])
    for seconds, command, refused in (
        (0.0015, True, False),
        (0.0015, True, True),
        (0.4, True, False),
        (9.0, False, False),
    ):
        meter.note(seconds, command=command, refused=refused)
    assert 0 == sum(piece.requests for piece in meter.recent(5))
    now[0] += 1
    last = meter.recent(5)[-1]
    assert (4, 3, 1, 0.002, 0.5) == last
    meter.note(99.0, command=True, refused=False)
    now[0] += 1
    assert 2 * BOUNDS[-1] == meter.recent(1)[-1].p99
    now[0] += SPAN
    assert {(0, 0, 0, None, None)} == set(meter.recent(5))
