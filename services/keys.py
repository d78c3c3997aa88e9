"""The only place where a key of the store is spelt.

A game, or a player, belongs to partition crc32(its id) mod P. All keys of a partition carry the hash tag `{pNN}`, so
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
        "the game's events; id <seq>-0 from 1, fields p (public bytes, as `services.short` has them) and, where there are any, s (secret)",
    ),
    Template(
        "feed",
        "h:{pNN}:feed",
        "stream",
        "services.store",
        "one pointer for each append: g (game), n (its last seq), d (due, ms), where something is due, "
        "and b where nobody but bots plays then",
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
        "by eight bytes of the hash of an idempotency key: when it expires, which request it was, the last event of its answer",
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
    Template(
        "finished",
        "h:{pNN}:finished",
        "zset",
        "services.projections",
        "games that are over and not in the archive, by when they ended or could not be archived last, Unix ms",
    ),
    Template("seats", "h:{pNN}:seats", "zset", "services.projections", "the games of each player"),
    Template(
        "inbox",
        "h:{pNN}:inbox",
        "stream",
        "services.desks",
        "what has happened in the games of the partition's players: p (player), g (game), a and n (events after a up to n)",
    ),
    Template(
        "desk",
        "h:{pNN}:desk:<player>",
        "hash",
        "services.desks",
        "a player's games: as far as the inbox tells of each, whether it waits, whether it is done with, and since when",
    ),
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
    Template(
        "server_key_now",
        "h:server_key:now",
        "string",
        "services.keyring",
        "the public key, hex, that new games name since the last rotation",
    ),
    Template(
        "archive",
        "h:archive",
        "string",
        "services.archive",
        "the mark of the store's archive, hex, which the archive has in a file of its own",
    ),
    Template("player", "h:player:<player>", "hash", "services.players", "a player's name and kind"),
    Template(
        "token",
        "h:token:<digest>",
        "string",
        "services.tokens",
        "player and scopes by SHA-256 of the token, hex",
    ),
    Template(
        "tokens",
        "h:tokens:<player>",
        "hash",
        "services.tokens",
        "a player's tokens by id; used:<id> the day of the last use; once:<digest> what an idempotency key made",
    ),
    Template(
        "opened",
        "h:opened:<player>",
        "set",
        "services.opened",
        "the tables that a player opened and that are not over",
    ),
    Template(
        "rate",
        "h:rate:<limit>",
        "string",
        "services.rates",
        "requests of a caller in the current window, which it ends with",
    ),
    Template(
        "standings_games",
        "h:{standings}:games",
        "stream",
        "services.standings_fold",
        "every finished game once, in the order in which they are folded; field f (what is known of it)",
    ),
    Template(
        "standings_known",
        "h:{standings}:known",
        "set",
        "services.standings_fold",
        "the finished games that are in that stream",
    ),
    Template(
        "standings_state",
        "h:{standings}:state",
        "hash",
        "services.standings_fold",
        "live: the fold that is read; next: the one that is being made; v:<fold> its version, at:<fold> how far it is",
    ),
    Template(
        "standings_players",
        "h:{standings}:<fold>:players",
        "hash",
        "services.standings_fold",
        "what a fold of the games says of each player and each bot",
    ),
    Template(
        "standings_board",
        "h:{standings}:<fold>:board:<family>",
        "zset",
        "services.standings_fold",
        "the rated players and bots of a family by their score",
    ),
    Template(
        "standings_lease",
        "h:{standings}:lease",
        "string",
        "workers.standings",
        "lease of the one projector that folds the finished games",
    ),
    Template(
        "log_leaves",
        "h:{log}:leaves",
        "stream",
        "services.translog",
        "the transparency log; id <index + 1>-0, fields g (game), k (lock or end), s (seq), h (head)",
    ),
    Template(
        "log_nodes",
        "h:{log}:nodes:<level>:<chunk>",
        "string",
        "services.translog",
        "hashes of the log's complete subtrees of a level, 32 bytes each, 65,536 a chunk",
    ),
    Template(
        "log_index", "h:{log}:index", "hash", "services.translog", "index of each leaf of the log by its hash"
    ),
    Template(
        "log_places",
        "h:{log}:places",
        "hash",
        "services.translog",
        "indexes of the leaves of <game>|<lock or end>, one unless there was a fork",
    ),
    Template(
        "log_signed",
        "h:{log}:signed",
        "string",
        "services.log_edge",
        "the last checkpoint of the log that the server has signed (a note), which the log must continue",
    ),
    Template(
        "fan_run",
        "h:fan:{<run>}",
        "string",
        "services.fan_channel",
        "that a command waits for what workers do for it, which they look at; on the queue's server, expires in a minute",
    ),
    Template(
        "fan_reports",
        "h:fan:{<run>}:reports",
        "list",
        "services.fan_channel",
        "what came of it, a batch each, until it is taken; on the queue's server, expires in ten minutes",
    ),
    Template(
        "arena",
        "h:arena:{<run>}",
        "hash",
        "workers.arena.kept",
        "an arena: spec (what is played), and what came of each deal by its number; on the queue's server, expires in a week",
    ),
    Template(
        "sweep", "h:sweep", "string", "workers.sweep", "lease of the one process that watches due times"
    ),
)
"""Every key, for docs and tests. `pNN` stands for the partition, at least two digits."""

STREAMS_PATTERN = "h:{p*}:g:*"
EVERY_PATTERN = "h:*"
"""What SCAN finds the streams of all games, and every key of the house, by."""


def game_of_stream(key: bytes) -> str | None:
    """The game whose stream has this key; none where no game has such an id."""
    name = key.split(b"}:g:", 1)[1]
    return name.decode() if name.isascii() else None


class Keys:
    """The keys of a store with `partitions` partitions. Raises ValueError unless there is at least one."""

    partitions_key = "h:partitions"
    server_key = "h:server_key"
    server_key_now = "h:server_key:now"
    archive = "h:archive"
    sweep = "h:sweep"
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

    def finished(self, partition: int) -> str:
        """The partition's games that are over and not in the archive."""
        return f"{self._prefixes[partition]}finished"

    def seats(self, partition: int) -> str:
        """The partition's games of each player."""
        return f"{self._prefixes[partition]}seats"

    def inbox(self, partition: int) -> str:
        """What has happened in the games of the partition's players."""
        return f"{self._prefixes[partition]}inbox"

    def desk(self, player: str) -> str:
        """A player's games."""
        return f"{self._prefixes[self.partition(player)]}desk:{player}"

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
