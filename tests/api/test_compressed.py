"""Pages and their files come compressed to who takes that, and not at all to who has them."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api import compressed

Ask = Callable[..., TestResponse]
PATHS = [
    "/",
    "/about",
    "/docs",
    "/docs.css",
    "/cards.svg",
    "/play/main.js",
    "/verify",
    "/verify.js",
    "/v1/openapi.json",
]


@pytest.fixture
def ask(app: Flask) -> Ask:
    """A request with what it accepts and has."""

    def send(
        path: str, accepts: str | None = None, has: str | None = None, method: str = "GET"
    ) -> TestResponse:
        said = {"Accept-Encoding": accepts, "If-None-Match": has}
        headers = {name: value for name, value in said.items() if value is not None}
        return app.test_client().open(path, method=method, headers=headers)

    return send


@pytest.mark.parametrize("path", PATHS)
def test_who_takes_gzip_gets_it(ask: Ask, path: str) -> None:
    """The same bytes under two ETags, the compressed ones by their own length; caches keep the two apart."""
    plain, packed = ask(path), ask(path, "gzip, deflate, br")
    assert plain.data == gzip.decompress(packed.data)
    assert len(packed.data) < len(plain.data)
    assert (None, "gzip") == (plain.headers.get("Content-Encoding"), packed.headers["Content-Encoding"])
    assert plain.headers["ETag"] != packed.headers["ETag"]
    for answer in (plain, packed):
        assert str(len(answer.data)) == answer.headers["Content-Length"]
        assert ["Accept-Encoding"] == answer.headers.getlist("Vary")
        assert not answer.headers["ETag"].startswith("W/")
    assert plain.headers["Content-Type"] == packed.headers["Content-Type"]


@pytest.mark.parametrize(
    ("accepts", "packs"),
    [
        ("", False),
        ("identity", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip;q=0.3, identity", False),
        ("*;q=0", False),
        ("nonsense;;;q=x", False),
        ("GZIP", True),
        ("br;q=1, gzip;q=0.2", True),
        ("*", True),
        ("identity;q=0, gzip", True),
    ],
)
def test_what_a_caller_takes_is_weighed(ask: Ask, accepts: str, packs: bool) -> None:
    """Nobody is sent gzip who has not asked for it, or likes plain bytes better."""
    assert packs == ("Content-Encoding" in ask("/play/main.js", accepts).headers)


@pytest.mark.parametrize("accepts", [None, "gzip"])
@pytest.mark.parametrize("path", PATHS)
def test_who_has_it_is_sent_nothing(ask: Ask, path: str, accepts: str | None) -> None:
    """304 by the ETag of the encoding that would be sent, with what a cache needs and without a body."""
    first = ask(path, accepts)
    etag = first.headers["ETag"]
    for has in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        again = ask(path, accepts, has)
        assert (304, b"") == (again.status_code, again.data)
        for name in ("ETag", "Vary", "Cache-Control"):
            assert first.headers.getlist(name) == again.headers.getlist(name)
        assert "Content-Encoding" not in again.headers
    assert 200 == ask(path, accepts, '"other"').status_code
    other = ask(path, None if accepts else "gzip").headers["ETag"]
    assert 200 == ask(path, accepts, other).status_code


@pytest.mark.parametrize("accepts", [None, "gzip"])
def test_a_head_is_that_of_the_answer(ask: Ask, accepts: str | None) -> None:
    """HEAD tells the headers of GET, and sends no body."""
    whole, head = ask("/cards.svg", accepts), ask("/cards.svg", accepts, method="HEAD")
    assert b"" == head.data
    for name in ("Content-Length", "Content-Type", "Content-Encoding", "ETag", "Vary"):
        assert whole.headers.get(name) == head.headers.get(name)
    assert 304 == ask("/cards.svg", accepts, whole.headers["ETag"], "HEAD").status_code


def test_it_is_compressed_once(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its first use, and not again; a page that names the server's address, once an address."""
    done: list[int] = []

    def counting(data: bytes, **options: int) -> bytes:
        done.append(len(data))
        return gzip.compress(data, **options)

    monkeypatch.setattr(compressed, "compress", counting)
    for _ in range(3):
        for path in ("/cards.svg", "/docs"):
            ask(path, "gzip")
            ask(path)
    assert 2 == len(done)


def test_a_card_is_not_asked_for_again(ask: Ask) -> None:
    """The sprite may be kept for a day; what belongs together by its version is asked for each time."""
    assert "max-age=86400" == ask("/cards.svg").headers["Cache-Control"]
    for path in set(PATHS) - {"/cards.svg"}:
        assert "no-cache" == ask(path).headers["Cache-Control"]
