"""Houses whose store is at the other end of a line that a nemesis has in its hands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from services.embedded import EmbeddedStore
from services.store import connect
from tests.faults.proxy import Proxy
from tests.faults.world import World, a_world
from tests.support.own_store import OwnStore

DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction")


@contextmanager
def behind_a_line(folder: Path) -> Iterator[tuple[World, Proxy]]:
    """A house on a store of its own, and the line between the two."""
    with ExitStack() as stack:
        store = stack.enter_context(EmbeddedStore(folder / "store"))
        line = stack.enter_context(closing(Proxy(store.socket)))
        yield stack.enter_context(a_world(folder, f"redis://127.0.0.1:{line.port}/0")), line


class Replicated:
    """A primary and its replica, the house's line to the first, and the link between the two."""

    def __init__(self, folder: Path) -> None:
        for name in ("primary", "replica"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.primary = OwnStore(folder / "primary", *DURABLE)
        self.line, self.link = Proxy(self.primary.port), Proxy(self.primary.port)
        self.replica = OwnStore(
            folder / "replica",
            *DURABLE,
            "--replicaof",
            f"127.0.0.1 {self.link.port}",
            "--repl-ping-replica-period",
            "1",
        )

    def is_in_step(self) -> bool:
        """Whether the replica follows the primary."""
        with connect(self.replica.url) as client:
            return bool(client.info("replication").get("master_link_status") == "up")

    def promote(self) -> None:
        """Let the replica take the primary's place, as an operator does it; the old primary comes back as its replica."""
        with connect(self.replica.url) as client:
            client.execute_command("REPLICAOF", "NO", "ONE")
        self.line.lead_to(self.replica.port)
        with connect(self.primary.url) as client:
            client.execute_command("REPLICAOF", "127.0.0.1", self.replica.port)

    def close(self) -> None:
        """End all."""
        for one in (self.replica, self.primary, self.line, self.link):
            one.close()


@contextmanager
def with_replica(folder: Path, **settings: str) -> Iterator[tuple[World, Replicated]]:
    """A house on a primary that a replica follows."""
    with ExitStack() as stack:
        pair = stack.enter_context(closing(Replicated(folder)))
        url = f"redis://127.0.0.1:{pair.line.port}/0"
        yield stack.enter_context(a_world(folder, url, **settings)), pair
