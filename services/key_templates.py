"""Every key of the store, as its owner writes it: for the checks, the documents and the tests. `services.keys` spells them."""

from __future__ import annotations

from typing import NamedTuple


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
        "versions",
        "h:{versions}:now",
        "hash",
        "services.versions",
        "of each projection: the version that is read, the one that is being made (:next), the highest there was (:last)",
    ),
    Template(
        "rebuild_lease",
        "h:{versions}:lease:<projection>",
        "string",
        "services.versions",
        "lease of the one rebuild that makes a version of a projection",
    ),
    Template(
        "written",
        "h:{pNN}:versions",
        "hash",
        "services.versions",
        "of each projection the versions that are written in the partition, the one that is read first; none: 0",
    ),
    Template(
        "table_of_version",
        "h:{pNN}:v<version>:t:<game>",
        "hash",
        "services.projections",
        "a table of a version that a rebuild has made",
    ),
    Template(
        "lobby_of_version",
        "h:{pNN}:v<version>:lobby:<status>",
        "zset",
        "services.projections",
        "games by status and time, of such a version",
    ),
    Template(
        "seats_of_version",
        "h:{pNN}:v<version>:seats",
        "zset",
        "services.projections",
        "the games of each player, of such a version",
    ),
    Template(
        "desk_of_version",
        "h:{pNN}:v<version>:desk:<player>",
        "hash",
        "services.desks",
        "a player's games, of such a version",
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
        "live: the fold that is read; next: the one that is being made, held where it is not read by itself; "
        "v:<fold> its version, at:<fold> how far it is",
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
