"""The only place where a key of the store is spelt.

A game belongs to partition crc32(game id) mod P. All keys of a partition carry the hash tag `{pNN}`, so
one script about one game touches one slot, and the same code runs on a single server and on a cluster.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32


class Template(NamedTuple):
    """What a key looks like, its type in the store, the module that writes it, and what it holds."""

    name: str
    key: str
    type: str
    owner: str
    meaning: str


TEMPLATES = (
    Template(
        "stream",
        "h:{pNN}:g:<game>",
        "stream",
        "services.store",
        "the game's events; id <seq>-0 from 1, fields p (public bytes) and, where there are any, s (secret)",
    ),
    Template(
        "feed",
        "h:{pNN}:feed",
        "stream",
        "services.store",
        "one pointer for each append: g (game), n (its last seq), d (due, ms), where something is due",
    ),
    Template(
        "due",
        "h:{pNN}:due",
        "zset",
        "services.store",
        "game by when a bot or a clock must act in it, Unix ms",
    ),
    Template(
        "idempotency",
        "h:{pNN}:i:<game>",
        "hash",
        "services.store",
        "answer by idempotency key, each behind the Unix ms at which it expires",
    ),
    Template(
        "snapshot",
        "h:{pNN}:s:<game>",
        "string",
        "services.store",
        "the folded game at one of its last events, a shortcut for who loads it (`services.snapshot`)",
    ),
    Template("parked", "h:{pNN}:parked", "hash", "services.projections", "why a game could not be folded"),
    Template(
        "table", "h:{pNN}:t:<game>", "hash", "services.projections", "the game's table snapshot and its seq"
    ),
    Template("lobby", "h:{pNN}:lobby:<status>", "zset", "services.projections", "games by status and time"),
    Template("seats", "h:{pNN}:seats", "zset", "services.projections", "the games of each player"),
    Template("turns", "h:{pNN}:turns", "zset", "services.projections", "the games that wait for each player"),
    Template(
        "partitions", "h:partitions", "string", "services.store", "P, fixed when the store is first used"
    ),
    Template(
        "server_key",
        "h:server_key",
        "string",
        "services.audit",
        "the server's public key, hex, which the proofs of all games here name",
    ),
    Template("player", "h:player:<player>", "hash", "services.players", "a player's name and kind"),
    Template(
        "token", "h:token:<digest>", "string", "services.players", "player by SHA-256 of the token, hex"
    ),
    Template(
        "sweep", "h:sweep", "string", "workers.seats", "lease of the one process that watches due times"
    ),
)
"""Every key, for docs and tests. `pNN` stands for the partition, at least two digits."""


class Keys:
    """The keys of a store with `partitions` partitions. Raises ValueError unless there is at least one."""

    partitions_key = "h:partitions"
    server_key = "h:server_key"
    sweep = "h:sweep"

    def __init__(self, partitions: int) -> None:
        if partitions < 1:
            raise ValueError(f"a store has at least one partition, not {partitions}")
        self.partitions = partitions
        width = max(2, len(str(partitions - 1)))
        tags = [f"h:{{p{p:0{width}}}}:" for p in range(partitions)]
        # made once: an append spells five keys, and joining two strings is all that is left to do
        self._prefixes = tags
        self._streams = [f"{tag}g:" for tag in tags]
        self._answers = [f"{tag}i:" for tag in tags]
        self._tables = [f"{tag}t:" for tag in tags]
        self._snapshots = [f"{tag}s:" for tag in tags]
        self._feeds = [f"{tag}feed" for tag in tags]
        self._dues = [f"{tag}due" for tag in tags]

    def partition(self, game: str) -> int:
        """The partition, 0 to P-1, that a game belongs to."""
        return crc32(game.encode()) % self.partitions

    def stream(self, game: str) -> str:
        """The game's event stream."""
        return self._streams[self.partition(game)] + game

    def idempotency(self, game: str) -> str:
        """The game's answers by idempotency key."""
        return self._answers[self.partition(game)] + game

    def table(self, game: str) -> str:
        """The game's table snapshot."""
        return self._tables[self.partition(game)] + game

    def snapshot(self, game: str) -> str:
        """The game's snapshot."""
        return self._snapshots[self.partition(game)] + game

    def of_append(self, game: str) -> tuple[str, str, str, str, str]:
        """Stream, feed, due set, answers and snapshot of a game: the keys of one append."""
        p = self.partition(game)
        return (
            self._streams[p] + game,
            self._feeds[p],
            self._dues[p],
            self._answers[p] + game,
            self._snapshots[p] + game,
        )

    def feed(self, partition: int) -> str:
        """The partition's feed of pointers."""
        return self._feeds[partition]

    def due(self, partition: int) -> str:
        """The partition's due set."""
        return self._dues[partition]

    def parked(self, partition: int) -> str:
        """The partition's games that could not be folded."""
        return f"{self._prefixes[partition]}parked"

    def lobby(self, partition: int, status: str) -> str:
        """The partition's games of one status."""
        return f"{self._prefixes[partition]}lobby:{status}"

    def seats(self, partition: int) -> str:
        """The partition's games of each player."""
        return f"{self._prefixes[partition]}seats"

    def turns(self, partition: int) -> str:
        """The partition's games that wait for each player."""
        return f"{self._prefixes[partition]}turns"

    @staticmethod
    def player(player: str) -> str:
        """A player's record."""
        return f"h:player:{player}"

    @staticmethod
    def token(digest: str) -> str:
        """The player that a token belongs to; `digest` is SHA-256 of the token, hex."""
        return f"h:token:{digest}"
