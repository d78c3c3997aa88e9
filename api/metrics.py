"""Metrics for Prometheus, of one API process, on a port of their own (docs/operating.md, Metrics).

Counted here: requests, commands, appends. Read from the store when somebody asks: what lags, what waits, what was set
aside, which is the same at every process. No label ever holds an id, a name, a token or a card: routes are templates,
outcomes the codes of `api.errors`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast
from wsgiref.simple_server import WSGIServer

from flask import Flask, Response, request
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from api.errors import CODES, ProblemResponse
from api.gate import Wsgi
from api.inputs import RawRequest
from api.ops import program_version
from services.figures import Figures, read_figures
from services.settings import Settings
from services.store import StoreUnavailable
from services.wiring import Services

BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
"""Seconds; a long poll lasts 30."""
_METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))
_COMMANDS: Final = frozenset(("POST", "DELETE"))
_BEGAN: Final = "hearts.began"
_NO_ROUTE: Final = "none"
"""The route of a request for an address at which there is nothing."""

log = logging.getLogger("hearts.api")


class Metrics:
    """What one application counts. Safe for threads."""

    def __init__(self, services: Services) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, which nobody reads
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "hearts_http_requests",
            "Requests that were answered",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "hearts_http_request_seconds",
            "Seconds until a request was answered, its turn and its wait included; of a stream its first piece",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._commands = Counter(
            "hearts_commands",
            "Commands by what became of them: ok, replayed, or the code of the refusal",
            ["route", "outcome"],
            registry=self.registry,
        )
        appends = Histogram(
            "hearts_append_seconds",
            "Seconds that an append to the log took, the write to disk included",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._listeners = Gauge(
            "hearts_live_listeners", "Connections that listen to events now", registry=self.registry
        )
        self._known: dict[tuple[str, str, int, str], tuple[Counter, Histogram, Counter | None]] = {}
        services.store.watch = appends.observe
        self.registry.register(StoreCollector(services))
        ProcessCollector(registry=self.registry)

    def watch_listeners(self, count: Callable[[], int]) -> None:
        """Let ``count`` tell, whenever somebody asks, how many listen to events."""
        self._listeners.set_function(count)

    def install(self, app: Flask) -> None:
        """Count every request of an application. Call it when its routes are there, before what wraps it is."""
        app.after_request(self._count)

    def time(self, inner: Wsgi) -> Wsgi:
        """``inner``, with the time at which each request came noted."""

        def outer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            environ[_BEGAN] = time.perf_counter()
            return inner(environ, start_response)

        return outer

    def _count(self, response: Response) -> Response:
        asked = cast(RawRequest, request)._get_current_object()  # type: ignore[attr-defined]  # once, not at each look
        rule = asked.url_rule
        route = _NO_ROUTE if rule is None else rule.rule
        method = asked.method if asked.method in _METHODS else "other"
        status = response.status_code
        outcome = _outcome(response) if method in _COMMANDS and rule is not None else ""
        requests, seconds, commands = self._children(method, route, status, outcome)
        requests.inc()
        seconds.observe(time.perf_counter() - asked.wsgi[_BEGAN])
        if commands is not None:
            commands.inc()
        return response

    def _children(
        self, method: str, route: str, status: int, outcome: str
    ) -> tuple[Counter, Histogram, Counter | None]:
        """The counters of such a request; kept, as to look up three by their labels takes longer than to count."""
        key = (method, route, status, outcome)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (
                self._requests.labels(method, route, str(status)),
                self._seconds.labels(route),
                self._commands.labels(route, outcome) if outcome else None,
            )
        return found


def _outcome(response: Response) -> str:
    if isinstance(response, ProblemResponse):
        return response.code if response.code in CODES else "other"
    return "replayed" if "Idempotency-Replayed" in response.headers else "ok"


class StoreCollector(Collector):
    """What stands in the store, read anew whenever somebody asks."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def describe(self) -> Iterable[Metric]:
        """Nothing: to be told the names, the registry would ask the store as this is made."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The metrics; where the store does not answer, that alone."""
        yield InfoMetricFamily("hearts_build", "What is running", value={"version": program_version()})
        try:
            figures = read_figures(self._services)
        except StoreUnavailable:
            yield GaugeMetricFamily("hearts_store_up", "Whether the store answers", value=0)
            return
        yield GaugeMetricFamily("hearts_store_up", "Whether the store answers", value=1)
        yield from _told(figures)


def _told(figures: Figures) -> Iterator[Metric]:
    yield _by(
        "hearts_lag_appends", "Appends that a consumer group has yet to deal with", "group", figures.lag
    )
    yield _by("hearts_games", "Games by status", "status", figures.games)
    plain: list[tuple[str, str, float | None]] = [
        ("hearts_due_games", "Games in which a bot or a clock must act, now or later", figures.due),
        ("hearts_overdue_games", "Games in which a bot or a clock should have acted by now", figures.overdue),
        ("hearts_overdue_seconds", "How long the first of those has waited", figures.waited_ms / 1000),
        ("hearts_queued_jobs", "Jobs for bot workers in the queue", figures.queued),
        ("hearts_parked_games", "Games that could not be folded and were set aside", figures.parked),
        (
            "hearts_skipped_games",
            "Games that were set aside and are left alone by an operator",
            figures.skipped,
        ),
        ("hearts_standings_lag_games", "Finished games that the standings do not have yet", figures.unfolded),
        ("hearts_store_memory_bytes", "Memory that the store's server uses", figures.memory),
    ]
    for name, what, value in plain:
        if value is not None:
            yield GaugeMetricFamily(name, what, value=value)


def _by(name: str, what: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, what, labels=[label])
    for one, value in values.items():
        family.add_metric([one], value)
    return family


def serve_metrics(metrics: Metrics, settings: Settings) -> tuple[WSGIServer, threading.Thread] | None:
    """Serve metrics on the first free port of those for this server's processes; none where none is free.

    A process goes on without: to serve tables is more than to count them.
    """
    ports = range(settings.metrics_port, settings.metrics_port + settings.api_workers)
    for port in ports:
        try:
            return start_http_server(port, settings.metrics_host, metrics.registry)
        except OSError as error:
            log.debug("port %d of %s: %s", port, settings.metrics_host, error)
    log.error(
        "no port from %d to %d of %s is free for the metrics", ports[0], ports[-1], settings.metrics_host
    )
    return None
