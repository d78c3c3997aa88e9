"""Embedded stores of this process and of others, and what is written to them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.embedded import EmbeddedStore, process_began
from services.keys import Keys
from services.store import Store, connect

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_800_000_000_000

OWNER = """
import sys
from pathlib import Path
from services.embedded import EmbeddedStore
with EmbeddedStore(Path(sys.argv[1])) as store:
    print(store.owned, flush=True)
    sys.stdin.read()
"""


@contextmanager
def owner(data: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has started the store; it stops it in order when its input ends."""
    command = [sys.executable, "-c", OWNER, str(data)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def began(process: subprocess.Popen[str]) -> str:
    """Wait until the other process has the store; whether it owns it."""
    assert process.stdout
    return process.stdout.readline().strip()


def log(store: EmbeddedStore) -> Store:
    """The event log on the store."""
    return Store(connect(store.url), Keys(4))


def server(store: EmbeddedStore) -> int:
    """Process id of the server that answers."""
    with connect(store.url) as client:
        return client.info("server")["process_id"]


def add(store: Store, expected: int, count: int = 1) -> object:
    """Append events."""
    return store.append("g", expected, [(b"e" * 50, b"s")] * count, now=NOW, due=NOW)


def is_gone(pid: int) -> bool:
    """Whether no such process lives; one that its parent has not waited for counts as gone."""
    return process_began(pid) is None
