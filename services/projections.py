"""Read models: what the projector has folded from the log, and their readers.

They may lag behind the log a little and can be thrown away and folded again. They hold only what a spectator may
know. Every method raises `StoreUnavailable` when the server does not answer.
"""

from __future__ import annotations

import heapq
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from domain.refusals import Malformed
from services.cluster import Client, wire_of
from services.feed import Feed
from services.keys import Keys
from services.summaries import STATUSES, VERSION, WRITE, Update, arguments
from services.versions import GAMES, MOVED, Fence, Superseded, Versions, spell_fence
from services.wire import Call, Script

GROUP: Final = "projector"
"""The consumer group of the feeds by which the read models are kept."""
AT_ONCE: Final = 200
"""Games that one call of the script writes, so that it holds up the server for 2 ms at most."""

Position = tuple[int, str]
"""Place of a game in a list that is sorted newest first: when it was opened, in ms, and its id."""


class Parked(msgspec.Struct, frozen=True):
    """A game that could not be folded and was set aside."""

    seq: int
    """As far as the log went when it was tried last."""
    why: str
    times: int
    """How often it was tried by that fold."""
    at: int
    """When it was tried last, in ms since 1970 UTC."""
    ended: bool = False
    """Whether the projector ended while it tried: a retry might end it again."""
    fold: str = ""
    """The hash of the fold that tried it last, in hex."""
    skipped: bool = False
    """Whether an operator has said that it is to be left alone: no alarm counts it, and only another fold tries it by itself."""
    asked: bool = False
    """Whether an operator wants it tried once more, and it was not yet."""


REMARK: Final = Script("""
-- KEYS[1] parked games   ARGV[1] game   ARGV[2] its mark as it was read   ARGV[3] the one to be
-- Returns 1, or 0 where the mark has changed since, or is gone.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
""")


class Projections:
    """The read models of a store."""

    def __init__(self, client: Client, keys: Keys) -> None:
        self._wire = wire_of(client)
        self._keys = keys
        self._feed = Feed(client, keys)
        self.versions = Versions(self._wire, keys, GAMES)

    # --- writing

    def write(
        self, updates: Mapping[int, Sequence[Update]], acks: Mapping[int, Sequence[bytes]] | None = None
    ) -> int:
        """Project the games of each partition that are newer than what is there, and acknowledge feed entries.

        A game's summary, its seq and every index change in one step, and the entries of a partition are
        acknowledged behind its games; so what is delivered again, or late, changes nothing. Returns how many games
        have been written.
        """
        acks = acks or {}
        last: list[tuple[int, Callable[[Fence], Call]]] = []
        written = 0
        for partition in sorted({*updates, *acks}):
            mine = updates.get(partition, ())
            for start in range(0, len(mine) - AT_ONCE, AT_ONCE):
                some = partial(self._call, partition, mine[start : start + AT_ONCE], ())
                written += sum(self.versions.run_each(WRITE, [(partition, some)]))
            rest = mine[(len(mine) - 1) // AT_ONCE * AT_ONCE :]
            last.append((partition, partial(self._call, partition, rest, acks.get(partition, ()))))
        return written + sum(self.versions.run_each(WRITE, last))

    def write_version(self, updates: Mapping[int, Sequence[Update]], fence: Fence) -> None:
        """Project games of each partition in the last version of ``fence`` alone, as `write` does; those that are newer.

        Raises `Superseded` where other versions are written by now.
        """
        calls = [
            self._call(partition, mine[start : start + AT_ONCE], (), fence, fence[-1:])
            for partition, mine in updates.items()
            for start in range(0, len(mine), AT_ONCE)
        ]
        if MOVED in self._wire.run_each(WRITE, calls):
            raise Superseded("another rebuild of the games has begun")

    def _call(
        self,
        partition: int,
        updates: Sequence[Update],
        acks: Sequence[bytes],
        fence: Fence,
        versions: Fence | None = None,
    ) -> Call:
        keys, into = self._keys, fence if versions is None else versions
        used = [
            keys.feed(partition),
            keys.parked(partition),
            keys.finished(partition),
            keys.written(partition),
        ]
        for version in into:
            used += [keys.seats(partition, version)]
            used += [keys.lobby(partition, status, version) for status in STATUSES]
        used += [keys.table(one.game, version) for one in updates for version in into]
        args: list[Any] = [
            VERSION,
            GROUP,
            spell_fence(fence),
            len(into),
            int(versions is None),
            len(acks),
            *acks,
        ]
        for one in updates:
            args += arguments(one)
        return used, args

    def seqs(self, games: Sequence[str]) -> dict[str, int]:
        """How far each game is projected in every version that is written now, 0 where it is not."""
        fences = self.versions.fences(map(self._keys.partition, games))
        asked = [(game, version) for game in games for version in fences[self._keys.partition(game)]]
        replies = self._wire.pipeline(
            [("HMGET", self._keys.table(game, version), "v", "seq") for game, version in asked]
        )
        found: dict[str, int] = {}
        for (game, _), (version, seq) in zip(asked, replies, strict=True):
            upto = int(seq) if version is not None and int(version) >= VERSION else 0
            found[game] = min(upto, found.get(game, upto))
        return found

    def park(self, games: Mapping[str, Parked]) -> None:
        """Set games aside, each with the reason. `write` takes back those that it writes."""
        self._wire.pipeline(
            [
                ("HSET", self._keys.parked(self._keys.partition(game)), game, msgspec.json.encode(parked))
                for game, parked in games.items()
            ]
        )

    def remark(self, game: str, *, skipped: bool, asked: bool) -> Parked | None:
        """Say what is to become of a game that is set aside. Returns how it was before, none where it is not set aside.

        A game that the projector folds meanwhile is not set aside again by this.
        """
        key = self._keys.parked(self._keys.partition(game))
        while (kept := self._wire.call("HGET", key, game)) is not None:
            before = msgspec.json.decode(kept, type=Parked)
            after = msgspec.structs.replace(before, skipped=skipped, asked=asked)
            if self._wire.run(REMARK, [key], [game, kept, msgspec.json.encode(after)]):
                return before
        return None

    def take_back(self, game: str) -> None:
        """Set a game aside no longer."""
        self._wire.call("HDEL", self._keys.parked(self._keys.partition(game)), game)

    # --- reading

    def tables(self, games: Sequence[str]) -> list[dict[str, Any]]:
        """The summaries of those of ``games`` that are projected."""
        return [one for one in self._tables(games, self.versions.live()) if one is not None]

    def list_games(
        self,
        *,
        status: str | None = None,
        player: str | None = None,
        after: str | None = None,
        limit: int = 20,
    ) -> tuple[list[dict[str, Any]], str | None]:
        """At most `limit` summaries, the newest game first, and the cursor of what follows, none at the end.

        Only games of that status, or with that player at the table. A cursor names a place between two games, so
        games that are opened meanwhile neither move nor repeat what follows it. Raises `Malformed` for a cursor or
        a status that there is not.
        """
        if status is not None and status not in STATUSES:
            raise Malformed(f"no status {status!r:.40}; there are {', '.join(STATUSES)}")
        place = None if after is None else _read_cursor(after)
        version = self.versions.live()  # for all of this answer
        found: list[dict[str, Any]] = []
        while len(found) <= limit:
            places = self._places(version, status, player, place, limit + 1)
            summaries = self._tables([game for _, game in places], version)
            # the status of a game may have changed since its place was read
            found += [one for one in summaries if one is not None and status in (None, one["status"])]
            if len(places) <= limit:
                break
            place = places[-1]
        if len(found) <= limit:
            return found, None
        last = found[limit - 1]
        return found[:limit], _write_cursor((last["created_at"], last["id"]))

    def parked(self) -> dict[str, Parked]:
        """The games that could not be folded."""
        every = range(self._keys.partitions)
        replies = self._wire.pipeline([("HGETALL", self._keys.parked(p)) for p in every])
        return {
            game.decode(): msgspec.json.decode(parked, type=Parked)
            for flat in replies
            for game, parked in zip(flat[::2], flat[1::2], strict=True)
        }

    def parked_among(self, games: Iterable[str]) -> dict[str, Parked]:
        """Those of ``games`` that could not be folded."""
        mine: dict[int, list[str]] = {}
        for game in games:
            mine.setdefault(self._keys.partition(game), []).append(game)
        replies = self._wire.pipeline([("HMGET", self._keys.parked(p), *mine[p]) for p in mine])
        return {
            game: msgspec.json.decode(kept, type=Parked)
            for games, reply in zip(mine.values(), replies, strict=True)
            for game, kept in zip(games, reply, strict=True)
            if kept is not None
        }

    def lag(self) -> int:
        """Appends that have not been folded into the read models yet."""
        return self._feed.lag(GROUP)

    # --- inside

    def _tables(self, games: Sequence[str], version: int) -> list[dict[str, Any] | None]:
        replies = self._wire.pipeline(
            [("HGET", self._keys.table(game, version), "summary") for game in games]
        )
        return [None if reply is None else msgspec.json.decode(reply) for reply in replies]

    def _places(
        self, version: int, status: str | None, player: str | None, before: Position | None, count: int
    ) -> list[Position]:
        """The newest `count` places behind `before`, those of a player whatever the status."""
        found = (
            self._player_places(version, player, before, count)
            if player is not None
            else self._status_places(version, STATUSES if status is None else (status,), before, count)
        )
        return heapq.nlargest(count, found)

    def _status_places(
        self, version: int, statuses: Sequence[str], before: Position | None, count: int
    ) -> Iterable[Position]:
        every = range(self._keys.partitions)
        lobbies = [self._keys.lobby(p, status, version) for p in every for status in statuses]
        end = "+inf" if before is None else f"({before[0]}"
        commands: list[tuple[Any, ...]] = [
            ("ZREVRANGEBYSCORE", lobby, end, "-inf", "WITHSCORES", "LIMIT", 0, count) for lobby in lobbies
        ]
        if before is not None:  # other games of the same millisecond stand on both sides of the place
            commands += [("ZRANGEBYSCORE", lobby, before[0], before[0], "WITHSCORES") for lobby in lobbies]
        for reply in self._wire.pipeline(commands):
            for game, score in zip(reply[::2], reply[1::2], strict=True):
                place = (int(score), game.decode())
                if before is None or place < before:
                    yield place

    def _player_places(
        self, version: int, player: str, before: Position | None, count: int
    ) -> Iterable[Position]:
        end = f"({player};" if before is None else f"({player}:{before[0]:013}:{before[1]}"
        commands = [
            ("ZREVRANGEBYLEX", self._keys.seats(p, version), end, f"[{player}:", "LIMIT", 0, count)
            for p in range(self._keys.partitions)
        ]
        for reply in self._wire.pipeline(commands):
            for member in reply:
                _, opened, game = member.decode().rsplit(":", 2)
                yield int(opened), game


def _write_cursor(place: Position) -> str:
    return urlsafe_b64encode(f"{place[0]}:{place[1]}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> Position:
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
        opened, _, game = text.partition(":")
        place = int(opened), game
    except ValueError:
        place = -1, ""
    if not 0 <= place[0] < 10**13 or _write_cursor(place) != cursor:
        raise Malformed(f"{cursor!r:.60} is no cursor of this list")
    return place
