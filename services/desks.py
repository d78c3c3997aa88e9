"""Desks: of each player the games that it plays, and one stream of what happens in all of them.

A desk says of each game how far the inbox has told of it and whether it waits for the player. Both are written by the
projector in one step, so that each event of a game is told once, however often the log's pointers are delivered; they
lie in the player's partition, and the game's own may be another. They hold what everybody may know, and of a seat that
is kept for a player that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from domain.game import to_act
from domain.refusals import Malformed
from domain.state import INVITED, State
from services.cluster import Client, wire_of
from services.keys import Keys
from services.versions import DESKS, MOVED, Fence, Superseded, Versions, spell_fence
from services.wire import Call, Script

KEPT: Final = 20_000
"""Entries that an inbox keeps at least; who comes back later is told anew where its games stand."""
AT_ONCE: Final = 200
"""Pieces of news that a rebuild writes by one call of the script."""
_PAGE: Final = 1_000
_TURN: Final = "t"
_DONE: Final = "d"
_MOST_DIGITS: Final = 16

WRITE: Final = Script("""
-- All keys are of one partition.
-- KEYS[1] inbox   KEYS[2] versions written here   KEYS[3] and on: for each piece of news a desk of each version
-- ARGV[1] now, Unix ms   ARGV[2] entries that the inbox keeps   ARGV[3] the versions that are written here, as the caller
-- knows it   ARGV[4] how many of them these desks are of   ARGV[5] '1' where the first of those tells the inbox; then for
-- each piece of news: player, game, its last seq, mark ('t' the game waits for the player, 'd' it is done with, '' neither)
-- Returns how many pieces were news to the first version; -1, and nothing is done, where other versions are written here.
if (redis.call('HGET', KEYS[2], 'desks') or '0') ~= ARGV[3] then
  return -1
end
local now, versions, tells, told, place = tonumber(ARGV[1]), tonumber(ARGV[4]), ARGV[5] == '1', 0, 3
for i = 6, #ARGV, 4 do
  local game, seq = ARGV[i + 1], tonumber(ARGV[i + 2])
  for v = 1, versions do
    local desk = KEYS[place]
    local known = redis.call('HGET', desk, game)
    local last = known and tonumber(string.match(known, '^%d+')) or 0
    if last < seq then
      if v == 1 then
        told = told + 1
        if tells then
          redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*',
            'p', ARGV[i], 'g', game, 'a', string.format('%d', last), 'n', ARGV[i + 2])
        end
      end
      redis.call('HSET', desk, game, ARGV[i + 2] .. ':' .. ARGV[i + 3] .. ':' .. ARGV[1])
      -- what is done with stays for an hour, in case a pointer comes once more; each time a few are looked at
      if ARGV[i + 3] == 'd' then
        local some = redis.call('HRANDFIELD', desk, 16, 'WITHVALUES')
        for j = 1, #some, 2 do
          local since = string.match(some[j + 1], ':d:(%d+)$')
          if since and tonumber(since) < now - 3600000 then
            redis.call('HDEL', desk, some[j])
          end
        end
      end
    end
    place = place + 1
  end
end
return told
""")

READ: Final = Script("""
-- KEYS[1] inbox   KEYS[2] desk
-- Returns the id of the inbox's last entry, '0-0' where it has had none, and the desk, in one step.
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
return {last[1] and last[1][1] or '0-0', redis.call('HGETALL', KEYS[2])}
""")


class News(NamedTuple):
    """What a player is to be told: that a game has come to event ``seq``, and how that game stands for it."""

    player: str
    game: str
    seq: int
    turn: bool
    done: bool
    """Whether the player has nothing to do with the game any more: it is over, or the seat was given up."""


class Entry(NamedTuple):
    """A piece of news in the inbox: of ``game``, the events behind ``after`` up to ``upto``."""

    id: bytes
    player: str
    game: str
    after: int
    upto: int


class Place(NamedTuple):
    """How a game stands on a player's desk."""

    seq: int
    turn: bool
    done: bool


class Cursor(NamedTuple):
    """How far a player has read: all entries up to ``id``, of that one the events up to ``seq``; 0 means all."""

    id: bytes
    seq: int = 0

    def __str__(self) -> str:
        return f"{self.id.decode()}.{self.seq}" if self.seq else self.id.decode()


def read_cursor(text: str) -> Cursor:
    """The cursor that a reader was given. Raises `Malformed` for what is none."""
    place, dot, seq = text.partition(".")
    parts = place.split("-")
    numbers = [*parts, seq] if dot else parts
    if len(parts) != 2 or not all(_is_number(one) for one in numbers):
        raise Malformed(f"{text!r:.60} is no cursor of these events")
    return Cursor(place.encode(), int(seq) if dot else 0)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def players_at(state: State) -> set[str]:
    """The ids of those who play at a table, or have a seat kept for them while seats are taken."""
    found = {one.player for one in state.seats if one.kind == "player"}
    if state.phase == "seats":
        found |= {
            one.reserved for one in state.seats if one.kind == "open" and one.reserved not in ("", INVITED)
        }
    return found


def waits_for(state: State) -> tuple[str, ...]:
    """The ids of the players whose turn it is, clockwise."""
    waiting = (state.seats[seat] for seat in to_act(state))
    return tuple(one.player for one in waiting if one.kind == "player" and not one.house_plays)


def news_of(game: str, state: State, seq: int, before: State | None) -> list[News]:
    """What the players of a game are to be told when it has come to event ``seq``; ``before`` is an earlier state."""
    here, over = players_at(state), state.phase == "over"
    gone = set() if before is None else players_at(before) - here
    turns = waits_for(state)
    return [
        News(player, game, seq, player in turns, over or player in gone) for player in sorted(here | gone)
    ]


class Desks:
    """The desks of all players. Every method raises `StoreUnavailable` when the server does not answer."""

    def __init__(self, client: Client, keys: Keys) -> None:
        self._wire = wire_of(client)
        self._keys = keys
        self.versions = Versions(self._wire, keys, DESKS)

    def write(self, news: Iterable[News], now: int) -> None:
        """Put news on desks and into inboxes; what stands there already is left alone."""
        shelves = self._shelves(news)
        self.versions.run_each(
            WRITE,
            [(partition, partial(self._call, partition, shelves[partition], now)) for partition in shelves],
        )

    def write_version(self, news: Iterable[News], now: int, fence: Fence, *, tell: bool = False) -> None:
        """Put news on the desks of one version alone: the last one of ``fence``, or to ``tell`` the inboxes the first.

        Raises `Superseded` where other versions are written by now.
        """
        into = fence[:1] if tell else fence[-1:]
        calls = [
            self._call(partition, shelf[start : start + AT_ONCE], now, fence, into, tell=tell)
            for partition, shelf in self._shelves(news).items()
            for start in range(0, len(shelf), AT_ONCE)
        ]
        if MOVED in self._wire.run_each(WRITE, calls):
            raise Superseded("another rebuild of the desks has begun")

    def _shelves(self, news: Iterable[News]) -> dict[int, list[News]]:
        shelves: dict[int, list[News]] = {}
        for one in news:
            shelves.setdefault(self._keys.partition(one.player), []).append(one)
        return shelves

    def _call(
        self,
        partition: int,
        shelf: Sequence[News],
        now: int,
        fence: Fence,
        into: Fence | None = None,
        *,
        tell: bool = True,
    ) -> Call:
        versions = fence if into is None else into
        keys = [self._keys.inbox(partition), self._keys.written(partition)]
        keys += [self._keys.desk(one.player, version) for one in shelf for version in versions]
        args: list[Any] = [now, KEPT, spell_fence(fence), len(versions), int(tell)]
        for one in shelf:
            args += (one.player, one.game, one.seq, _DONE if one.done else _TURN if one.turn else "")
        return keys, args

    def read(self, player: str) -> tuple[Cursor, dict[str, Place]]:
        """The desk of a player, and the cursor behind all that has led to it."""
        desk = self._keys.desk(player, self.versions.live())
        keys = (self._keys.inbox(self._keys.partition(player)), desk)
        last, flat = self._wire.run(READ, keys, ())
        return Cursor(last), {
            game.decode(): _read_place(value) for game, value in zip(flat[::2], flat[1::2], strict=True)
        }

    def places(self, game: str, players: Sequence[str]) -> dict[str, Place | None]:
        """How a game stands on the desks of some players, of those that have it; none where that cannot be read."""
        version = self.versions.live()
        replies = self._wire.pipeline(
            [("HGET", self._keys.desk(player, version), game) for player in players]
        )
        return {
            player: place_or_none(reply)
            for player, reply in zip(players, replies, strict=True)
            if reply is not None
        }

    def behind(self, player: str, cursor: Cursor, most: int = _PAGE) -> tuple[list[Entry], Cursor] | None:
        """News of a player behind a cursor, oldest first, at least one where there is any, and the cursor behind them.

        None where the inbox no longer reaches so far back, or has not come so far: then it is another store's cursor.
        """
        stream = self._keys.inbox(self._keys.partition(player))
        found: list[Entry] = []
        start = cursor.id if cursor.seq else b"(" + cursor.id
        while not found:
            page, length, oldest, last = self._wire.pipeline(
                [
                    ("XRANGE", stream, start, "+", "COUNT", most),
                    ("XLEN", stream),
                    ("XRANGE", stream, "-", "+", "COUNT", 1),
                    ("XREVRANGE", stream, "+", "-", "COUNT", 1),
                ]
            )
            if as_number(cursor.id) > (as_number(last[0][0]) if last else (0, 0)):
                return None
            if length >= KEPT and as_number(cursor.id) < as_number(oldest[0][0]):
                return None
            if not page:
                break
            found = [one for one in read_entries(page) if one.player == player]
            if page[-1][0] != cursor.id:
                cursor = Cursor(page[-1][0])
            start = b"(" + cursor.id
        return found, cursor


def as_number(entry: bytes) -> tuple[int, int]:
    """The id of an entry in a form that compares."""
    ms, _, number = entry.partition(b"-")
    return int(ms), int(number)


def read_entries(raw: Sequence[Any]) -> list[Entry]:
    """The news of raw inbox entries."""
    return [
        Entry(entry, fields[1].decode(), fields[3].decode(), int(fields[5]), int(fields[7]))
        for entry, fields in raw
        if fields
    ]


def _read_place(value: bytes) -> Place:
    seq, mark, _ = value.decode().split(":")
    return Place(int(seq), mark == _TURN, mark == _DONE)


def place_or_none(value: bytes) -> Place | None:
    """How a game stands on a desk; none where that cannot be read."""
    try:
        return _read_place(value)
    except ValueError:
        return None
