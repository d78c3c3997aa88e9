"""Versions of the read models: which one is read, which are written, and the one step from one to the next.

Each projection that `hearts rebuild` makes anew has its keys once for each version. Readers ask which version is read
and keep to it for the whole of a request; the switch is one write, and the old version is kept for `RETIRED_MS` after
it, for who is just reading there. Which versions are written stands in each partition, where the script that writes
looks: so a projector that does not know yet of a new version, or that an old one is gone, writes nothing and asks.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from services.keys import Keys
from services.scripts import HOLD, RELEASE
from services.wire import Call, Script, StoreError, Wire

GAMES: Final = "games"
"""The tables as they are listed: summaries, the lobby by status, the games of each player."""
DESKS: Final = "desks"
"""Each player's games and how they stand for it."""
RETIRED_MS: Final = 60_000
"""For how long a version that is no longer read is kept, for who is just reading it."""
LEASE_MS: Final = 30_000
"""After so long without a word of the one rebuild that works, another may begin anew."""
MOVED: Final = -1
"""What a script that writes a projection returns where others are the versions to be written."""

BEGIN: Final = Script("""
-- KEYS[1] versions   ARGV[1] projection
-- Returns the version that is read, and that of a new one, which is being made from now on; one that was is given up.
local new = redis.call('HINCRBY', KEYS[1], ARGV[1] .. ':last', 1)
redis.call('HSET', KEYS[1], ARGV[1] .. ':next', new)
return {tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0), new}
""")

END: Final = Script("""
-- KEYS[1] versions   ARGV[1] projection   ARGV[2] the version that was being made   ARGV[3] '1' to have it read
-- Returns 1; 0, and nothing is changed, where another is being made, or none.
if redis.call('HGET', KEYS[1], ARGV[1] .. ':next') ~= ARGV[2] then
  return 0
end
redis.call('HDEL', KEYS[1], ARGV[1] .. ':next')
if ARGV[3] == '1' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return 1
""")

WRITTEN: Final = Script("""
-- KEYS[1] versions that are written in a partition   ARGV[1] projection   ARGV[2] those to be, between spaces
-- ARGV[3] the highest that the asker knows of
-- Returns 1; 0, and nothing is changed, where a higher one is written: a later rebuild has begun.
for one in string.gmatch(redis.call('HGET', KEYS[1], ARGV[1]) or '0', '%d+') do
  if tonumber(one) > tonumber(ARGV[3]) then
    return 0
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
""")

Fence = tuple[int, ...]
"""The versions that are written in a partition, the one that is read first."""


class Superseded(StoreError):
    """Another rebuild of the projection has begun, or this one was given up; it has changed nothing that is read."""


class Versions:
    """The versions of one projection of a store. Every method raises `StoreUnavailable`."""

    def __init__(self, wire: Wire, keys: Keys, projection: str) -> None:
        self._wire, self._keys, self.projection = wire, keys, projection
        self._known: dict[int, Fence] = {}

    # --- readers and writers

    def live(self) -> int:
        """The version that is read. Who asks keeps to it for one request, and no longer."""
        return int(self._wire.call("HGET", self._keys.versions, self.projection) or 0)

    def fences(self, partitions: Iterable[int]) -> dict[int, Fence]:
        """The versions that are written in each partition now."""
        asked = sorted(set(partitions))
        replies = self._wire.pipeline([("HGET", self._keys.written(p), self.projection) for p in asked])
        self._known |= {p: _read_fence(reply) for p, reply in zip(asked, replies, strict=True)}
        return {p: self._known[p] for p in asked}

    def run_each(self, script: Script, calls: Sequence[tuple[int, Callable[[Fence], Call]]]) -> list[int]:
        """The replies of a script that writes in partitions all the versions that are to be written there.

        Each call is made for the versions that are known; where the script says that they are others (`MOVED`) it
        has done nothing, and is called for those.
        """
        replies = dict.fromkeys(range(len(calls)), MOVED)
        while left := [at for at, reply in replies.items() if reply == MOVED]:
            wanted = [calls[at][1](self._known.get(calls[at][0], (0,))) for at in left]
            replies |= dict(zip(left, self._wire.run_each(script, wanted), strict=True))
            self.fences(calls[at][0] for at in left if replies[at] == MOVED)
        return [*replies.values()]

    def state(self) -> tuple[int, int]:
        """The version that is read, and the one that is being made, 0 where there is none."""
        name = self.projection
        live, making = self._wire.call("HMGET", self._keys.versions, name, f"{name}:next")
        return int(live or 0), int(making or 0)


def is_held(wire: Wire, keys: Keys, projection: str) -> bool:
    """Whether a rebuild of a projection is at work; raises `StoreUnavailable`."""
    return bool(wire.call("EXISTS", keys.rebuild_lease(projection)))


class Lease:
    """The lease of the one rebuild of a projection. Raises `Superseded` where another has it, `StoreUnavailable`."""

    def __init__(self, wire: Wire, keys: Keys, projection: str) -> None:
        self._wire, self._projection = wire, projection
        self._key = keys.rebuild_lease(projection)
        self._name = secrets.token_hex(8)
        self.hold()

    def hold(self) -> None:
        """Take it, or keep it."""
        if not self._wire.run(HOLD, (self._key,), (self._name, LEASE_MS)):
            raise Superseded(f"another rebuild of the {self._projection} is at work")

    def release(self) -> None:
        """Let another rebuild begin."""
        self._wire.run(RELEASE, (self._key,), (self._name,))


class Making:
    """A version of a projection that is being made.

    Methods raise `Superseded` where another rebuild has taken its place, `StoreUnavailable`.
    """

    def __init__(self, wire: Wire, keys: Keys, projection: str) -> None:
        self._wire, self._keys, self._projection = wire, keys, projection
        self.lease = Lease(wire, keys, projection)
        self.live, self.version = wire.run(BEGIN, (keys.versions,), (projection,))
        self.ended = False
        """Whether it is read, or given up."""

    @property
    def fence(self) -> Fence:
        """The versions that are written while this one is made."""
        return (self.live, self.version)

    def open(self) -> None:
        """Have the version written by the projectors as well, from now on."""
        self._write(self.fence)

    def switch(self) -> None:
        """Have it read from now on, in one step; and then the old one written no longer."""
        self._end(switch=True)
        self._write((self.version,))

    def give_up(self) -> None:
        """Have it written no longer."""
        self._end(switch=False)
        self._write((self.live,))

    def _end(self, *, switch: bool) -> None:
        self.lease.hold()
        args = (self._projection, self.version, int(switch))
        if not self._wire.run(END, (self._keys.versions,), args):
            raise Superseded(f"another rebuild of the {self._projection} has begun")
        self.ended = True

    def _write(self, fence: Fence) -> None:
        args = (self._projection, spell_fence(fence), self.version)
        calls = [((self._keys.written(p),), args) for p in range(self._keys.partitions)]
        if not all(self._wire.run_each(WRITTEN, calls)):
            raise Superseded(f"another rebuild of the {self._projection} has begun")


def spell_fence(fence: Fence) -> str:
    """The versions as a script compares them with those that stand in a partition."""
    return " ".join(map(str, fence))


def _read_fence(reply: bytes | None) -> Fence:
    return tuple(int(one) for one in (reply or b"0").split())
