"""The rebuild of the games as they are listed: summaries, lobby, the games of each player; and the list for the archive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from services.rebuild_kinds import Compared, Folded, How, Piece, ask, ask_at_once, pairs, slices
from services.refold import refold
from services.summaries import STATUSES, Update, arguments, update
from services.versions import GAMES, Fence
from services.wire import Script
from services.wiring import Services

MEND: Final = Script("""
-- KEYS[1] game stream   KEYS[2] its table   KEYS[3] finished games that are not in the archive
-- ARGV[1] game   ARGV[2] its last event at (ms)
-- Lists the game where it is over and all of it is in the store, and else not.
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)
if first[1] and first[1][1] == '1-0' and redis.call('HGET', KEYS[2], 'status') == '3' then
  return redis.call('ZADD', KEYS[3], 'NX', ARGV[2], ARGV[1])
end
return redis.call('ZREM', KEYS[3], ARGV[1])
""")


class RebuildGames:
    """See `services.rebuild_kinds.Kind`; an item is a game."""

    projection: str = GAMES
    marks: tuple[str, ...] = ("t:", "lobby:", "seats")

    def fold(self, house: Services, games: Sequence[str], fence: Fence) -> Folded:
        """See there."""
        done = refold(house.store, house.projections, games)
        self._write(house, (update(*one) for one in done.found), fence)
        return Folded(len(games), done.events, done.failed, frozenset(games))

    def _write(self, house: Services, updates: Iterable[Update], fence: Fence) -> None:
        sorted_in: dict[int, list[Update]] = defaultdict(list)
        for one in updates:
            sorted_in[house.keys.partition(one.game)].append(one)
        house.projections.write_version(sorted_in, fence)

    def carry(self, house: Services, failed: Mapping[str, str], kept: Sequence[str], fence: Fence) -> None:
        """See there."""
        games = [game for game in kept if game in failed]
        tables = ask(house.store.wire, [("HGETALL", house.keys.table(game, fence[0])) for game in games])
        carried = []
        for game, flat in zip(games, tables, strict=True):
            table = pairs(flat)
            try:
                one = Update(game, int(table[b"seq"]), msgspec.json.decode(table[b"summary"]))
                arguments(one)  # which fails where a part of it is missing
                carried.append(one)
            except (LookupError, ValueError, TypeError):
                continue  # nothing that could be read
        self._write(house, carried, fence)

    def compare(self, house: Services, piece: Piece, how: How) -> Compared:
        """See there."""
        partition, games = piece
        look = _Look(house, partition, how.fence)
        suspects = look.suspects(games)
        found = Compared()
        for some in slices(set(games).intersection(suspects) if how.only else suspects):
            for game, (old, new, wrong) in look.at_once(some).items():
                if _seq(old) < _seq(new) and not how.final:
                    found.behind.append(game)
                    continue
                found.add(f"game {game}", old, new)
                if wrong is not None and game not in how.failed:
                    found.add(f"game {game}", {"awaits archive": wrong}, {"awaits archive": not wrong})
                    found.mend.append(game)
        return found

    def before_switch(self, house: Services, compared: Compared, fence: Fence) -> None:
        """See there."""

    def after_switch(self, house: Services, compared: Compared, version: int) -> None:
        """See there: mends the list of the games that wait for the archive, which has no versions, as a list of work."""
        keys = house.keys
        for game in compared.mend:
            partition = keys.partition(game)
            table = keys.table(game, version)
            kept = house.store.wire.call("HGET", table, "summary")
            at = msgspec.json.decode(kept)["updated_at"] if kept else house.clock()
            house.store.wire.run(MEND, (keys.stream(game), table, keys.finished(partition)), (game, at))


class _Look:
    """The games of a partition in two versions."""

    def __init__(self, house: Services, partition: int, fence: Fence) -> None:
        self._wire, self._keys = house.store.wire, house.keys
        self._partition, self._fence = partition, fence
        self._members: dict[str, set[bytes]] = defaultdict(set)

    def suspects(self, games: Sequence[str]) -> list[str]:
        """The games that seem to differ, read one after another while the log goes on."""
        found: dict[str, None] = {}
        listed = [self._listed(version) for version in self._fence]
        for game in {**listed[0], **listed[1]}:
            if listed[0].get(game) != listed[1].get(game):
                found[game] = None
        every = dict.fromkeys([*games, *listed[0], *listed[1]])
        waiting = {one.decode(errors="replace") for one in self._range(self._keys.finished(self._partition))}
        for some in slices(every):
            old, new = ([pairs(one) for one in self._tables(some, version)] for version in self._fence)
            found |= {game: None for game, a, b in zip(some, old, new, strict=True) if a != b}
            over = {game for game, table in zip(some, new, strict=True) if table.get(b"status") == b"3"}
            missing = [game for game in over if game not in waiting]
            firsts = ask(self._wire, [self._first(game) for game in missing])
            found |= {game: None for game, first in zip(missing, firsts, strict=True) if _is_whole(first)}
            found |= {game: None for game in some if game in waiting and game not in over}
        found |= {game: None for game in waiting if game not in every}
        return [game for game in found if self._keys.partition(game) == self._partition]

    def at_once(self, games: Sequence[str]) -> dict[str, tuple[dict[str, Any], dict[str, Any], bool | None]]:
        """Each game in the old version and in the new one, in one step of the server.

        And, where it is wrong, whether the game is among those that wait for the archive.
        """
        groups = [self._group(game) for game in games]
        found = {}
        for game, reply in zip(games, ask_at_once(self._wire, groups), strict=True):
            finished, first, *rest = reply
            half = len(rest) // 2
            members = sorted(self._members[game])
            old, new = (_shown(some, members) for some in (rest[:half], rest[half:]))
            right = new.get("status") == "over" and _is_whole(first)
            wrong = (finished is not None) if (finished is not None) != right else None
            found[game] = (old, new, wrong)
        return found

    def _group(self, game: str) -> list[tuple[Any, ...]]:
        keys, p = self._keys, self._partition
        group: list[tuple[Any, ...]] = [("ZSCORE", keys.finished(p), game), self._first(game)]
        for version in self._fence:
            group.append(("HGETALL", keys.table(game, version)))
            group += [("ZSCORE", keys.lobby(p, status, version), game) for status in STATUSES]
            seats = keys.seats(p, version)
            group += [("ZSCORE", seats, member) for member in sorted(self._members[game])]
        return group

    def _listed(self, version: int) -> dict[str, list[bytes]]:
        """Where each game is listed."""
        keys, p = self._keys, self._partition
        found: dict[str, list[bytes]] = defaultdict(list)
        for status in STATUSES:
            for one, score in pairs(self._range(keys.lobby(p, status, version), "WITHSCORES")).items():
                found[one.decode(errors="replace")].append(status.encode() + b" " + score)
        for member in self._range(keys.seats(p, version)):
            game = member.rpartition(b":")[2].decode(errors="replace")
            found[game].append(member)
            self._members[game].add(member)
        return found

    def _range(self, key: str, *more: str) -> list[Any]:
        found: list[Any] = ask(self._wire, [("ZRANGE", key, 0, -1, *more)])[0] or []
        return found

    def _tables(self, games: Sequence[str], version: int) -> list[Any]:
        return ask(self._wire, [("HGETALL", self._keys.table(game, version)) for game in games])

    def _first(self, game: str) -> tuple[Any, ...]:
        return ("XRANGE", self._keys.stream(game), "-", "+", "COUNT", 1)


def _is_whole(first: Any) -> bool:
    """Whether a stream that begins so has all events of its game."""
    return bool(first) and first[0][0] == b"1-0"


def _shown(replies: Sequence[Any], members: Sequence[bytes]) -> dict[str, Any]:
    """A game as a version has it, by names of fields that can be told."""
    table, scores, seats = pairs(replies[0]), replies[1 : 1 + len(STATUSES)], replies[1 + len(STATUSES) :]
    shown: dict[str, Any] = {}
    if table:
        try:
            summary = msgspec.json.decode(table.get(b"summary", b""), type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            summary = {"summary": "it cannot be read"}
        shown = summary | {
            f"kept {name.decode(errors='replace')}": value.decode(errors="replace")
            for name, value in table.items()
            if name != b"summary"
        }
    listed = {
        status: int(float(score)) for status, score in zip(STATUSES, scores, strict=True) if score is not None
    }
    of_players = [
        member.decode(errors="replace")
        for member, score in zip(members, seats, strict=True)
        if score is not None
    ]
    if listed:
        shown["listed"] = listed
    if of_players:
        shown["listed for"] = of_players
    return shown


def _seq(shown: Mapping[str, Any]) -> int:
    kept = shown.get("kept seq", "0")
    return int(kept) if kept.isdecimal() else 0
