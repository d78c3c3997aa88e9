"""Addresses of stores, as redis-py is told them."""

from __future__ import annotations

import pytest

from services.addresses import Address, kind_of, read_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (
            "redis://u:p@h:7/3",
            Address("one", (), "", {"host": "h", "port": 7, "db": 3, "username": "u", "password": "p"}, {}),
        ),
        ("redis+sentinel://h:1,i/s", Address("sentinel", (("h", 1), ("i", 26379)), "s", {}, {})),
        (
            "redis+sentinel://u:p%40@h/a%20b?sentinel_password=x&sentinel_username=y&db=2",
            Address(
                "sentinel",
                (("h", 26379),),
                "a b",
                {"username": "u", "password": "p@", "db": 2},
                {"username": "y", "password": "x"},
            ),
        ),
        (
            "rediss+sentinel://h/s?ssl_ca_certs=/ca",
            Address(
                "sentinel",
                (("h", 26379),),
                "s",
                {"ssl": True, "ssl_ca_certs": "/ca"},
                {"ssl": True, "ssl_ca_certs": "/ca"},
            ),
        ),
        ("redis+cluster://h,[::1]:8", Address("cluster", (("h", 6379), ("::1", 8)), "", {}, {})),
        (
            "rediss+cluster://:p@h",
            Address("cluster", (("h", 6379),), "", {"password": "p", "ssl": True}, {"ssl": True}),
        ),
    ],
)
def test_what_redis_py_is_told(text: str, address: Address) -> None:
    """Nodes, service and options of each kind; Sentinels have a user and a password of their own."""
    assert address == read_address(text)
    assert address.kind == kind_of(text)
