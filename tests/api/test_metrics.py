"""Metrics: what is counted, what is read from the store, and what never stands in a label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import redis
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.errors import CODES
from api.metrics import Metrics, serve_metrics
from services.feed import Feed
from services.figures import read_figures
from services.projections import GROUP, Parked
from services.queue import Queue
from services.settings import Settings
from services.standings_fold import Ledger
from services.store import StoreUnavailable, connect
from services.wiring import Services, build
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.support.finished import finished
from tests.support.ports import free_ports

OPERATING = (Path(__file__).resolve().parents[2] / "docs/operating.md").read_text(encoding="utf-8")


@pytest.fixture
def services(services: Services) -> Services:
    """Services whose queue is on the test's store, too."""
    return replace(services, queue=Queue(services.client))


@pytest.fixture
def metrics(services: Services) -> Metrics:
    """The metrics of the application."""
    return Metrics(services)


@pytest.fixture
def app(services: Services, metrics: Metrics) -> Flask:
    """An application that counts."""
    return create_app(services, metrics=metrics)


@pytest.fixture
def value(metrics: Metrics) -> Callable[..., float | None]:
    """Reads a sample by its name and labels, none where there is none."""
    return lambda name, **labels: metrics.registry.get_sample_value(name, labels)


@pytest.fixture
def page(metrics: Metrics, services: Services) -> Iterator[Callable[[], httpx.Response]]:
    """Reads the page from the port that it is served on."""
    port = free_ports()
    settings = replace(services.settings, metrics_port=port)
    served = serve_metrics(metrics, settings)
    assert served
    server, thread = served
    with httpx.Client() as client:
        yield lambda: client.get(f"http://127.0.0.1:{port}/metrics")
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_requests_are_counted_by_route_and_status(four: list[Guest], stranger: Guest, value) -> None:
    """Routes are templates; an address at which nothing is has none."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    for _ in range(3):
        stranger.get(f"/v1/games/{game}")
    stranger.get("/v1/games/nothing")
    stranger.get("/wp-login.php")
    stranger.client.open("/v1/variants", method="BREW")
    route = "/v1/games/<game>"
    requests = "hearts_http_requests_total"
    assert [3, 1] == [value(requests, method="GET", route=route, status=status) for status in ("200", "404")]
    assert 4 == value("hearts_http_request_seconds_count", route=route)
    assert 1 == value(requests, method="GET", route="none", status="404")
    assert 1 == value(requests, method="other", route="none", status="405")
    assert 4 == value(requests, method="POST", route="/v1/players", status="201")


def test_commands_are_counted_by_what_became_of_them(four: list[Guest], value) -> None:
    """Done, done before under its key, or refused with a code; reads are no commands."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    for _ in range(2):
        four[1].post(f"/v1/games/{game}/seats", Idempotency_Key="once")
    four[2].post(f"/v1/games/{game}/seats", {"seat": 0})
    four[3].post(f"/v1/games/{game}/seats", {"set": 0})
    seats = "/v1/games/<game>/seats"
    for outcome in ("ok", "replayed", "seat/taken", "request/invalid"):
        assert 1 == value("hearts_commands_total", route=seats, outcome=outcome), outcome
    assert value("hearts_commands_total", route="/v1/games/<game>", outcome="ok") is None


def test_appends_are_timed(four: list[Guest], value) -> None:
    """Each that goes to the store is, a refusal is none."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    before = value("hearts_append_seconds_count")
    four[1].post(f"/v1/games/{game}/seats")
    four[1].post(f"/v1/games/{game}/seats")
    assert (1, before + 1) == (before, value("hearts_append_seconds_count"))
    assert 0 < value("hearts_append_seconds_sum") < 10


def test_listeners_are_what_the_streams_say(metrics: Metrics, value) -> None:
    """None until somebody tells; then asked anew each time."""
    assert 0 == value("hearts_live_listeners")
    listening = [7, 8]
    metrics.watch_listeners(lambda: listening.pop(0))
    assert [7, 8] == [value("hearts_live_listeners"), value("hearts_live_listeners")]


def test_what_stands_in_the_store(services: Services, four: list[Guest], value) -> None:
    """Lag, games, what is due and since when, what was parked, the standings' lag, memory."""
    Feed(services.client, services.keys).ensure_group(GROUP)
    open_table(four[0], ["me", "open", "open", "open"])
    open_table(four[0], ["me", *[{"bot": "rules"}] * 3])
    bots = open_table(four[0], [{"bot": "rules"}] * 4)
    services.clock.now += 2500
    mark = Parked(seq=1, why="x", times=1, at=1)
    skipped = Parked(seq=1, why="x", times=1, at=1, skipped=True)
    services.projections.park({"g": mark, "left": skipped, "alone": skipped})
    Ledger(services.client, services.keys).enter([finished("g", [1, 2, 3])])
    figures = read_figures(services)
    assert ({GROUP: 3}, 3, 1, 2500) == (figures.lag, figures.due, figures.overdue, figures.waited_ms)
    assert (0, 1, 2, 1) == (figures.queued, figures.parked, figures.skipped, figures.unfolded)
    assert figures.memory > 100_000
    assert (3, 1, 2.5) == (
        value("hearts_lag_appends", group="projector"),
        value("hearts_overdue_games"),
        value("hearts_overdue_seconds"),
    )
    assert (1, 1, 2, 1) == (
        value("hearts_store_up"),
        value("hearts_parked_games"),
        value("hearts_skipped_games"),
        value("hearts_standings_lag_games"),
    )
    services.client.zadd(services.keys.lobby(0, "over"), {bots: 1})
    assert [0, 1] == [value("hearts_games", status=status) for status in ("playing", "over")]


def test_to_read_figures_again_and_again_keeps_no_connections(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path
) -> None:
    """Given few connections, then they last, however often somebody asks."""
    with connect(valkey_url, max_connections=6) as client:
        built = build(Settings(data=tmp_path, partitions=4, store_url=valkey_url), store=client)
        for _ in range(12):
            assert 0 == read_figures(built).unfolded
        built.queue.close()


def test_a_store_that_is_silent_is_told_and_the_rest_goes_on(
    services: Services, stranger: Guest, value, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page still comes, with what this process has counted."""
    stranger.get("/livez")

    def silent(*_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(services.store.wire, "pipeline", silent)
    assert (0, None) == (value("hearts_store_up"), value("hearts_due_games"))
    assert 1 == value("hearts_http_requests_total", method="GET", route="/livez", status="200")


def test_what_cannot_be_told_is_left_out(services: Services, value, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that does not let its memory be asked, a queue on a server that is away."""
    call = services.store.wire.call

    def refuse(*command: object, **options: object) -> object:
        if command[0] == "INFO":
            raise redis.ResponseError("NOPERM")
        return call(*command, **options)

    def silent(*_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(services.store.wire, "call", refuse)
    monkeypatch.setattr(services.queue, "waiting", silent)
    assert (None, None, 1) == (
        value("hearts_store_memory_bytes"),
        value("hearts_queued_jobs"),
        value("hearts_store_up"),
    )


def test_the_page_is_what_prometheus_reads(page: Callable[[], httpx.Response], four: list[Guest]) -> None:
    """It parses, each metric says what it is, and what docs/operating.md lists is there."""
    seat_all(four)
    seen = page()
    assert (200, True) == (seen.status_code, seen.headers["Content-Type"].startswith("text/plain"))
    families = {family.name: family for family in text_string_to_metric_families(seen.text)}
    assert all(family.documentation for family in families.values())
    named = {name.removesuffix("_total") for name in re.findall(r"hearts_[a-z_]+", OPERATING)}
    ours = {name for name in families if name.startswith("hearts_")}
    assert named == ours


def test_no_label_holds_what_is_somebodys(
    page: Callable[[], httpx.Response], four: list[Guest], stranger: Guest
) -> None:
    """Given a game that is played, with refusals and odd addresses, then labels are templates, codes and numbers."""
    game = seat_all(four)
    for _ in range(12):
        play_on(four, game)
    for guest in four:
        guest.move(game, {"play": "QS"})
        guest.get(f"/v1/players/{guest.id}")
    stranger.get("/v1/games?player=Anna&after=QS")
    stranger.get("/Player%201/QS")
    text = page().text
    words = {game, *(guest.id for guest in four), *(guest.token for guest in four), "Player 1", "QS", "Anna"}
    assert [] == [word for word in words if word in text]
    labels = {
        label: {
            sample.labels[label]
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if label in sample.labels
        }
        for label in ("method", "route", "status", "outcome", "group")
    }
    rules = {rule.rule for rule in four[0].client.application.url_map.iter_rules()}
    assert labels["route"] <= rules | {"none"}
    assert labels["outcome"] <= {"ok", "replayed", *CODES}
    assert labels["method"] <= {"GET", "POST"}


def test_the_public_port_has_no_metrics(stranger: Guest) -> None:
    """404 like any address at which nothing is."""
    answer = stranger.get("/metrics")
    assert (404, "request/not_found") == (answer.status_code, answer.json["code"])


def test_each_process_takes_the_next_port(metrics: Metrics, services: Services, caplog) -> None:
    """Given two processes and two ports, then each has one; a third goes on without, and says so."""
    port = free_ports(2)
    settings = replace(services.settings, metrics_port=port, api_workers=2)
    served = [serve_metrics(metrics, settings) for _ in range(3)]
    assert [port, port + 1, None] == [one and one[0].server_port for one in served]
    assert f"no port from {port} to {port + 1} of 127.0.0.1 is free" in caplog.text
    for one in served[:2]:
        one[0].shutdown()
        one[0].server_close()
        one[1].join(10)


def test_nothing_is_counted_unless_it_is_asked_for(services: Services) -> None:
    """Without metrics an append is not timed."""
    create_app(services)
    assert services.store.watch is None
