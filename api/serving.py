"""How granian serves the application.

It reads a body in the thread that asks for it, and waits for the rest as long as its sender likes; nothing can break
such a read off. So there is a thread for every connection, which a half-sent body may keep, and the gate (`api.gate`)
bounds how many of them work at a time.
"""

from __future__ import annotations

import os
import resource
import socket
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

COMMANDERS: Final = 1024
"""Connections that a process keeps beside those of listeners; further ones wait to be accepted."""
HEADER_SECONDS: Final = 30
"""How long a connection may take to send the next head of a request, its idle time included."""
UNREAD_SECONDS: Final = 60
"""How long a connection may leave unread what is sent to it, or unanswered whether it is there."""
_SPARE_FILES: Final = 1024
"""Files and sockets that a process may have open beside its connections."""


def options(listeners: int) -> dict[str, Any]:
    """The options of granian that this rests on."""
    connections = COMMANDERS + listeners
    return {
        "interface": Interfaces.WSGI,
        # of HTTP/1 a connection has one request at a time, so a thread for each is enough; of HTTP/2 it would not be
        "http": HTTPModes.http1,
        "http1_settings": HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000),
        "websockets": False,
        "backpressure": connections,
        "blocking_threads": connections,
    }


@cache
def drop_the_deaf(port: int) -> None:
    """Have connections to ``port`` closed that take nothing for `UNREAD_SECONDS`: those that are there, and later ones.

    A stream to somebody who has gone without a word, or who does not read, would otherwise keep a thread for ever. The
    listening sockets are granian's, which makes them itself, so they are looked for among the files of this process; a
    connection takes over what its listening socket has. Where the system cannot do this, such a stream ends when its
    reader does.
    """
    if not hasattr(socket, "TCP_USER_TIMEOUT"):
        return
    for name in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            _drop_deaf_ends(os.dup(int(name.name)), port)


def _drop_deaf_ends(copy: int, port: int) -> None:
    try:
        if not stat.S_ISSOCK(os.fstat(copy).st_mode):
            return
        with socket.socket(fileno=os.dup(copy)) as end:
            if end.family in (socket.AF_INET, socket.AF_INET6) and end.getsockname()[1] == port:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, UNREAD_SECONDS // 2)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_SECONDS * 1000)
    finally:
        os.close(copy)


def allow_connections(listeners: int) -> None:
    """Raise this process's limit of open files, where it may be, to what its connections need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = COMMANDERS + listeners + _SPARE_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
