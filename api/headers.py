"""The headers that every answer has, whoever made it; and which other web sites may call this server from a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Flask, Response
from flask_cors import CORS
from werkzeug.middleware.proxy_fix import ProxyFix

from api.gate import Wsgi
from services.settings import Settings

SECURITY_HEADERS: Final = [
    ("X-Content-Type-Options", "nosniff"),
    (
        "Content-Security-Policy",
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
    ),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
]
"""What an answer tells a browser not to do with it."""
OWN_PAGES_ONLY: Final = ("Cross-Origin-Resource-Policy", "same-origin")
"""Said unless other sites are let in."""
TLS_ONLY: Final = ("Strict-Transport-Security", "max-age=31536000")
"""Said where the request came by TLS, as far as the proxies tell that are believed."""
METHODS: Final = ["GET", "HEAD", "POST", "PATCH", "DELETE"]
TAKEN: Final = [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
]
SHOWN: Final = [
    "ETag",
    "Idempotency-Replayed",
    "Link",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
]
PREFLIGHT_SECONDS: Final = 600
"""How long a browser may remember what it was allowed."""
_MORE: Final = "hearts.headers"


def add_header(environ: dict[str, Any], name: str, value: str) -> None:
    """Let the answer to a request have one more header, whoever makes it."""
    environ.setdefault(_MORE, []).append((name, value))


def with_headers(inner: Wsgi, settings: Settings) -> Wsgi:
    """``inner`` with the security headers on every answer, and those that were added to the request's."""
    always = list(SECURITY_HEADERS)
    if not settings.cors_origins:
        always.append(OWN_PAGES_ONLY)

    def outer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            headers.extend(always)
            if environ["wsgi.url_scheme"] == "https":
                headers.append(TLS_ONLY)
            more = environ.get(_MORE)
            if more is not None:
                headers.extend(more)
            return start_response(status, headers, exc_info)

        return inner(environ, start)

    if settings.proxies:
        return ProxyFix(outer, x_for=settings.proxies, x_proto=settings.proxies, x_host=0)
    return outer


def let_in_origins(app: Flask, settings: Settings) -> None:
    """Let the pages of the sites that the settings name call ``app``; never with cookies, which nothing here reads."""
    origins = settings.cors_origins.replace(",", " ").split()
    if origins:
        app.after_request(_vary_by_origin)  # what is registered last is called first
        CORS(
            app,
            resources={r"/(v1/.*|version|livez|readyz)": {"origins": origins}},
            methods=METHODS,
            allow_headers=TAKEN,
            expose_headers=SHOWN,
            max_age=PREFLIGHT_SECONDS,
            supports_credentials=False,
            vary_header=True,
        )


def _vary_by_origin(response: Response) -> Response:
    """Say that the answer may differ by the site that asks, also where only one is named and the library does not."""
    if "origin" not in ",".join(response.headers.getlist("Vary")).lower():
        response.headers.add("Vary", "Origin")
    return response
