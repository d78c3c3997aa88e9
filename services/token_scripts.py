"""The scripts of players and their tokens: each is one atomic step at the server. `services.tokens` runs them."""

from __future__ import annotations

from typing import Final

from services.wire import Script

CHANGE: Final = Script("""
-- KEYS[1] a player's tokens
-- ARGV[1] field of the idempotency key, or empty   ARGV[2] what is kept under it
-- ARGV[3] id of the token that asks, or empty   ARGV[4] its record as it was read
-- ARGV[5] how many tokens the player may have before, or empty where none is added
-- ARGV[6] and on: id and record of each token that is made or changed
-- Returns what was kept under the key before; -1 where the asking token is not as it was read; 0 where there are too
-- many tokens; 1 where it is done.
if ARGV[1] ~= '' then
  local kept = redis.call('HGET', KEYS[1], ARGV[1])
  if kept then return kept end
end
if ARGV[3] ~= '' and redis.call('HGET', KEYS[1], ARGV[3]) ~= ARGV[4] then return -1 end
if ARGV[5] ~= '' then
  local count = 0
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 1) == 't' then count = count + 1 end
  end
  if count >= tonumber(ARGV[5]) then return 0 end
end
redis.call('HSET', KEYS[1], unpack(ARGV, 6))
if ARGV[1] ~= '' then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
""")
FULL: Final = 0
DONE: Final = 1

TAKE: Final = Script("""
-- KEYS[1] a hash
-- Returns all that it holds, and drops it.
local all = redis.call('HGETALL', KEYS[1])
redis.call('DEL', KEYS[1])
return all
""")

SET_IF_THERE: Final = Script("""
-- KEYS[1] a hash   ARGV[1] a field that must be there   ARGV[2], ARGV[3] the field to be set, and its value
-- Returns whether it was there.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
""")
