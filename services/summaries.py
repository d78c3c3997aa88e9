"""Summaries: what is kept of each game in the read models, and the script that writes it with every list that it is in."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from domain.view import view
from services.folded import Table
from services.wire import Script

VERSION: Final = 1
"""Of what a summary holds; one of a lower version is written again though its seq is no older."""
STATUSES: Final = ("open", "playing", "over")


class Update(NamedTuple):
    """A game as it is to be projected."""

    game: str
    seq: int
    summary: dict[str, Any]


WRITE: Final = Script("""
-- All keys are of one partition.
-- KEYS[1] feed   KEYS[2] parked games   KEYS[3] finished games that are not in the archive   KEYS[4] versions written here
-- KEYS[5] and on, for each version: games of players, games that are open, playing, over; and then for each game a table
-- of each version
-- ARGV[1] version of the summaries   ARGV[2] group   ARGV[3] the versions that are written here, as the caller knows it
-- ARGV[4] how many of them these keys are of   ARGV[5] '1' where the first of those is the one that is read
-- ARGV[6] how many feed entries are acknowledged, and then their ids; then for each game: id, seq, summary, its place
-- among open, playing, over (1 to 3), opened at (ms, 13 digits), its players, their ids between spaces, its last event at
-- (ms)
-- Returns how many games were newer here than in the first version and have been written; -1, and nothing is done, where
-- other versions are written here.
if (redis.call('HGET', KEYS[4], 'games') or '0') ~= ARGV[3] then
  return -1
end
local version, versions, live, acks = tonumber(ARGV[1]), tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])

local function move(key, old, new, suffix)
  for player in string.gmatch(old, '%S+') do
    if not string.find(' ' .. new .. ' ', ' ' .. player .. ' ', 1, true) then
      redis.call('ZREM', key, player .. suffix)
    end
  end
  for player in string.gmatch(new, '%S+') do
    if not string.find(' ' .. old .. ' ', ' ' .. player .. ' ', 1, true) then
      redis.call('ZADD', key, 0, player .. suffix)
    end
  end
end

local written, place = 0, 5 + 4 * versions
for i = 7 + acks, #ARGV, 7 do
  local game, seq, summary, status, opened, players, at = unpack(ARGV, i, i + 6)
  for v = 1, versions do
    local seats = 1 + 4 * v
    local old = redis.call('HMGET', KEYS[place], 'v', 'seq', 'status', 'players')
    local known = tonumber(old[1] or 0)
    if known < version or (known == version and tonumber(old[2]) < tonumber(seq)) then
      if old[3] and old[3] ~= status then
        redis.call('ZREM', KEYS[seats + tonumber(old[3])], game)
      end
      redis.call('ZADD', KEYS[seats + tonumber(status)], opened, game)
      move(KEYS[seats], old[4] or '', players, ':' .. opened .. ':' .. game)
      redis.call('HSET', KEYS[place], 'v', version, 'seq', seq, 'summary', summary, 'status', status,
        'players', players)
      if v == 1 then
        written = written + 1
        if live then
          redis.call('HDEL', KEYS[2], game)
          if status == '3' and old[3] ~= '3' then
            redis.call('ZADD', KEYS[3], at, game)
          end
        end
      end
    end
    place = place + 1
  end
end
for i = 7, 6 + acks, 1000 do
  redis.call('XACK', KEYS[1], ARGV[2], unpack(ARGV, i, math.min(i + 999, 6 + acks)))
end
return written
""")


def update(game: str, table: Table, opened: int) -> Update:
    """The projection of a table that was opened at `opened` (ms since 1970 UTC)."""
    return Update(game, table.seq, _summary(game, table, opened))


def _summary(game: str, table: Table, opened: int) -> dict[str, Any]:
    seen = view(table.state, None)
    status = {"seats": "open", "over": "over"}.get(seen.phase, "playing")
    return {
        "id": game,
        "seq": table.seq,
        "status": status,
        "phase": seen.phase,
        "variant": seen.rules.variant,
        "players": seen.rules.players,
        "seats": [
            {
                "seat": one.seat,
                "kind": one.kind,
                "player": one.player or None,
                "bot": None if one.bot is None else one.bot.name,
            }
            for one in seen.seats
        ],
        "created_at": opened,
        "updated_at": table.at,
        "hand_number": seen.hand_number,
        "totals": seen.totals,
        "winners": seen.winners,
        "rated": table.state.rated,
        "target": seen.rules.target,
    }


def index_fields(one: Update) -> dict[str, bytes]:
    """What is kept beside a summary, by name: by this the lists are changed when the game goes on."""
    summary = one.summary
    return {
        "seq": b"%d" % one.seq,
        "status": b"%d" % (STATUSES.index(summary["status"]) + 1),
        "players": " ".join(seat["player"] for seat in summary["seats"] if seat["player"]).encode(),
    }


def arguments(one: Update) -> tuple[Any, ...]:
    """A game as the script wants it."""
    kept = index_fields(one)
    opened = f"{one.summary['created_at']:013}"
    return (
        one.game,
        kept["seq"],
        msgspec.json.encode(one.summary),
        kept["status"],
        opened,
        kept["players"],
        one.summary["updated_at"],
    )
