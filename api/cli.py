"""`hearts serve`: the API as processes of granian, a WSGI server."""

from __future__ import annotations

import dataclasses
import logging
import multiprocessing
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click
from granian.log import LogLevels
from granian.server.mp import MPServer

from api.app import create_app
from api.serving import allow_connections
from api.serving import options as granian_options
from services.audit import exposure
from services.cli import read_settings, setting
from services.cli_process import answers, once_store_answers, set_up_logging
from services.cli_up import PORT_CHOSEN_BY, HouseError, PortInUse, free_port
from services.settings import Settings
from services.supervise import Stop, after_parent_process, stop_or_end
from services.supervise import exit_with_parent as watch_parent
from services.wiring import build, store_url

STOP_SECONDS: Final = 10
"""How long requests that are being served may take when the server stops."""
HURRY_SECONDS: Final = 1
"""The same where the store does not answer, so that nothing good can come of them."""
PORT_SECONDS: Final = 2.0
"""How long processes of a server that was killed may take to give up the port."""
LAST_PORT: Final = 65535
_LEVELS: Final = {"debug": LogLevels.debug}
"""How much granian tells; at other levels its errors. It warns of any number of threads beyond the cores', which waiting needs."""

log = logging.getLogger("hearts.api")


class ApiServer(MPServer):
    """granian, with a word to the workers before they are told to stop: long polls then end by themselves."""

    def __init__(self, asked: Stop, stopping: Any, store: str, listeners: int, **options: Any) -> None:
        super().__init__("api.cli", **granian_options(listeners), **options)
        self.asked, self.stopping, self.store = asked, stopping, store

    def startup(self, *args: Any) -> None:
        """Listen, and start the workers; stop again where that was asked before there was anybody to hear it."""
        super().startup(*args)  # type: ignore[no-untyped-call]
        if self.asked.is_set():
            self.signal_handler_interrupt()  # type: ignore[no-untyped-call]

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
    help="Requests that a process works at at a time.",
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
    stop = Stop()
    stop.on_signals()
    if exit_with_parent:
        watch_parent()
    set_up_logging(settings)
    address, free = _listen_on(settings)
    _check_metrics_ports(settings, free)
    warnings = once_store_answers(partial(_try_store, settings), stop.wait, log)
    if stop.is_set():
        return
    stopping = multiprocessing.get_context(_start_method()).Event()
    server = ApiServer(
        stop,
        stopping,
        store_url(settings),
        settings.listeners,
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
    allow_connections(settings.listeners)
    # a worker whose server was killed would go on holding its port
    after_parent_process(partial(stop_or_end, STOP_SECONDS))
    services = build(settings)
    metrics = None
    if settings.metrics_port:
        from api.metrics import Metrics, serve_metrics

        metrics = Metrics(services)
        serve_metrics(metrics, settings)
    return create_app(services, stopping=stopping.is_set, metrics=metrics)


def _try_store(settings: Settings) -> list[str]:
    """See that the store can be worked with, before the processes that serve are started. Returns what to warn of."""
    services = build(settings)
    try:
        exposed = exposure(settings.key_path)
        return services.warnings() + ([exposed] if exposed else [])
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
    port = _wait_for_port(settings.host, settings.port, PORT_CHOSEN_BY)
    found = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM)[0]
    return str(found[4][0]), port


def _wait_for_port(host: str, port: int, chosen_by: str) -> int:
    """The port, once it is free. Raises `click.ClickException` where it cannot be had, and says what chooses another."""
    deadline = time.monotonic() + PORT_SECONDS
    while True:
        try:
            return free_port(host, port, chosen_by)
        except PortInUse as error:
            if time.monotonic() > deadline:
                raise click.ClickException(str(error)) from error
            time.sleep(0.1)
        except HouseError as error:
            raise click.ClickException(str(error)) from error


def _check_metrics_ports(settings: Settings, api: int) -> None:
    """See that each process will find a port for its metrics. Raises `click.ClickException`."""
    if not settings.metrics_port:
        return
    ports = range(settings.metrics_port, settings.metrics_port + settings.api_workers)
    if ports[-1] > LAST_PORT:
        raise click.ClickException(
            f"{settings.api_workers} API processes have metrics on as many ports, and there are not so many from "
            f"HEARTS_METRICS_PORT={settings.metrics_port} on"
        )
    if api in ports:
        raise click.ClickException(f"port {api} is the API's own; choose another with HEARTS_METRICS_PORT")
    for port in ports:
        _wait_for_port(settings.metrics_host, port, "HEARTS_METRICS_PORT")
