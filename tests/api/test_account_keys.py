"""Idempotency keys on what changes an account: a repeat is answered as before, and does nothing again."""

from collections.abc import Callable
from typing import Any

import pytest
import redis
from werkzeug.test import TestResponse

from api.app import create_app
from services.settings import Settings
from services.wiring import Services, build
from tests.api.guests import Guest
from tests.support.clock import Clock

CALLS: dict[str, tuple[str, str, Any, Any]] = {
    "make": ("POST", "/v1/me/tokens", {"label": "bot"}, {"label": "page"}),
    "rotate": ("POST", "/v1/me/token", {"grace": 3000}, {"grace": 2000}),
    "end": ("DELETE", "/v1/me/tokens/{token}", None, None),
}
"""Method, address and body of each call that takes a key, and another body of it."""


@pytest.fixture(params=CALLS)
def send(request: pytest.FixtureRequest, four: list[Guest]) -> Callable[..., TestResponse]:
    """Sends such a call for the first player; ``other`` is with another body."""
    method, path, body, another = CALLS[request.param]
    spare = four[0].post("/v1/me/tokens", {"label": "spare"}).json["id"]

    def call(key: str, other: bool = False) -> TestResponse:
        said = another if other else body
        return four[0].call(method, path.format(token=spare), said, Idempotency_Key=key)

    return call


def count(guest: Guest) -> int:
    """How many tokens a player has."""
    return len(guest.get("/v1/me/tokens").json["tokens"])


def test_a_repeat_is_answered_as_before(
    valkey: redis.Redis,
    services: Services,
    clock: Clock,
    four: list[Guest],
    send: Callable[..., TestResponse],
) -> None:
    """By this process and by another one, which has seen nothing of it; nothing is made or ended again."""
    first = send("k")
    assert (True, None) == (first.status_code in (200, 201), first.headers.get("Idempotency-Replayed"))
    after = count(four[0])
    settings = Settings(data=services.settings.data, partitions=4)
    for _ in range(2):
        again = send("k")
        assert (first.status_code, first.json) == (again.status_code, again.json)
        assert "true" == again.headers["Idempotency-Replayed"]
        four[0].client = create_app(build(settings, store=valkey, clock=clock)).test_client()
    assert after == count(four[0])


@pytest.mark.parametrize("key", ["", "a b", "ä", "x" * 256])
def test_a_key_that_is_none_does_nothing(
    four: list[Guest], send: Callable[..., TestResponse], key: str
) -> None:
    """400, as at a table."""
    before = count(four[0])
    refused = send(key)
    assert (400, "request/unreadable") == (refused.status_code, refused.json["code"])
    assert before == count(four[0])


def test_another_body_is_another_request(four: list[Guest], send: Callable[..., TestResponse]) -> None:
    """422 key/reused, and nothing is done; where there is no other body it is a repeat."""
    send("k")
    before = count(four[0])
    other = send("k", True)
    assert (other.status_code, other.json.get("code")) in ((422, "key/reused"), (200, None))
    assert (other.status_code == 200) == ("Idempotency-Replayed" in other.headers)
    assert before == count(four[0])
