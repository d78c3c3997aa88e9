"""Stores of each kind that the house works on, with the settings that name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.servers import PLAIN, Nodes, Replicated, Server, Servers, servers

KINDS = ("one", "sentinel", "cluster")
PARTITIONS = 8


class Place(NamedTuple):
    """A store, and where the jobs are."""

    store: Server | Replicated | Nodes
    queue: Server | None
    replicas: int
    """How many replicas each primary has."""

    @property
    def environ(self) -> dict[str, str]:
        """The variables that name it."""
        named = {} if self.queue is None else {"HEARTS_QUEUE_URL": self.queue.url}
        return named | {
            "HEARTS_STORE_URL": self.store.url,
            "HEARTS_REPLICAS": str(self.replicas),
            "HEARTS_PARTITIONS": str(PARTITIONS),
        }


def make(kind: str, some: Servers, replicas: int = 1) -> Place:
    """A store of a kind; a single server has no replicas."""
    if kind == "one":
        return Place(some.add(*PLAIN), None, 0)
    if kind == "sentinel":
        return Place(Replicated(some, replicas, 3, least=1), None, 1)
    return Place(Nodes(some, 3, replicas, least=min(replicas, 1)), some.add(*PLAIN), min(replicas, 1))


@contextmanager
def place(kind: str, folder: Path, replicas: int = 1) -> Iterator[Place]:
    """A store of a kind, that is ended."""
    with servers(folder) as some:
        yield make(kind, some, replicas)
