"""Rate limits: how many requests a caller may send, by player where it has a valid token, else by address.

Flask-Limiter guards the routes that have a limit of their own. What all routes have is counted without it, on the same
counts: to find out by the extension which limits a request has takes five times as long as to count.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from flask import Flask, request
from flask_limiter import Limiter, RequestLimit
from limits import RateLimitItem, parse_many
from limits.storage import Storage

from api.auth import read_caller
from api.errors import Problem
from api.headers import add_header
from api.house import House
from api.inputs import wsgi
from services.rates import Rates
from services.settings import Settings

MAKES_PLAYERS: Final = "players.create_player"
"""The route that has a limit of its own."""
_FREE: Final = frozenset(("openapi",))
_SCHEME: Final = "hearts-store"
_KINDS: Final = {
    "player": "requests of a player",
    "address": "requests of an address without a valid token",
    "new-players": "new players from an address",
    "bad-tokens": "requests of an address with tokens that are not valid",
}
"""What each limit counts."""


class _Limit(NamedTuple):
    """One limit: so many in so many seconds."""

    kind: str
    name: str
    amount: int
    seconds: int
    policy: str
    """As the header tells it."""


class StoreCounts(Storage):
    """The counts of `services.rates` as a storage of ``limits``, whose keys end with the limit itself."""

    STORAGE_SCHEME = [_SCHEME]  # noqa: RUF012 (as the base class has it)

    def __init__(self, uri: str | None = None, *, rates: Rates, wrap_exceptions: bool = False) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self._rates = rates

    @property
    def base_exceptions(self) -> type[Exception]:
        """None of its own: where the store is away it counts alone."""
        return OSError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count a request; ``amount`` is always 1 here."""
        return self._rates.hit(key, int(key.rsplit("/", 3)[1]), expiry).number + amount - 1

    def get(self, key: str) -> int:
        """Requests in the present window."""
        return self._rates.look(key).number

    def get_expiry(self, key: str) -> float:
        """When the present window ends, seconds since 1970 UTC."""
        return time.time() + self._rates.look(key).left

    def check(self) -> bool:
        """Whether it can count: always, if need be alone."""
        return True

    def reset(self) -> int | None:
        """Not offered: windows end by themselves. Raises `NotImplementedError`."""
        raise NotImplementedError

    def clear(self, key: str) -> None:
        """Begin again with a caller."""
        self._rates.forget(key)


class Limits:
    """The rate limits of an application, as ``settings`` have them; those that are empty are not there."""

    def __init__(self, here: House, settings: Settings) -> None:
        self._here = here
        self._settings = settings
        self._rates = here.services.rates
        self._limits: dict[str, list[_Limit]] = {
            "player": _read("player", settings.rate_player),
            "address": _read("address", settings.rate_address),
            "bad-tokens": _read("bad-tokens", settings.rate_bad_tokens),
        }
        self._limiter = Limiter(
            self._address,
            storage_uri=f"{_SCHEME}://",
            storage_options={"rates": here.services.rates},  # type: ignore[dict-item]
            on_breach=_refuse_breach,
        )

    def install(self, app: Flask) -> None:
        """Guard ``app``, whose routes are all there."""
        if any(self._limits.values()):
            app.before_request(self._check)
        if self._settings.rate_new_players:
            # where it finds itself named, it adds no hooks: they cost each request of any route 50 us, and do only what
            # is for default limits and for headers of its own, of which there are none
            app.extensions.setdefault("limiter", set()).add(self._limiter)
            self._limiter.init_app(app)
            guarded: Callable[..., Any] = self._limiter.limit(
                self._settings.rate_new_players, key_func=self._address
            )(app.view_functions[MAKES_PLAYERS])
            app.view_functions[MAKES_PLAYERS] = guarded

    def _check(self) -> None:
        """Count the request, and refuse it where that is one too many. A stream or a long poll counts once."""
        environ = wsgi()
        if not environ["PATH_INFO"].startswith("/v1/") or request.endpoint in _FREE or _is_preflight(environ):
            return
        found = read_caller(self._here.players, environ)
        if found.player is not None:
            self._hit("player", found.player.id, environ)
            return
        if found.is_bad:
            self._hit("bad-tokens", self._address(), environ)
        self._hit("address", self._address(), environ)

    def _hit(self, kind: str, who: str, environ: dict[str, Any]) -> None:
        tightest: tuple[int, float, _Limit] | None = None
        for limit in self._limits[kind]:
            number, left = self._rates.hit(f"{limit.name}:{who}", limit.amount, limit.seconds)
            remaining = limit.amount - number
            if remaining < 0:
                _tell(environ, limit, 0, left)
                raise _too_many(limit, left)
            if tightest is None or remaining < tightest[0]:
                tightest = remaining, left, limit
        if tightest is not None:
            _tell(environ, tightest[2], tightest[0], tightest[1])

    def _address(self) -> str:
        """Whom to count a request to without a token: its address, hidden, since counts reach the store's files."""
        return self._here.services.key.derive("address", network_of(wsgi().get("REMOTE_ADDR", "")))[:12].hex()


def network_of(address: str) -> str:
    """What stands for the caller behind an address: itself, and of IPv6 the first 64 bits, which one household has."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))


def _limit(kind: str, item: RateLimitItem) -> _Limit:
    amount, seconds = item.amount, item.get_expiry()
    return _Limit(kind, f"{kind}:{amount}:{seconds}", amount, seconds, f'"{kind}";q={amount};w={seconds}')


def _read(kind: str, text: str) -> list[_Limit]:
    return [_limit(kind, item) for item in sorted(parse_many(text))] if text else []


def _is_preflight(environ: Mapping[str, Any]) -> bool:
    return bool(environ["REQUEST_METHOD"] == "OPTIONS")


def _tell(environ: dict[str, Any], limit: _Limit, remaining: int, left: float) -> None:
    """Let the answer say where the caller stands (draft-ietf-httpapi-ratelimit-headers-10)."""
    add_header(environ, "RateLimit-Policy", limit.policy)
    add_header(environ, "RateLimit", f'"{limit.kind}";r={remaining};t={_seconds(left)}')


def _seconds(left: float) -> int:
    return max(1, math.ceil(left))


def _too_many(limit: _Limit, left: float) -> Problem:
    seconds = _seconds(left)
    return Problem(
        "rate/limited",
        f"{_KINDS[limit.kind]}: at most {limit.amount} in {limit.seconds} second{'s' * (limit.seconds != 1)}",
        hint=f"nothing was done; ask again in {seconds} second{'s' * (seconds != 1)}, as Retry-After says",
        headers={"Retry-After": str(seconds)},
    )


def _refuse_breach(breached: RequestLimit) -> None:
    limit, left = _limit("new-players", breached.limit), breached.reset_at - time.time()
    _tell(wsgi(), limit, 0, left)
    raise _too_many(limit, left)
