"""schemathesis in short: some hundred calls, always the same ones; `make fuzz` makes twenty thousand at a running house."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import schemathesis
from flask import Flask
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import from_schema
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished
from werkzeug.serving import WSGIRequestHandler, make_server

from services.wiring import Services
from tests.api.guests import Guest
from tests.fuzz import judgement
from tests.fuzz.plan import configuration, seed_games

RUN = """
[generation]
max-examples = {examples}
deterministic = true
[phases.coverage]
enabled = false
[phases.stateful]
max-steps = 8
"""


class Quiet(WSGIRequestHandler):
    """Serves, and tells nobody."""

    def log(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """The address of ``app`` on a port of its own."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fuzzed(app: Flask, guest: Guest, services: Services, examples: int) -> tuple[int, set[str], list[str]]:
    """How many calls were made, to which operations, and what was found."""
    games = seed_games(lambda path, body: guest.post(path, body).json)
    for game in games:
        services.tables.act_for_house(game)
    config = SchemathesisConfig.from_str(
        f"seed = 1\n{configuration(guest.token, Guest(app, 'Spare').token, games)}{RUN.format(examples=examples)}"
    )
    with served(app) as url:
        schema = schemathesis.openapi.from_url(f"{url}/v1/openapi.json", config=config)
        return judged(list(from_schema(schema).execute()))


def judged(events: list[Any]) -> tuple[int, set[str], list[str]]:
    """What the events of a run tell."""
    calls, called, found = 0, set(), []
    for event in events:
        if isinstance(event, FatalError | NonFatalError):
            found.append(repr(event.exception if isinstance(event, FatalError) else event.value))
        elif isinstance(event, ScenarioFinished):
            calls += len(event.recorder.interactions)
            called |= {node.value.operation.label for node in event.recorder.cases.values()}
            found += [
                f"{event.label}: {check.failure_info.failure} {check.failure_info.code_sample}"
                for checks in event.recorder.checks.values()
                for check in checks
                if check.failure_info is not None
            ]
    return calls, called, found


def test_schemathesis_finds_nothing(app: Flask, four: list[Guest], services: Services) -> None:
    """Requests made of the document, right and wrong, alone and along its links, are answered as the document says."""
    calls, called, found = fuzzed(app, four[0], services, examples=10)
    assert not found, "\n".join(found)
    assert 200 < calls, calls
    assert len(Guest(app).get("/v1/openapi.json").json["paths"]) <= len(called)


def test_what_it_would_find_is_found(
    app: Flask, four: list[Guest], services: Services, monkeypatch: Any
) -> None:
    """Where a server fails, and where it refuses what fits its description, the run says so."""
    monkeypatch.setattr(judgement, "BEYOND_SCHEMAS", {})
    app.view_functions["ops.show_version"] = lambda: ("oops", 500, {"Content-Type": "text/html"})
    _, _, found = fuzzed(app, four[0], services, examples=4)
    assert any("GET /version" in one for one in found)
    assert any("GET /v1/games" in one for one in found)
