"""The headers of every answer, and which other sites may call from a browser."""

import dataclasses
from collections.abc import Callable

import pytest
from flask import Flask

from api.app import create_app
from api.headers import OWN_PAGES_ONLY, SECURITY_HEADERS, TLS_ONLY
from services.wiring import Services
from tests.api.guests import Guest, open_table

SITE = "https://cards.example"
Other = Callable[..., Flask]


@pytest.fixture
def other(services: Services) -> Other:
    """Makes an application with other settings."""

    def make(**changes: object) -> Flask:
        settings = dataclasses.replace(services.settings, **changes)  # type: ignore[arg-type]
        return create_app(dataclasses.replace(services, settings=settings))

    return make


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/about",
        "/cards.svg",
        "/play/main.js",
        "/docs",
        "/docs.css",
        "/audit",
        "/audit-page.js",
        "/verify",
        "/verify.js",
        "/v1/openapi.json",
        "/livez",
        "/v1/games",
        "/v1/games/no",
        "/nowhere",
    ],
)
def test_every_answer_is_guarded(app: Flask, path: str) -> None:
    """Pages, data, refusals and what is not there: each header once, none of TLS where there is none."""
    headers = app.test_client().get(path).headers
    for name, value in [*SECURITY_HEADERS, OWN_PAGES_ONLY]:
        assert [value] == headers.getlist(name)
    assert TLS_ONLY[0] not in headers
    assert [] == [name for name, _ in headers if name.lower().startswith("access-control")]


def test_the_policy_lets_the_pages_have_what_they_use(app: Flask) -> None:
    """The pages take their style from here, and have no script, style or picture in them that the policy forbids."""
    policy = dict(SECURITY_HEADERS)["Content-Security-Policy"]
    for rule in ("default-src 'self'", "frame-ancestors 'none'", "object-src 'none'", "base-uri 'none'"):
        assert rule in policy.split("; ")
    for path in ("/about", "/docs"):
        page = app.test_client().get(path).text
        assert '<link rel="stylesheet" href="/docs.css">' in page
        for forbidden in (
            "<script",
            "<style",
            " style=",
            " onclick=",
            "javascript:",
            'src="http',
            'href="http',
        ):
            assert forbidden not in page


def test_tls_is_kept_to_where_it_is(app: Flask, other: Other) -> None:
    """A browser that came by TLS is told to stay with it; by what a proxy says only where it is believed."""
    said = {"X-Forwarded-Proto": "https"}
    assert TLS_ONLY[0] not in app.test_client().get("/livez", headers=said).headers
    client = other(proxies=1).test_client()
    assert TLS_ONLY[1] == client.get("/livez", headers=said).headers[TLS_ONLY[0]]
    assert TLS_ONLY[0] not in client.get("/livez").headers
    assert TLS_ONLY[1] == app.test_client().get("/livez", base_url="https://localhost").headers[TLS_ONLY[0]]


def test_no_other_site_is_let_in_by_default(app: Flask) -> None:
    """Neither an answer nor what is asked beforehand speaks of other sites."""
    for method in ("GET", "OPTIONS"):
        asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
        answer = app.test_client().open("/v1/games", method=method, headers=asked)
        assert [] == [name for name, _ in answer.headers if name.lower().startswith("access-control")]


def test_a_named_site_is_let_in(other: Other, four: list[Guest]) -> None:
    """It may read every answer, refusals included, with the headers of the contract; never with cookies."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    client = other(cors_origins=f"{SITE}, http://localhost:5173").test_client()
    for path, status in (
        (f"/v1/games/{game}", 200),
        ("/v1/games/no", 404),
        ("/v1/me", 401),
        ("/version", 200),
    ):
        headers = client.get(path, headers={"Origin": SITE}).headers
        assert (SITE, None) == (
            headers["Access-Control-Allow-Origin"],
            headers.get("Access-Control-Allow-Credentials"),
        ), (path, status)
        shown = headers["Access-Control-Expose-Headers"].split(", ")
        assert {"ETag", "Location", "Link", "Retry-After", "Idempotency-Replayed", "RateLimit"} <= set(shown)
        assert "Origin" in ", ".join(headers.getlist("Vary")).split(", ")
        assert OWN_PAGES_ONLY[0] not in headers
    table = client.get(f"/v1/games/{game}", headers={"Origin": SITE})
    assert ["Authorization", "Origin"] == sorted(", ".join(table.headers.getlist("Vary")).split(", "))
    assert str(len(table.data)) == table.headers["Content-Length"]
    assert [table.headers["ETag"]] == table.headers.getlist("ETag")


def test_what_a_browser_asks_beforehand(other: Other) -> None:
    """A named site hears which methods and headers it may send, and for how long it may remember that."""
    client = other(cors_origins=SITE).test_client()
    for path, method in (("/v1/games", "POST"), ("/v1/me", "PATCH"), ("/v1/games/x/seats/0", "DELETE")):
        headers = client.options(
            path,
            headers={
                "Origin": SITE,
                "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "authorization, idempotency-key, content-type, if-match",
            },
        ).headers
        assert (SITE, "600") == (headers["Access-Control-Allow-Origin"], headers["Access-Control-Max-Age"])
        assert method in headers["Access-Control-Allow-Methods"].split(", ")
        allowed = headers["Access-Control-Allow-Headers"].lower().split(", ")
        assert {"authorization", "idempotency-key", "content-type", "if-match"} == set(allowed)
        assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize(
    "origin",
    ["https://cards.example.evil.example", "http://cards.example", "https://xcards.example", "null", "*"],
)
def test_a_site_that_is_not_named_is_not_let_in(other: Other, origin: str) -> None:
    """Names are compared whole, scheme included."""
    client = other(cors_origins=SITE).test_client()
    for method in ("GET", "OPTIONS"):
        asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
        headers = client.open("/v1/games", method=method, headers=asked).headers
        assert "Access-Control-Allow-Origin" not in headers
