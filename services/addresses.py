"""Addresses of stores: one server, a service that Sentinels look after, or a cluster.

    redis://[USER:PASSWORD@]HOST:6379/0             one server; rediss:// by TLS, unix:///PATH by a socket
    redis+sentinel://HOST:26379,HOST:26379/SERVICE  the primary of a service, as these Sentinels name it
    redis+cluster://HOST:6379,HOST:6379             a cluster, found by any of these nodes

rediss+sentinel:// and rediss+cluster:// speak TLS. User and password are those of the servers; a Sentinel that wants one
is told by the options ``sentinel_username`` and ``sentinel_password``. Other options are redis-py's, as in ``?db=2``.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

SENTINEL_PORT: Final = 26379
PORT: Final = 6379

Kind = Literal["one", "sentinel", "cluster"]
_KINDS: Final[dict[str, Kind]] = {"redis+sentinel": "sentinel", "redis+cluster": "cluster"}
_OF_SENTINELS: Final = {"sentinel_username": "username", "sentinel_password": "password"}


class Address(NamedTuple):
    """Where a store is."""

    kind: Kind
    nodes: tuple[tuple[str, int], ...]
    """Hosts and ports of Sentinels, or of nodes of a cluster; empty for one server."""
    service: str
    """What the Sentinels call the servers; empty for the other kinds."""
    options: dict[str, Any]
    """What redis-py is told of a connection to a server; ``ssl`` where it speaks TLS."""
    sentinel_options: dict[str, Any]
    """What it is told of one to a Sentinel."""


def kind_of(text: str) -> Kind:
    """Which kind of store an address names, whether it is a proper one or not."""
    scheme, _, _ = text.partition("://")
    return _KINDS.get(scheme.replace("rediss", "redis", 1), "one")


def read_address(text: str) -> Address:
    """The address that a text is. Nothing is connected to. Raises ValueError for a text that is none."""
    kind = kind_of(text)
    if kind == "one":
        parts = urlsplit(text)
        where = parts.path if parts.scheme == "unix" else parts.hostname
        # asked for its port, urlsplit raises ValueError when that is not a number from 0 to 65535
        if parts.scheme not in ("redis", "rediss", "unix") or not where or parts.port == 0:
            raise ValueError(text)
        # redis-py takes database 0 for a path that is no number
        if parts.scheme != "unix" and not re.fullmatch(r"/?[0-9]*", parts.path, re.ASCII):
            raise ValueError(text)
        return Address(kind, (), "", _options(text), {})
    return _read_many(kind, text)


def _read_many(kind: Kind, text: str) -> Address:
    scheme, _, rest = text.partition("://")
    place, _, query = rest.partition("?")
    hosts, _, path = place.partition("/")
    user, at, hosts = hosts.rpartition("@")
    nodes = tuple(_node(one, SENTINEL_PORT if kind == "sentinel" else PORT) for one in hosts.split(","))
    service = unquote(path) if kind == "sentinel" else ""
    if "," in user:  # one user for all of them, before the first
        raise ValueError(text)
    if bool(service) != (kind == "sentinel") or (path and kind == "cluster") or "/" in service:
        raise ValueError(text)
    asked = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    of_sentinels = {name: asked.pop(key) for key, name in _OF_SENTINELS.items() if key in asked}
    if kind == "cluster" and (of_sentinels or asked.get("db", "0") != "0"):
        raise ValueError(text)
    plain = f"{scheme.partition('+')[0]}://{user}{at}server/" + (f"?{urlencode(asked)}" if asked else "")
    options = _options(plain)
    if options.get("ssl"):
        of_sentinels |= {name: value for name, value in options.items() if name.startswith("ssl")}
    del options["host"]
    return Address(kind, nodes, service, options, of_sentinels)


def _node(text: str, usual: int) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.netloc != text or parts.username is not None or parts.port == 0:
        raise ValueError(text)
    return parts.hostname, parts.port or usual


def _options(text: str) -> dict[str, Any]:
    """What redis-py reads of the address of one server, its options included. Raises ValueError."""
    import redis.connection

    try:
        options: dict[str, Any] = dict(redis.connection.parse_url(text))  # type: ignore[no-untyped-call]
        kind = options.pop("connection_class", redis.connection.Connection)
        kind(**options)
    except (TypeError, redis.RedisError) as error:
        raise ValueError(text) from error
    if kind is redis.connection.SSLConnection:
        options["ssl"] = True
    return options
