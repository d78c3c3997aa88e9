"""The keys of a store held to the house's own table of keys, and the lists of games to the games that there are.

The audit of a game finds what is wrong with its own keys and where it is missing in a list. What nobody would look for
is found here: keys that no program of this house writes, or of a game that there is not, or in a wrong partition, and
games in lists where they do not belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
import redis

from services.key_types import template_of, type_of
from services.keys import EVERY_PATTERN, STREAMS_PATTERN, Keys, version_of
from services.summaries import STATUSES
from services.versions import GAMES, Versions
from services.wire import StoreError, Wire

PAGE: Final = 1000
"""Keys, or members of a list, that are looked at at a time."""
MOST_TOLD: Final = 200
"""Problems that are told; of further ones how many."""
_OF_GAMES: Final = ("stream", "table", "snapshot", "idempotency")


class KeysReport(msgspec.Struct, frozen=True):
    """What was found of the keys of a store."""

    ok: bool
    keys: int
    problems: tuple[str, ...]


class _Key(NamedTuple):
    text: str
    type: str
    wanted: str | None
    """The type that it should have; none where it is no key of ours."""


class KeysCheck:
    """Looks at every key of a store. Raises `StoreUnavailable`."""

    def __init__(self, wire: Wire, keys: Keys) -> None:
        self._wire, self._keys = wire, keys
        self._partitions = {
            spell(p): p
            for p in range(keys.partitions)
            for spell in (
                keys.feed,
                keys.due,
                keys.parked,
                keys.finished,
                keys.seats,
                keys.inbox,
                keys.written,
            )
        } | {keys.lobby(p, status): p for p in range(keys.partitions) for status in STATUSES}
        self._count = 0
        self._read = 0
        """The version of the lists that is read."""

    def run(self) -> KeysReport:
        """Everything that is wrong."""
        problems: list[str] = []
        more = 0
        self._read = Versions(self._wire, self._keys, GAMES).live()
        for problem in self._problems():
            if len(problems) < MOST_TOLD:
                problems.append(problem)
            else:
                more += 1
        if more:
            problems.append(f"and {more} more")
        return KeysReport(not problems, self._count, tuple(problems))

    def _problems(self) -> Iterator[str]:
        for page in self._wire.scan(EVERY_PATTERN, PAGE):
            yield from self._of_page(page)
        for p in range(self._keys.partitions):
            yield from self._of_lists(p)

    def _of_page(self, found: Sequence[bytes]) -> Iterator[str]:
        kinds = self._wire.pipeline([("TYPE", key) for key in found])
        self._count += len(found)
        owned: list[tuple[str, str]] = []
        for raw, kind in zip(found, kinds, strict=True):
            if kind == b"none":  # it has expired meanwhile
                continue
            key = _Key(raw.decode(errors="backslashreplace"), kind.decode(), _type_of(raw))
            if key.wanted is None:
                yield f"there is a key {key.text:.200}, which nobody of this house writes"
            elif key.type != key.wanted:
                yield f"the key {key.text:.200} holds a {key.type}, and should hold a {key.wanted}"
            elif (wrong := self._misplaced(key.text)) is not None:
                yield wrong
            elif (game := _game_of(key.text)) is not None:
                owned.append((key.text, game))
        yield from self._without_stream(owned)

    def _misplaced(self, key: str) -> str | None:
        """Why a key cannot be where it is."""
        plain, version = version_of(key)
        found = template_of(plain)
        if found is None or "pNN" not in found[0].key:
            return None
        name, parts = found[0].name, found[1]
        if name in _OF_GAMES or name == "desk":
            which = (version,) if version else ()
            right = getattr(self._keys, name)(parts.get("game") or parts["player"], *which)
            if right == key:
                return None
            return f"the key {key:.200} is in a wrong partition: the house looks at {right:.200}"
        return (
            None if plain in self._partitions else f"the key {key:.200} is of no partition, or of no status"
        )

    def _without_stream(self, owned: Sequence[tuple[str, str]]) -> Iterator[str]:
        there = self._wire.pipeline([("EXISTS", self._keys.stream(game)) for _, game in owned])
        for (key, game), exists in zip(owned, there, strict=True):
            # of one that expires by itself, as an idempotency key does, nothing is owed
            if not exists and key not in (self._keys.stream(game), self._keys.idempotency(game)):
                yield f"there is a key {key:.200}, and no game {game:.60}"

    # --- lists

    def _of_lists(self, partition: int) -> Iterator[str]:
        keys = self._keys
        plain = [
            *(keys.lobby(partition, status, self._read) for status in STATUSES),
            keys.due(partition),
            keys.finished(partition),
        ]
        for key in plain:
            for page in self._members(key):
                yield from self._strangers(key, partition, [(one, one) for one in page])
        seats = keys.seats(partition, self._read)
        for page in self._members(seats):
            yield from self._strangers(seats, partition, [(one, one.rpartition(":")[2]) for one in page])
            yield from self._not_at_table(seats, page)

    def _members(self, key: str) -> Iterator[list[str]]:
        """The members of a sorted set, some at a time; none of what is no such set, which is told of its key."""
        cursor = b"0"
        while True:
            try:
                cursor, flat = self._wire.call("ZSCAN", key, cursor, "COUNT", PAGE)
            except redis.ResponseError:
                return
            yield [one.decode(errors="backslashreplace") for one in flat[::2]]
            if cursor == b"0":
                return

    def _strangers(self, key: str, partition: int, members: Sequence[tuple[str, str]]) -> Iterator[str]:
        there = self._wire.pipeline([("EXISTS", self._keys.stream(game)) for _, game in members])
        for (member, game), exists in zip(members, there, strict=True):
            if not exists:
                yield f"{key} lists {member:.200}, and there is no such game"
            elif self._keys.partition(game) != partition:
                yield f"{key} lists {member:.200}, which belongs to another partition"

    def _not_at_table(self, key: str, page: Sequence[str]) -> Iterator[str]:
        """Entries of players that have no seat in the game, by what the lists are changed by."""
        wrong = self._without_seat(key, page)
        # somebody may just have stood up
        for member in self._without_seat(key, wrong):
            yield f"{key} lists {member:.200}, and that player is not at the table"

    def _without_seat(self, key: str, members: Sequence[str]) -> list[str]:
        asked: list[tuple[str, ...]] = []
        for one in members:
            table = self._keys.table(one.rpartition(":")[2], self._read)
            asked += [("HGET", table, "players"), ("ZSCORE", key, one)]
        replies = self._wire.pipeline(asked)
        found = []
        for one, players, score in zip(members, replies[::2], replies[1::2], strict=True):
            at_table = players is None or one.split(":")[0] in players.decode(errors="replace").split()
            if score is not None and not (at_table and one.count(":") == 2):
                found.append(one)
        return found


def require_marks(wire: Wire) -> None:
    """See that a store that has games says into how many partitions it is divided and by which key they are proved.

    Raises `StoreError`: whoever begins to work with it would write these anew, and nobody would see that they were gone.
    """
    marks = (Keys.partitions_key, Keys.server_key)
    there = wire.pipeline([("EXISTS", key) for key in marks])
    gone = [key for key, exists in zip(marks, there, strict=True) if not exists]
    if gone and any(wire.scan(STREAMS_PATTERN, PAGE)):
        raise StoreError(
            f"the store has games, and {' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone from it; "
            "`hearts up` writes what is missing anew, by the settings and the key file"
        )


def _type_of(raw: bytes) -> str | None:
    try:
        return type_of(raw.decode())
    except UnicodeDecodeError:
        return None


def _game_of(key: str) -> str | None:
    """The game that a key is of, where it is of one."""
    found = template_of(version_of(key)[0])
    return found[1]["game"] if found is not None and found[0].name in _OF_GAMES else None
