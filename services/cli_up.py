"""`hearts up`: the whole house from one command, as processes that are looked after."""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import http.client
import os
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import redis

from services.audit import KeyFileError, exposure
from services.cli import read_settings, setting
from services.cluster import Client, connect_store, wire_of
from services.durability import Durability, WriteWatch
from services.embedded import EmbeddedStore, EmbeddedStoreError
from services.keyring import KeyRing
from services.settings import Settings
from services.store import PartitionMismatch, StoreUnavailable, connect, fix_partitions
from services.supervise import Backoff, Losses, Program, Stop, Supervisor
from services.wire import Wire
from services.wiring import store_url

CHECK_SECONDS: Final = 0.1
"""How often the processes are looked at."""
ASK_SECONDS: Final = 1.0
"""How long the store may take to say whether it takes writes."""
READY_SECONDS: Final = 60.0
"""How long the processes may take to be ready."""
MOST_DEATHS: Final = 5
"""How often a process may die as it starts before that is told and given up: more often than the projector takes to
leave a game alone that ends it."""
PORT_SECONDS: Final = 10.0
"""How long the API of a `hearts up` that was killed may take to give up the port."""


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the API; 0 takes any that is free.")
@click.option(
    "--host",
    callback=setting("host"),
    help="Address that the API listens on; 0.0.0.0 lets other machines in.",
)
@click.option("--data", callback=setting("data"), metavar="FOLDER", help="Folder that the games are kept in.")
def up(port: int | None, host: str | None, data: Path | None) -> None:
    """Serve a playable table: store, API, projector, bots, and who audits.

    Prints the address when all is ready, starts again what dies, and stops everything on Ctrl-C. Started again on
    the same folder it goes on where it stopped. What the options leave open, HEARTS_PORT, HEARTS_HOST and HEARTS_DATA
    say, as `hearts config` shows.
    """
    settings = read_settings()
    settings = dataclasses.replace(
        settings,
        port=settings.port if port is None else port,
        host=settings.host if host is None else host,
        data=(settings.data if data is None else data).absolute(),
    )
    stop = Stop()
    stop.on_signals()
    house = House(settings, stop, lambda sentence: click.echo(sentence, err=True))
    try:
        try:
            house.open()
            if house.wait_until_ready():
                house.greet()
                house.keep()
        finally:
            house.close()
    except (HouseError, EmbeddedStoreError) as error:
        raise click.ClickException(str(error)) from error


class HouseError(Exception):
    """The house cannot be opened, or not be kept open; the message is for people."""


class House:
    """The processes of a house, and the store where it is the embedded one.

    `tell` is given a sentence for people about each thing that goes wrong and is mended.
    """

    def __init__(self, settings: Settings, stop: Stop, tell: Callable[[str], None]) -> None:
        self._settings = settings
        self._stop = stop
        self._tell = tell
        self._store = None if settings.store_url else EmbeddedStore(settings.data, settings.fsync)
        self._store_backoff = Backoff(0.5, 10.0)
        self._store_due = 0.0
        self._asking: Client | None = None
        self._writes: WriteWatch | None = None
        self._supervisor: Supervisor | None = None
        self._store_losses = Losses()
        self._store_began = 0.0
        self._logs = settings.data / "logs"
        self._log_mark = ""
        self._log_lock: int | None = None

    @property
    def url(self) -> str:
        """The address of the API for a client on this machine."""
        host = _reachable(self._settings.host)
        return (
            f"http://[{host}]:{self._settings.port}"
            if ":" in host
            else f"http://{host}:{self._settings.port}"
        )

    def open(self) -> None:
        """Start everything. Raises HouseError, EmbeddedStoreError."""
        self._settings = dataclasses.replace(self._settings, port=self._take_port())
        make_folder(self._settings.data)
        make_folder(self._logs)
        self._claim_logs()
        if self._store is not None:
            self._store.start()
            self._store_began = time.monotonic()
            if not self._store.owned:
                self._tell("the store of this folder belongs to another `hearts up`, and is shared with it")
            self._pass_on(self._store)
        self._check_store()
        self._writes = self._watch_writes()
        self._check_bots()
        self._supervisor = Supervisor(self._programs(), self._tell)
        try:
            self._supervisor.start()
        except OSError as error:
            raise HouseError(f"a process cannot be started: {error}") from error

    def wait_until_ready(self) -> bool:
        """Wait until every process can do its work. False when asked to stop before. Raises HouseError."""
        assert self._supervisor is not None
        deadline = time.monotonic() + READY_SECONDS
        while not self._stop.is_set():
            self._look_after()
            late = self._supervisor.unsettled()
            if not late and is_ready(self._settings.host, self._settings.port):
                return True
            dying = [name for name in late if self._supervisor.deaths(name) >= MOST_DEATHS]
            if dying or time.monotonic() > deadline:
                raise HouseError(self._why_not(*dying, *late, "api"))
            self._stop.wait(CHECK_SECONDS)
        return False

    def _why_not(self, name: str, *_: str) -> str:
        """Why the house cannot be opened: the process that keeps it from that, and the end of its log."""
        assert self._supervisor is not None
        deaths = self._supervisor.deaths(name)
        what = f"has ended {deaths} times as it started" if deaths else "is not ready"
        return f"{name} {what}; its log, {self._log(name)}, ends:\n{self._supervisor.output(name)}"

    def greet(self) -> None:
        """Print the address and what to do with it."""
        click.echo(f"Hearts is served at {self.url}\n")
        click.echo(f"  play in a browser    {self.url}/")
        click.echo(f"  play in a terminal   hearts play --url {self.url}")
        click.echo(f"  play by HTTP         curl {self.url}/v1/variants")
        if self._settings.metrics_port:
            host, port = _reachable(self._settings.metrics_host), self._settings.metrics_port
            click.echo(f"  metrics              http://{f'[{host}]' if ':' in host else host}:{port}/metrics")
        click.echo(f"  games and logs       {self._settings.data}, {self._log('*')}")
        click.echo("  stop                 Ctrl-C; the same command goes on where it stopped")

    def keep(self) -> None:
        """Look after the processes until asked to stop."""
        while not self._stop.wait(CHECK_SECONDS):
            self._look_after()

    def close(self) -> None:
        """Stop everything that was started. A second request to stop makes it hurry."""
        if self._supervisor is not None:
            self._supervisor.stop(lambda: self._stop.times > 1)
        try:
            if self._store is not None:
                self._store.stop()
        except OSError as error:  # somebody has taken the folder away
            raise HouseError(f"the store's server cannot be stopped: {error}") from error
        finally:
            if self._asking is not None:
                self._asking.close()
            if self._log_lock is not None:
                os.close(self._log_lock)
                self._log_lock = None

    # --- inside

    def _look_after(self) -> None:
        assert self._supervisor is not None
        self._supervisor.check()
        if self._store is not None:
            self._look_after_store(self._store, time.monotonic())
        if self._writes is not None:
            self._writes.look()

    def _look_after_store(self, store: EmbeddedStore, now: float) -> None:
        losses = self._store_losses
        if store.poll():
            if losses.recover(now - self._store_began):
                self._tell("the store runs again")
            return
        if now < self._store_due:
            return
        loud = losses.add(now - self._store_began)
        if loud:
            times = f" {losses.times} times in a row" if losses.times > 1 else ""
            self._tell(f"the store has ended{times} and is started again")
        try:
            store.start()
            self._store_backoff.succeed()
            self._pass_on(store)
        except (EmbeddedStoreError, OSError) as error:
            self._store_due = time.monotonic() + self._store_backoff.fail()
            if loud:
                self._tell(f"the store cannot be started: {error}")
        self._store_began = time.monotonic()

    def _pass_on(self, store: EmbeddedStore) -> None:
        if store.notice:
            self._tell(f"warning: {store.notice}")

    def _take_port(self) -> int:
        """A port that is free; that of a `hearts up` that was killed is waited for, as its API is just stopping."""
        store = self._store
        left = store is not None and store.poll() and store.owned
        deadline = time.monotonic() + (PORT_SECONDS if left else 0.0)
        while True:
            try:
                return free_port(self._settings.host, self._settings.port)
            except PortInUse:
                if time.monotonic() >= deadline or self._stop.wait(CHECK_SECONDS):
                    raise

    def _check_store(self) -> None:
        """Find out now, and say clearly, what the processes would find out each by itself."""
        settings = self._settings
        try:
            with connect_store(store_url(settings)) as client:
                fix_partitions(client, settings.partitions)
                KeyRing(wire_of(client), settings.key_path, secrets.token_bytes)
                warnings = Durability(client, trusted=self._store is not None).warnings()
        except StoreUnavailable as error:
            raise HouseError(f"the store does not answer: {error}") from error
        except redis.RedisError as error:
            raise HouseError(f"the store cannot be worked with: {error}") from error
        except (PartitionMismatch, KeyFileError) as error:
            raise HouseError(str(error)) from error
        if warnings:
            self._tell(f"warning: {'; '.join(warnings)}")
        if exposed := exposure(settings.key_path):
            self._tell(f"warning: {exposed}")

    def _watch_writes(self) -> WriteWatch:
        self._asking = connect_store(store_url(self._settings), timeout=ASK_SECONDS)
        folder = None if self._store is None else self._store.folder
        durability = Durability(self._asking, folder=folder, replicas=self._settings.replicas)
        return WriteWatch(durability, self._tell)

    def _check_bots(self) -> None:
        """Say what keeps bots from moving; it is no reason not to serve people."""
        if not self._settings.bot_workers:
            self._tell(
                "warning: no bot worker is started (HEARTS_BOT_WORKERS=0), so bots do not move and no clock runs out "
                "unless `hearts worker bots` runs elsewhere"
            )
        if self._settings.queue_url:
            try:
                with connect(self._settings.queue_url, timeout=2.0) as client:
                    Wire(client).call("PING")
            except (StoreUnavailable, redis.RedisError) as error:
                self._tell(
                    f"warning: the job queue (HEARTS_QUEUE_URL) does not answer, and bots do not move until it does: {error}"
                )

    def _claim_logs(self) -> None:
        """Take the usual names of log files, or where another `hearts up` on this folder has them, others with the port."""
        lock = os.open(self._logs / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            self._log_mark = f"-{self._settings.port}"
        else:
            self._log_lock = lock

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}{self._log_mark}.log"

    def _programs(self) -> list[Program]:
        settings = self._settings
        bots = [f"bots-{number}" for number in range(1, settings.bot_workers + 1)]
        audits = [f"audits-{number}" for number in range(1, settings.audit_workers + 1)]
        return [
            self._program("api", "serve", tells=False),
            self._program("projector", "worker", "projector"),
            *(self._program(name, "worker", "bots") for name in bots),
            *(self._program(name, "worker", "audits") for name in audits),
        ]

    def _program(self, name: str, *command: str, tells: bool = True) -> Program:
        settings = self._settings
        # the other settings are inherited; `env` adds to them what the options of this command have changed
        changed = [
            f"HEARTS_DATA={settings.data}",
            f"HEARTS_HOST={settings.host}",
            f"HEARTS_PORT={settings.port}",
        ]
        hearts = [sys.executable, "-P", "-m", "services.cli", *command, "--exit-with-parent"]
        return Program(name, [shutil.which("env") or "env", *changed, *hearts], self._log(name), tells)


def make_folder(folder: Path) -> None:
    """Make a folder for this user alone where there is none, and see that it can be written to. Raises HouseError."""
    probe = folder / ".writable"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        raise HouseError(
            f"games cannot be kept in {folder}: {error.strerror}; choose another folder with --data"
        ) from error


PORT_CHOSEN_BY: Final = "--port, or HEARTS_PORT as in HEARTS_PORT=8001 make run"
"""What chooses the port of the API: `make run` passes no option on."""


class PortInUse(HouseError):
    """Another program listens on the port."""


def free_port(host: str, port: int, chosen_by: str = PORT_CHOSEN_BY) -> int:
    """`port` where it is free, or any free one for 0. Raises PortInUse, HouseError, and says what chooses another."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise HouseError(f"{host:.80} is no address of this machine: {why}") from error
    with socket.socket(family, kind) as probe:
        # a connection that has just ended does not keep the port, a program that listens does
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortInUse(
                    f"port {port} of {host} is in use; choose another with {chosen_by}"
                ) from error
            raise HouseError(f"port {port} of {host} cannot be used: {error.strerror}") from error
        found: int = probe.getsockname()[1]
        return found


def is_ready(host: str, port: int) -> bool:
    """Whether an API answers there that it is ready."""
    connection = http.client.HTTPConnection(_reachable(host), port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _reachable(host: str) -> str:
    """The address by which a client of this machine reaches what listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
