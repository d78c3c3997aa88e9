"""What the rebuilds of all projections have in common: pieces of work, what comes of them, and how differences are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import redis

from services.desks import News
from services.standings_fold import Finished
from services.versions import Fence
from services.wire import Call, Script, Wire
from services.wiring import Services

MOST_KEPT: Final = 1_000
"""Differences that are kept of one piece of work; of further ones how many."""

AT_ONCE: Final = 200
"""Items that are asked for together."""

Piece = tuple[int, Sequence[str]]
"""Items of one partition."""

LOOK: Final = Script("""
-- KEYS: the key of each command   ARGV: for each command how many words follow its key, its name, and those words
-- Returns the replies to these commands, which only read; nil for one that cannot be carried out.
local replies, at = {}, 1
for i, key in ipairs(KEYS) do
  local count = tonumber(ARGV[at])
  local reply = redis.pcall(ARGV[at + 1], key, unpack(ARGV, at + 2, at + 1 + count))
  if type(reply) == 'table' and reply.err then
    reply = false
  end
  replies[i] = reply
  at = at + 2 + count
end
return replies
""")


class Difference(msgspec.Struct, frozen=True):
    """One field of a projection that is not what the log says."""

    of: str
    """The game, or the player and the game."""
    field: str
    old: Any
    """As it is read until now; none where there is nothing."""
    new: Any
    """As the log says."""


class Folded(msgspec.Struct):
    """What came of the games of one piece of work."""

    games: int
    events: int
    failed: Mapping[str, str]
    """Games that cannot be folded, each with the reason."""
    items: frozenset[str] = frozenset()
    """What is in the new version of them: the games, or their players."""
    finished: tuple[Finished, ...] = ()


class Compared(msgspec.Struct):
    """What was found of one piece of work."""

    count: int = 0
    """Games, or players' games, that differ."""
    differences: list[Difference] = msgspec.field(default_factory=list)
    """Their fields, not more than `MOST_KEPT`."""
    behind: list[str] = msgspec.field(default_factory=list)
    """Items of which nothing is said yet, for the old version has not come as far as the log: perhaps it is about to."""
    tell: list[News] = msgspec.field(default_factory=list)
    """News that no inbox has told."""
    mend: list[str] = msgspec.field(default_factory=list)
    """Games that wait for the archive and should not, or the other way round."""

    def add(self, of: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
        """Keep what differs between the fields of an item. Returns whether anything does."""
        if old and new:
            found = [
                Difference(of, field, old.get(field), new.get(field))
                for field in {**new, **old}
                if old.get(field) != new.get(field)
            ]
        else:
            found = [Difference(of, "all", old or None, new or None)] * bool(old or new)
        self.count += bool(found)
        self.differences += found[: MOST_KEPT - len(self.differences)]
        return bool(found)

    def join(self, other: Compared) -> None:
        """Take what was found of another piece of work in."""
        self.count += other.count
        self.differences += other.differences[: MOST_KEPT - len(self.differences)]
        self.behind += other.behind
        self.tell += other.tell
        self.mend += other.mend


class How(NamedTuple):
    """How two versions are compared."""

    fence: Fence
    """The old one and the new one."""
    failed: frozenset[str] = frozenset()
    """Games that cannot be folded."""
    only: bool = False
    """Whether nothing but the items that are named is looked at; else what stands in the partition's lists as well."""
    final: bool = False
    """Whether what the old version has not come to counts as a difference by now."""


class Kind(Protocol):
    """A projection that has versions, as a rebuild sees it."""

    projection: str
    marks: tuple[str, ...]
    """What the keys of a version begin with, behind the partition's tag and the version; first those of an item each."""

    def fold(self, house: Services, games: Sequence[str], fence: Fence) -> Folded:
        """Fold games into the new version, where they are newer than what is there."""

    def carry(self, house: Services, failed: Mapping[str, str], kept: Sequence[str], fence: Fence) -> None:
        """Take what the old version has of games that cannot be folded over, as it is; ``kept`` are the old one's items."""

    def compare(self, house: Services, piece: Piece, how: How) -> Compared:
        """Hold items of a partition in the old version to the new one."""

    def before_switch(self, house: Services, compared: Compared, fence: Fence) -> None:
        """What is to be done before the new version is read."""

    def after_switch(self, house: Services, compared: Compared, version: int) -> None:
        """What is to be done when it is."""


def slices(items: Iterable[str]) -> Iterator[list[str]]:
    """Items, so many at a time as may be asked for together."""
    items = iter(items)
    while some := list(islice(items, AT_ONCE)):
        yield some


def ask(wire: Wire, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The replies to commands; none to one that asks a key of another type than it should be."""
    try:
        return wire.pipeline(commands)
    except redis.ResponseError:
        return [_ask(wire, command) for command in commands]


def _ask(wire: Wire, command: tuple[Any, ...]) -> Any:
    try:
        return wire.call(*command)
    except redis.ResponseError:
        return None


def ask_at_once(wire: Wire, groups: Sequence[Sequence[tuple[Any, ...]]]) -> list[list[Any]]:
    """The replies to groups of commands that read, each group as one step of the server.

    The second word of a command is its key; all keys of a group are of one partition. None for what `ask` has none for.
    """
    calls: list[Call] = []
    for group in groups:
        args: list[Any] = []
        for name, _, *rest in group:
            args += (len(rest), name, *rest)
        calls.append(([command[1] for command in group], args))
    found: list[list[Any]] = wire.run_each(LOOK, calls)
    return found


def pairs(flat: Sequence[Any] | None) -> dict[bytes, bytes]:
    """The fields of a hash, or the members and scores of a sorted set, as the server gives them."""
    return dict(zip(flat[::2], flat[1::2], strict=True)) if flat else {}
