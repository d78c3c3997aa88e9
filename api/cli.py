"""`hearts serve`: the API as processes of granian, a WSGI server."""

from __future__ import annotations

import dataclasses
import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NoReturn

import click
from granian.log import LogLevels
from granian.server.mp import MPServer

from api.app import create_app
from api.serving import GRANIAN, allow_connections
from services.audit import exposure
from services.cli import read_settings, setting
from services.cli_process import answers, once_store_answers, set_up_logging
from services.cli_up import HouseError, PortInUse, free_port
from services.settings import Settings
from services.supervise import after_parent_process, stop_or_end
from services.supervise import exit_with_parent as watch_parent
from services.wiring import build, store_url

STOP_SECONDS: Final = 10
"""How long requests that are being served may take when the server stops."""
HURRY_SECONDS: Final = 1
"""The same where the store does not answer, so that nothing good can come of them."""
PORT_SECONDS: Final = 2.0
"""How long processes of a server that was killed may take to give up the port."""
_LEVELS: Final = {"debug": LogLevels.debug}
"""How much granian tells; at other levels its errors. It warns of any number of threads beyond the cores', which waiting needs."""

log = logging.getLogger("hearts.api")


class ApiServer(MPServer):
    """granian, with a word to the workers before they are told to stop: long polls then end by themselves."""

    def __init__(self, stopping: Any, store: str, **options: Any) -> None:
        super().__init__("api.cli", **GRANIAN, **options)
        self.stopping, self.store = stopping, store

    def shutdown(self, exit_code: int = 0) -> None:
        """Stop the workers, after what they are doing."""
        self.stopping.set()
        if not answers(self.store):
            self.workers_kill_timeout = HURRY_SECONDS
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]


@click.command()
@click.option(
    "--host", callback=setting("host"), help="Address to listen on; 0.0.0.0 lets other machines in."
)
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes any that is free.")
@click.option(
    "--threads",
    type=click.IntRange(1, 1000),
    help="Requests, long polls included, that a process serves at a time.",
)
@click.option("--workers", type=click.IntRange(1, 256), help="Processes.")
@click.option(
    "--exit-with-parent", is_flag=True, help="Stop when standard input ends, as it does when the parent dies."
)
def serve(
    host: str | None, port: int | None, threads: int | None, workers: int | None, exit_with_parent: bool
) -> None:
    """Serve the API over HTTP.

    The store must be there already; `hearts up` starts one and serves everything that a table needs. What the options
    leave open, HEARTS_HOST, HEARTS_PORT, HEARTS_API_THREADS and HEARTS_API_WORKERS say.
    """
    asked: dict[str, Any] = {"host": host, "port": port, "api_threads": threads, "api_workers": workers}
    settings = dataclasses.replace(read_settings(), **{k: v for k, v in asked.items() if v is not None})
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, _leave)
    if exit_with_parent:
        watch_parent()
    set_up_logging(settings)
    address, free = _listen_on(settings)
    warnings = once_store_answers(partial(_try_store, settings), time.sleep, log)
    stopping = multiprocessing.get_context(_start_method()).Event()
    server = ApiServer(
        stopping,
        store_url(settings),
        address=address,
        port=free,
        workers=settings.api_workers,
        log_level=_LEVELS.get(settings.log_level, LogLevels.error),
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )
    shown = f"[{address}]" if ":" in address else address
    click.echo(f"the API listens on http://{shown}:{free}", err=True)
    for warning in warnings or ():
        log.warning("%s", warning)
    server.serve(target_loader=partial(load, settings, stopping), wrap_loader=False)


def load(settings: Settings, stopping: Any) -> Callable[..., Any]:
    """The application, made in the worker process that serves it."""
    set_up_logging(settings)
    allow_connections()
    # a worker whose server was killed would go on holding its port
    after_parent_process(partial(stop_or_end, STOP_SECONDS))
    return create_app(build(settings), stopping=stopping.is_set)


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)


def _try_store(settings: Settings) -> list[str]:
    """See that the store can be worked with, before the processes that serve are started. Returns what to warn of."""
    services = build(settings)
    try:
        exposed = exposure(settings.key_path)
        return services.durability.warnings() + ([exposed] if exposed else [])
    finally:
        services.client.close()


def _start_method() -> str:
    """How granian will start its workers."""
    method = multiprocessing.get_start_method()
    return method if method in ("fork", "spawn") else "spawn"


def _listen_on(settings: Settings) -> tuple[str, int]:
    """The numeric address and the port to listen on. Raises `click.ClickException` where they cannot be had.

    granian itself would share a port that another server of the same user listens on.
    """
    deadline = time.monotonic() + PORT_SECONDS
    while True:
        try:
            port = free_port(settings.host, settings.port)
            break
        except PortInUse as error:
            if time.monotonic() > deadline:
                raise click.ClickException(str(error)) from error
            time.sleep(0.1)
        except HouseError as error:
            raise click.ClickException(str(error)) from error
    found = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM)[0]
    return str(found[4][0]), port
