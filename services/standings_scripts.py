"""The scripts of the standings: each is one atomic step at the server. `services.standings_fold` runs them."""

from __future__ import annotations

from typing import Final

from services.wire import Script

ENTER: Final = Script("""
-- KEYS[1] games that are known   KEYS[2] stream of finished games   ARGV in pairs: id of a game, what is known of it
-- Returns how many were not known before and have been entered, in this order.
redis.call('XLEN', KEYS[2])  -- which fails, before anything is written, where it is no stream
local entered = 0
for i = 1, #ARGV, 2 do
  if redis.call('SADD', KEYS[1], ARGV[i]) == 1 then
    redis.call('XADD', KEYS[2], '*', 'f', ARGV[i + 1])
    entered = entered + 1
  end
end
return entered
""")

FOLD: Final = Script("""
-- KEYS[1] state   KEYS[2] players of the fold   KEYS[3] and on: its boards
-- ARGV[1] field of its place in the stream   ARGV[2] place it is moved from, '' at the start   ARGV[3] and to
-- ARGV[4] how many players, then for each: id, standing; and behind them for each line: number of its board, score, id
-- Returns 1; 0, and nothing is changed, where the fold is not at the place that it is to be moved from.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then
  return 0
end
local players = tonumber(ARGV[4])
for i = 5, 3 + 2 * players, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
for i = 5 + 2 * players, #ARGV, 3 do
  redis.call('ZADD', KEYS[2 + tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
""")

BEGIN: Final = Script("""
-- KEYS[1] state   ARGV[1] version of a new fold   ARGV[2] '1' to make one though there is one of this version, 'h' to make
-- one in any case, which is held: it is read only when who holds it says so
-- Begins a fold where there is none, where the newest one is of a lower version, or where it is asked for and none is
-- being made already.
-- Returns the number of the newest fold, and of one that was being made and is given up, else 0.
local live = tonumber(redis.call('HGET', KEYS[1], 'live') or 0)
local making = tonumber(redis.call('HGET', KEYS[1], 'next') or 0)
local newest = math.max(live, making)
local version = tonumber(redis.call('HGET', KEYS[1], 'v:' .. newest) or 0)
if version >= tonumber(ARGV[1]) and ARGV[2] ~= 'h' and (ARGV[2] ~= '1' or making > 0) then
  return {newest, 0}
end
redis.call('HDEL', KEYS[1], 'held')
if ARGV[2] == 'h' and live > 0 then
  redis.call('HSET', KEYS[1], 'held', newest + 1)
end
redis.call('HDEL', KEYS[1], 'v:' .. making, 'at:' .. making)
redis.call('HSET', KEYS[1], live == 0 and 'live' or 'next', newest + 1, 'v:' .. (newest + 1), ARGV[1])
return {newest + 1, making}
""")

SWITCH: Final = Script("""
-- KEYS[1] state   ARGV[1] the fold that readers shall read from now on
-- Returns the fold that they have read until now, 0 where another is being made and nothing was changed.
if redis.call('HGET', KEYS[1], 'next') ~= ARGV[1] then
  return 0
end
local old = redis.call('HGET', KEYS[1], 'live')
redis.call('HSET', KEYS[1], 'live', ARGV[1])
redis.call('HDEL', KEYS[1], 'next', 'held', 'v:' .. old, 'at:' .. old)
return tonumber(old)
""")

GIVE_UP: Final = Script("""
-- KEYS[1] state   ARGV[1] the fold that is being made, and is not to be read
-- Returns 1; 0, and nothing is changed, where another is being made.
if redis.call('HGET', KEYS[1], 'next') ~= ARGV[1] then
  return 0
end
return redis.call('HDEL', KEYS[1], 'next', 'held', 'v:' .. ARGV[1], 'at:' .. ARGV[1]) > 0 and 1 or 0
""")
