"""How granian serves the application.

It reads a body in the thread that asks for it, and waits for the rest as long as its sender likes; nothing can break
such a read off. So there is a thread for every connection, which a half-sent body may keep, and the gate (`api.gate`)
bounds how many of them work at a time.
"""

from __future__ import annotations

import resource
from typing import Any, Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

MOST_CONNECTIONS: Final = 1024
"""Connections that a process keeps; further ones wait to be accepted."""
HEADER_SECONDS: Final = 30
"""How long a connection may take to send the next head of a request, its idle time included."""
GRANIAN: Final[dict[str, Any]] = {
    "interface": Interfaces.WSGI,
    # of HTTP/1 a connection has one request at a time, so a thread for each is enough; of HTTP/2 it would not be
    "http": HTTPModes.http1,
    "http1_settings": HTTP1Settings(header_read_timeout=HEADER_SECONDS * 1000),
    "websockets": False,
    "backpressure": MOST_CONNECTIONS,
    "blocking_threads": MOST_CONNECTIONS,
}
"""The options of granian that this rests on."""
_SPARE_FILES: Final = 1024
"""Files and sockets that a process may have open beside its connections."""


def allow_connections() -> None:
    """Raise this process's limit of open files, where it may be, to what its connections need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _SPARE_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
