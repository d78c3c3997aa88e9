"""What the tests of tokens and names have in common: asking with a token, and looking at all that a store holds."""

from collections.abc import Callable
from typing import Any

import redis
from werkzeug.test import TestResponse

from services.summaries import update
from services.wiring import Services
from tests.api.guests import Guest


def made(guest: Guest, body: Any = None, **headers: str) -> dict[str, Any]:
    """A further token of a player."""
    answer = guest.post("/v1/me/tokens", body or {}, **headers)
    assert 201 == answer.status_code, answer.text
    found: dict[str, Any] = answer.json
    return found


def asks(guest: Guest, token: str) -> TestResponse:
    """`GET /v1/me` with a token."""
    return guest.get("/v1/me", Authorization=f"Bearer {token}")


def project(services: Services, *games: str) -> None:
    """Bring the read models of games up to date."""
    for game in games:
        table = services.tables.load(game)
        services.projections.write({services.keys.partition(game): [update(game, table, table.at)]})


def refusal(answer: TestResponse) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json["code"]


def everything(valkey: redis.Redis) -> bytes:
    """All that a store holds, as it would be dumped."""
    return b"\n".join(key + b" " + stored(valkey, key) for key in valkey.scan_iter())


def stored(valkey: redis.Redis, key: bytes) -> bytes:
    """The value of a key of any type."""
    readers: dict[bytes, Callable[[], Any]] = {
        b"string": lambda: valkey.get(key),
        b"hash": lambda: valkey.hgetall(key),
        b"zset": lambda: valkey.zrange(key, 0, -1),
        b"set": lambda: valkey.smembers(key),
        b"stream": lambda: valkey.xrange(key),
    }
    return repr(readers[valkey.type(key)]()).encode()
