"""Ports of this machine that are free in a row."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(count: int = 1) -> int:
    """The first of so many ports in a row on which nobody listens now."""
    while True:
        with ExitStack() as held:
            first = held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
            try:
                for port in range(first + 1, first + count):
                    held.enter_context(socket.create_server(("127.0.0.1", port)))
            except (OSError, OverflowError):
                continue
            return int(first)
