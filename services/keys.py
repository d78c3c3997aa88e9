"""The only place where a key of the store is spelt.

A game, or a player, belongs to partition crc32(its id) mod P. All keys of a partition carry the hash tag `{pNN}`, so
one script about one game touches one slot, and the same code runs on a single server and on a cluster.
"""

from __future__ import annotations

import re
from zlib import crc32

STREAMS_PATTERN = "h:{p*}:g:*"
PARTITIONED_PATTERN = "h:{p*}:*"
EVERY_PATTERN = "h:*"
"""What SCAN finds the streams of all games, every key of a partition, and every key of the house by."""


def game_of_stream(key: bytes) -> str | None:
    """The game whose stream has this key; none where no game has such an id."""
    name = key.split(b"}:g:", 1)[1]
    return name.decode() if name.isascii() else None


def version_of(key: str) -> tuple[str, int]:
    """A key of a partition as it is spelt in version 0 of its projection, and the version that it is of."""
    found = re.fullmatch(r"(h:\{p\d+\}:)v([1-9]\d*):(.+)", key)
    return (key, 0) if found is None else (found[1] + found[3], int(found[2]))


class Keys:
    """The keys of a store with `partitions` partitions. Raises ValueError unless there is at least one."""

    partitions_key = "h:partitions"
    server_key = "h:server_key"
    server_key_now = "h:server_key:now"
    archive = "h:archive"
    sweep = "h:sweep"
    versions = "h:{versions}:now"
    # one script writes several of these, so they share a slot of a cluster
    standings_games = "h:{standings}:games"
    standings_known = "h:{standings}:known"
    standings_state = "h:{standings}:state"
    standings_lease = "h:{standings}:lease"
    log_leaves = "h:{log}:leaves"
    log_index = "h:{log}:index"
    log_places = "h:{log}:places"
    log_signed = "h:{log}:signed"

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

    def partition(self, of: str) -> int:
        """The partition, 0 to P-1, that a game, or a player, belongs to, by its id."""
        return crc32(of.encode()) % self.partitions

    def stream(self, game: str) -> str:
        """The game's event stream."""
        return self._streams[self.partition(game)] + game

    def idempotency(self, game: str) -> str:
        """The game's answers by idempotency key."""
        return self._answers[self.partition(game)] + game

    def table(self, game: str, version: int = 0) -> str:
        """The game's table snapshot, in a version of the read models."""
        if version:
            return f"{self._of(self.partition(game), version)}t:{game}"
        return self._tables[self.partition(game)] + game

    def _of(self, partition: int, version: int) -> str:
        """What the keys of a version begin with. The first version, 0, has none of its own: it was there before others."""
        return f"{self._prefixes[partition]}v{version}:" if version else self._prefixes[partition]

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

    def written(self, partition: int) -> str:
        """Which versions of the projections are written in the partition."""
        return f"{self._prefixes[partition]}versions"

    def lobby(self, partition: int, status: str, version: int = 0) -> str:
        """The partition's games of one status, in a version of the read models."""
        return f"{self._of(partition, version)}lobby:{status}"

    def finished(self, partition: int) -> str:
        """The partition's games that are over and not in the archive."""
        return f"{self._prefixes[partition]}finished"

    def seats(self, partition: int, version: int = 0) -> str:
        """The partition's games of each player, in a version of the read models."""
        return f"{self._of(partition, version)}seats"

    def inbox(self, partition: int) -> str:
        """What has happened in the games of the partition's players."""
        return f"{self._prefixes[partition]}inbox"

    def desk(self, player: str, version: int = 0) -> str:
        """A player's games, in a version of the desks."""
        return f"{self._of(self.partition(player), version)}desk:{player}"

    @staticmethod
    def rebuild_lease(projection: str) -> str:
        """The lease of the one rebuild of a projection."""
        return f"h:{{versions}}:lease:{projection}"

    @staticmethod
    def player(player: str) -> str:
        """A player's record."""
        return f"h:player:{player}"

    @staticmethod
    def tokens(player: str) -> str:
        """A player's tokens."""
        return f"h:tokens:{player}"

    @staticmethod
    def opened(player: str) -> str:
        """The tables that a player opened."""
        return f"h:opened:{player}"

    @staticmethod
    def rate(limit: str) -> str:
        """The count of a rate limit for one caller."""
        return f"h:rate:{limit}"

    @staticmethod
    def token(digest: str) -> str:
        """The player that a token belongs to; `digest` is SHA-256 of the token, hex."""
        return f"h:token:{digest}"

    @staticmethod
    def standings_players(fold: int) -> str:
        """What a fold of the finished games says of each player."""
        return f"h:{{standings}}:{fold}:players"

    @staticmethod
    def standings_board(fold: int, family: str) -> str:
        """The players of a family in such a fold, by their score."""
        return f"h:{{standings}}:{fold}:board:{family}"

    @staticmethod
    def fan_run(run: str) -> str:
        """That a command waits for what workers do."""
        return f"h:fan:{{{run}}}"

    @staticmethod
    def fan_reports(run: str) -> str:
        """What workers have done that was not taken yet."""
        return f"h:fan:{{{run}}}:reports"

    @staticmethod
    def arena(run: str) -> str:
        """What came of the deals of an arena."""
        return f"h:arena:{{{run}}}"

    @staticmethod
    def log_nodes(level: int, chunk: int) -> str:
        """A chunk of the hashes of one level of the transparency log's tree."""
        return f"h:{{log}}:nodes:{level}:{chunk}"
