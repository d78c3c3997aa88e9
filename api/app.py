"""The application: `create_app` joins blueprints, errors, documentation and the headers that every answer has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from flask import Flask
from flask_smorest import Api
from werkzeug.routing import IntegerConverter, Map

from api.admin import admin
from api.advice import advices
from api.again import again
from api.answers import ProblemAnswer
from api.audits import audits
from api.branches import branches
from api.claims import claims
from api.errors import PROBLEM_JSON, register_errors
from api.explain import explain
from api.games import games
from api.gate import Gate
from api.headers import let_in_origins, with_headers
from api.helps import helps
from api.house import House
from api.inputs import LARGEST_BODY, RawRequest
from api.limits import Limits
from api.live import live
from api.logs import logs
from api.ops import ops
from api.pages import Pages
from api.players import players
from api.records import records
from api.rulebook import rulebook
from api.standings import standings
from api.tokens import tokens
from api.variants import variants
from services.wiring import Services

if TYPE_CHECKING:  # its library takes a while to import, and most servers count nothing
    from api.metrics import Metrics

ROOMS: Final = (
    players,
    tokens,
    variants,
    games,
    live,
    helps,
    claims,
    again,
    branches,
    explain,
    advices,
    rulebook,
    records,
    audits,
    logs,
    standings,
    ops,
    admin,
)
"""Whose views are served, in the order of the documentation."""
_ABOUT: Final = """Hearts by the rules of six families and their relatives, for people and bots. Every event of a game is kept, chained and open to check.

Refusals are `application/problem+json` (RFC 9457) with a stable `code`; a refused command changes nothing. A command may
carry `Idempotency-Key`, and answers about a game carry `ETag`. The contract is docs/spec/http.md of the project."""


class SeatConverter(IntegerConverter):
    """The number of a seat in an address; digits of other scripts are none."""

    regex = "[0-9]{1,2}"

    def __init__(self, url_map: Map) -> None:
        super().__init__(url_map, min=0, max=99)


class HeartsApi(Api):
    """flask-smorest's documentation, with problems as the one kind of error."""

    DEFAULT_ERROR_RESPONSE_NAME = "PROBLEM"
    ERROR_SCHEMA = ProblemAnswer

    def _register_pagination_header(self) -> None:
        """Leave out the components of a pagination that nothing here uses; ours are cursors."""


def create_app(
    services: Services, *, stopping: Callable[[], bool] = lambda: False, metrics: Metrics | None = None
) -> Flask:
    """The WSGI application on ``services``. ``stopping`` tells long polls to end, because the server is about to.

    What it does is counted in ``metrics``, where they are wanted.
    """
    app = Flask("hearts", static_folder=None)
    app.request_class = RawRequest
    app.config.update(
        # of a body without Content-Length one byte more is read, to see that it is too large
        MAX_CONTENT_LENGTH=LARGEST_BODY + 1,
        API_TITLE="Hearts",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
    )
    app.url_map.converters["seat"] = SeatConverter
    # an address with a slash too many is unknown, like any other; a redirect would answer with HTML
    app.url_map.merge_slashes = False
    gate = Gate(services.settings.api_threads)
    here = House(services, stopping, gate)
    here.install(app)
    api = HeartsApi(app, spec_kwargs={"info": {"description": _ABOUT}})
    _document_problems(api)
    for room in ROOMS:
        api.register_blueprint(room)
    register_errors(app)
    Pages(api.spec.to_dict()).install(app)
    Limits(here, services.settings).install(app)
    let_in_origins(app, services.settings)
    wsgi = here.meter.watch(gate.guard(with_headers(app.wsgi_app, services.settings)))
    if metrics is not None:
        metrics.install(app)
        metrics.watch_listeners(here.hub.listeners)
        wsgi = metrics.time(wsgi)
    app.wsgi_app = wsgi  # type: ignore[method-assign, assignment]
    return app


def _document_problems(api: HeartsApi) -> None:
    api.spec.components.response(
        "PROBLEM",
        {
            "description": "A refusal: it says why, and what would be accepted",
            "content": {PROBLEM_JSON: {"schema": ProblemAnswer}},
        },
    )
    api.spec.components.response(
        "UNCHANGED", {"description": "Nothing has changed since the version of `If-None-Match`"}
    )
    api.spec.components.security_scheme("bearer", {"type": "http", "scheme": "bearer"})
