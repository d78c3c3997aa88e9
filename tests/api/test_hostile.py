"""Whatever is sent, the answer is a problem that says what is wrong: never 500, never a page of HTML."""

import io
import json
import sys
from typing import Any

import pytest
from flask import Flask

from tests.api.guests import Guest, open_table, seat_all

BODIES = {
    "empty": b"",
    "blank": b" \n",
    "half": b'{"play": "Q',
    "twice": b"{}{}",
    "text": b'"QS"',
    "number": b"7",
    "null": b"null",
    "list": b"[]",
    "list of objects": b'[{"play": "QS"}]',
    "NaN": b'{"clock": NaN, "play": NaN, "seat": NaN}',
    "Infinity": b'{"clock": Infinity, "play": -Infinity}',
    "1e999": b'{"clock": 1e999, "seat": 1e999}',
    "float": b'{"seat": 1.0, "target": 1e2, "play": 0.5}',
    "huge": b'{"seat": ' + b"9" * 4000 + b', "target": ' + b"9" * 4000 + b', "floor": -' + b"9" * 400 + b"}",
    "larger": b'{"seat": ' + b"9" * 20000 + b"}",
    "deep": b"[" * 60000,
    "deep object": b'{"play": ' * 6000 + b"1" + b"}" * 6000,
    "deep but whole": b'{"points": '
    + b"[" * 900
    + b"]" * 900
    + b', "play": '
    + b"[" * 900
    + b"]" * 900
    + b"}",
    "deep points": b'{"points": ' + b'{"H": ' * 400 + b"1" + b"}" * 400 + b"}",
    "surrogate": b'{"name": "\\ud800", "play": "\\udfff", "variant": "\\ud800"}',
    "pair": b'{"name": "\\ud83d\\ude00", "play": "\\ud83d\\ude00", "variant": "\\ud83d\\ude00"}',
    "NUL": b'{"name": "a\\u0000", "play": "Q\\u0000", "variant": "\\u0000", "removed": "\\u0000"}',
    "raw NUL": b'{"name": "\x00"}',
    "Latin-1": b'{"name": "\xe9"}',
    "UTF-16": '{"play": "QS"}'.encode("utf-16"),
    "mark": b'\xef\xbb\xbf{"play": "QS"}',
    "overlong": b'{"name": "\xc0\xaf"}',
    "booleans": b'{"seat": true, "clock": false, "play": true, "seats": true, "target": true, "pass": false}',
    "digits": '{"seat": "١", "play": "١٠S", "removed": "٢C", "target": "١"}'.encode(),
    "objects": b'{"seat": {}, "play": {}, "pass": {}, "seats": {}, "name": {}, "variant": {}, "entropy": {}}',
    "lists": b'{"seat": [], "play": [], "pass": [[]], "seats": [[]], "name": [], "variant": [], "entropy": []}',
    "nulls": b'{"play": null, "pass": null, "seats": null, "name": null, "variant": null, "entropy": null}',
    "keys": json.dumps({"k" * 200 + str(n): n for n in range(200)}).encode(),
    "odd keys": '{"": 1, "\\u0000": 2, "__proto__": {}, "💥": 3, "seats.0": 4}'.encode(),
    "same key": b'{"play": "QS", "play": []}',
    "long": json.dumps({"play": "Q" * 60000, "name": "x" * 100}).encode(),
    "many cards": json.dumps({"pass": ["QS"] * 9000}).encode(),
    "formats": b'{"name": "%s{0}{x!r}", "play": "%n%n{}", "variant": "{self.__class__}"}',
    "too large": b'{"play": "' + b"Q" * 65536 + b'"}',
}
PATHS = (
    "/v1/players",
    "/v1/games",
    "/v1/games/{game}/seats",
    "/v1/games/{game}/ready",
    "/v1/games/{game}/moves",
    "/v1/games/{game}/seats/0/back",
)


def send(app: Flask, **environ: Any) -> tuple[int, dict[str, str], bytes]:
    """What a request answers whose WSGI environment is exactly so: status, headers, body."""
    body = environ.pop("body", b"")
    full = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/",
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "localhost",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **environ,
    }
    started: list[Any] = []
    data = b"".join(app(full, lambda *told: started.append(told)))  # type: ignore[arg-type, misc]
    return int(started[0][0].split()[0]), dict(started[0][1]), data


def check_refusal(status: int, headers: dict[str, str], data: bytes) -> dict[str, Any]:
    """The problem, after a look at its shape."""
    assert 400 <= status < 500, data
    assert "application/problem+json" == headers["Content-Type"], data
    problem: dict[str, Any] = json.loads(data)
    assert ["type", "title", "status", "detail", "code", "hint"] == list(problem)[:6]
    assert (status, f"/docs#{problem['code']}") == (problem["status"], problem["type"])
    assert b"<!doctype" not in data.lower()
    assert b"Traceback" not in data
    assert len(data) < 100_000
    return problem


@pytest.fixture
def game(four: list[Guest]) -> str:
    """A table at which all have passed nothing yet."""
    return seat_all(four)


@pytest.mark.parametrize("name", BODIES)
def test_no_body_breaks_anything(app: Flask, four: list[Guest], game: str, name: str) -> None:
    """Every body at every address that takes one is refused as a problem, or understood."""
    for path in PATHS:
        status, headers, data = send(
            app,
            body=BODIES[name],
            PATH_INFO=path.format(game=game),
            HTTP_AUTHORIZATION=f"Bearer {four[0].token}",
            HTTP_IDEMPOTENCY_KEY="k",
        )
        if not (path == "/v1/players" and name == "formats" and status == 201):
            check_refusal(status, headers, data)
    assert not four[0].table(game)["seats"][0]["passed"]


@pytest.mark.parametrize(
    "name", ["half", "deep", "Latin-1", "raw NUL", "surrogate", "UTF-16", "NaN", "twice", "larger"]
)
def test_what_is_no_json_is_unreadable(app: Flask, name: str) -> None:
    """400, and told apart from JSON that says the wrong thing."""
    problem = check_refusal(*send(app, body=BODIES[name], PATH_INFO="/v1/players"))
    assert (400, "request/unreadable") == (problem["status"], problem["code"])


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("/v1/players", '{"name": "Anna", "name": "Bo"}', "name"),
        ("/v1/players", '{"name": "Anna", "n\\u0061me": "Anna"}', "name"),
        ("/v1/players", '{"name":"a:b","x":1 , "x"\t:1}', "x"),
        (
            "/v1/games",
            '{"variant":"basic","seats":["me",{"bot":"rules","bot":"random"},"open","open"]}',
            "bot",
        ),
        ("/v1/games", '{"variant":"basic","seats":["me","open","open","open"],"points":{"H":1,"H":2}}', "H"),
        ("/v1/games/{game}/moves", '{"play": "2C", "play": "2C"}', "play"),
    ],
)
def test_a_key_that_stands_there_twice_is_told(
    app: Flask, four: list[Guest], game: str, path: str, body: str, key: str
) -> None:
    """400 with the key: who reads the first and who reads the last of two would see different requests."""
    problem = check_refusal(
        *send(
            app,
            body=body.encode(),
            PATH_INFO=path.format(game=game),
            HTTP_AUTHORIZATION=f"Bearer {four[0].token}",
        )
    )
    assert (400, "request/unreadable") == (problem["status"], problem["code"])
    assert f"the key {key!r} stands there twice" == problem["detail"]


@pytest.mark.parametrize("text", ["a:b", "::", '":"', "{:}"])
def test_colons_in_texts_are_no_keys(app: Flask, text: str) -> None:
    """A name may have colons, however many."""
    status, _, data = send(app, body=json.dumps({"name": text}).encode(), PATH_INFO="/v1/players")
    assert 201 == status, data


def test_a_body_that_breaks_off_is_no_request(app: Flask, four: list[Guest], game: str) -> None:
    """400, even where what came is JSON: nobody knows what else would have come."""
    problem = check_refusal(
        *send(
            app,
            body=b"{}",
            CONTENT_LENGTH="20",
            PATH_INFO=f"/v1/games/{game}/ready",
            HTTP_AUTHORIZATION=f"Bearer {four[0].token}",
        )
    )
    assert (400, "request/unreadable") == (problem["status"], problem["code"])
    assert "the body broke off after 2 of 20 bytes" == problem["detail"]


@pytest.mark.parametrize("name", ["text", "number", "null", "list", "list of objects"])
def test_json_that_is_no_object_is_invalid(app: Flask, name: str) -> None:
    """422: it was read, and says nothing."""
    problem = check_refusal(*send(app, body=BODIES[name], PATH_INFO="/v1/players"))
    assert (422, "request/invalid") == (problem["status"], problem["code"])


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
        "application/jsonp",
        ";;;",
    ],
)
def test_a_body_of_another_type_is_refused(app: Flask, kind: str) -> None:
    """415, with the type that would be taken."""
    body = b'{"name": "Anna"}'
    problem = check_refusal(*send(app, body=body, PATH_INFO="/v1/players", CONTENT_TYPE=kind))
    assert (415, "request/media_type") == (problem["status"], problem["code"])
    assert "application/json" in problem["hint"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("application/json; charset=utf-16", "'application/json' in the charset 'utf-16'"),
        ("text/plain", "'text/plain'"),
        ("", "of no type"),
    ],
)
def test_what_is_wrong_with_a_type_is_named(app: Flask, kind: str, told: str) -> None:
    """The charset where it is that."""
    problem = check_refusal(*send(app, body=b"{}", PATH_INFO="/v1/players", CONTENT_TYPE=kind))
    assert f"the body is {told}" == problem["detail"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("limit=-1", "limit: must be greater than or equal to 1 and less than or equal to 100"),
        ("limit=" + "9" * 5000, "limit: must be greater than or equal to 1 and less than or equal to 100"),
        ("limit=", "limit: not a whole number"),
        ("limit=" + "0" * 30 + "5", "limit: not a whole number"),
        ("limit=1.0", "limit: not a whole number"),
        ("limit=%D9%A3", "limit: not a whole number"),
    ],
)
def test_a_number_out_of_bounds_is_told_the_bounds(app: Flask, query: str, told: str) -> None:
    """However far out it is; what is no number is told as such."""
    problem = check_refusal(*send(app, REQUEST_METHOD="GET", PATH_INFO="/v1/games", QUERY_STRING=query))
    assert [told] == [error["detail"] for error in problem["errors"]]


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", "application/json; charset=UTF-8"])
def test_json_is_known_by_its_type(app: Flask, kind: str) -> None:
    """Case and charset do not matter."""
    status, _, data = send(app, body=b'{"name": "Anna"}', PATH_INFO="/v1/players", CONTENT_TYPE=kind)
    assert 201 == status, data


@pytest.mark.parametrize("length", [None, "65552", "9" * 30, "1_0", "-5", "٣"])
def test_a_body_is_bounded_whatever_its_length_says(app: Flask, length: str | None) -> None:
    """Too large is 413 with and without Content-Length; a length that is no number is not believed."""
    environ: dict[str, Any] = {
        "body": b" " * 65550 + b"{}",
        "PATH_INFO": "/v1/players",
        "CONTENT_LENGTH": length,
    }
    if length is None:
        del environ["CONTENT_LENGTH"]
        environ["CONTENT_LENGTH"] = ""
    problem = check_refusal(*send(app, **environ))
    assert problem["code"] in ("request/too_large", "request/invalid")
    if length in (None, "65552", "9" * 30):
        assert 413 == problem["status"]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "//v1//games",
        "/v1",
        "/v1/",
        "/v1/games/",
        "/v1/nothing",
        "/v1/games/a/b/c",
        "/v1/games/a\x00b",
        "/v1/games/\xff\xfe",
        "/v1/games/" + "a" * 8000,
        "/v1/games/a/seats/١/back".encode().decode("latin-1"),
        "/v1/games/a/seats/-1/back",
        "/v1/games/a/seats/999/back",
        "/v1/games/../players",
        "/v1/variants/%s%n{0}",
        "/<script>alert(1)</script>",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "PATCH", "TRACE", "BREW"])
def test_no_address_breaks_anything(app: Flask, path: str, method: str) -> None:
    """Unknown addresses and methods are problems, too."""
    status, headers, data = send(app, PATH_INFO=path, REQUEST_METHOD=method)
    if not (method == "GET" and path == "/"):
        problem = check_refusal(status, headers, data)
        assert (status == 405) == ("Allow" in headers), problem


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_HOST": "a b<script>"},
        {"HTTP_HOST": ""},
        {"HTTP_HOST": "[::1"},
        {"HTTP_HOST": "x:99999999"},
        {"HTTP_ACCEPT": ",,;q=x"},
        {"HTTP_IF_NONE_MATCH": "\xff" * 5000},
        {"HTTP_COOKIE": "session=" + "x" * 5000},
        {"HTTP_RANGE": "bytes=0-1"},
        {"HTTP_AUTHORIZATION": "Bearer " + "\xff" * 9000},
        {"QUERY_STRING": "players=\xff%ff%00&players=%C3%28&" + "a=b&" * 2000},
    ],
)
def test_no_header_breaks_anything(app: Flask, headers: dict[str, str]) -> None:
    """Odd headers are ignored or refused."""
    for path in ("/", "/v1/variants/basic", "/v1/games/abc", "/v1/games/abc/events", "/v1/me"):
        status, sent, data = send(app, REQUEST_METHOD="GET", PATH_INFO=path, **headers)
        assert status < 500, data
        if "HTTP_HOST" in headers:
            assert b"<script>" not in data
        if status >= 400:
            check_refusal(status, sent, data)


def test_every_answer_has_the_security_headers(app: Flask, stranger: Guest, four: list[Guest]) -> None:
    """Found or not, refused or not, page or JSON; and no page of another origin is let in."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    for path in (
        "/",
        "/docs",
        "/docs.css",
        "/verify",
        "/verify.js",
        "/v1/variants",
        "/nothing",
        f"/v1/games/{game}",
        f"/v1/games/{game}/proof",
    ):
        answer = stranger.get(path, Origin="https://elsewhere.example")
        assert "nosniff" == answer.headers["X-Content-Type-Options"]
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'; ")
        assert "no-referrer" == answer.headers["Referrer-Policy"]
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control")]


def test_what_depends_on_the_caller_is_not_shared(four: list[Guest]) -> None:
    """Answers with a hand in them are for nobody's cache."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    for path in (f"/v1/games/{game}", f"/v1/games/{game}/events", "/v1/me"):
        answer = four[0].get(path)
        assert ("Authorization", "private, no-store") == (
            answer.headers["Vary"],
            answer.headers["Cache-Control"],
        )
