"""The scripts of the log, which `services.store` runs, and of leases: each is one atomic step at the server."""

from __future__ import annotations

from services.wire import Script

APPEND = Script("""
-- KEYS[1] game stream   KEYS[2] feed   KEYS[3] due set   KEYS[4] answers by idempotency key
-- KEYS[5] snapshot
-- ARGV[1] game   ARGV[2] expected seq   ARGV[3] now, Unix ms   ARGV[4] due, Unix ms, or ''
-- ARGV[5] idempotency field, or ''   ARGV[6] what to keep under it: the second at which it expires, in four bytes, and the answer
-- ARGV[7] snapshot after the events: <last seq>:<bytes>, or ''
-- ARGV[8] '1' where the table is of bots alone, else ''
-- ARGV[9], ARGV[10] public and secret bytes of the first event; then in pairs those of the others
-- Returns {0, last seq}      appended
--         {1, answer}        replayed: the field holds a live answer, whatever the expected seq
--         {2, entries}       missed: the entries after the expected one, at most 1000
--         {3, last seq}      gap: the expected entry is not in the stream
-- Everything that can fail does so before the first write, or as the first write, or what was written before it is taken back.
local expected, now, due, field = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
if not expected or not now or (due ~= '' and not tonumber(due)) or #ARGV < 10 or #ARGV % 2 ~= 0 then
  return redis.error_reply('ERR append: wrong arguments')
end
local function is_live(kept)
  local a, b, c, d = string.byte(kept, 1, 4)
  return (((a * 256 + b) * 256 + c) * 256 + d) * 1000 > now
end
if field ~= '' then
  local kept = redis.call('HGET', KEYS[4], field)
  if kept and is_live(kept) then
    return {1, string.sub(kept, 5)}
  end
end
-- most often the expected event is the last one: it alone is read then
local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if expected > 0 and not (tail and tail[1] == ARGV[2] .. '-0') or expected == 0 and tail then
  local found = redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', 1001)
  if expected > 0 then
    if not found[1] or found[1][1] ~= ARGV[2] .. '-0' then
      return {3, tail and tonumber(string.match(tail[1], '^%d+')) or 0}
    end
    table.remove(found, 1)
  end
  return {2, found}
end
-- a read that would fail if the due set were a key of another type; the stream and the answers have been read already
local was_due = redis.call('ZSCORE', KEYS[3], ARGV[1])

local last = expected + (#ARGV - 8) / 2
local word = string.format('%d', last)
local pointer
if due == '' then
  pointer = redis.call('XADD', KEYS[2], '*', 'g', ARGV[1], 'n', word)
elseif ARGV[8] == '' then
  pointer = redis.call('XADD', KEYS[2], '*', 'g', ARGV[1], 'n', word, 'd', due)
else
  pointer = redis.call('XADD', KEYS[2], '*', 'g', ARGV[1], 'n', word, 'd', due, 'b', '1')
end
for i = 9, #ARGV, 2 do
  expected = expected + 1
  local id, done = string.format('%d-0', expected)
  if ARGV[i + 1] == '' then
    done = redis.pcall('XADD', KEYS[1], id, 'p', ARGV[i])
  else
    done = redis.pcall('XADD', KEYS[1], id, 'p', ARGV[i], 's', ARGV[i + 1])
  end
  -- of a stream whose last entries were deleted the ids cannot be given again: this can be so of the first alone
  if type(done) == 'table' then
    redis.call('XDEL', KEYS[2], pointer)
    return done
  end
end
if due ~= '' then
  redis.call('ZADD', KEYS[3], due, ARGV[1])
elseif was_due then
  redis.call('ZREM', KEYS[3], ARGV[1])
end
if ARGV[7] ~= '' then
  redis.call('SET', KEYS[5], ARGV[7])
end
if field ~= '' then
  redis.call('HSET', KEYS[4], field, ARGV[6])
  redis.call('PEXPIRE', KEYS[4], 86400000)
  -- a game that lasts for days: look at some answers now and then and drop those that have expired
  if last % 16 < (#ARGV - 8) / 2 and redis.call('HLEN', KEYS[4]) > 128 then
    local some = redis.call('HRANDFIELD', KEYS[4], 64, 'WITHVALUES')
    for i = 1, #some, 2 do
      if not is_live(some[i + 1]) then
        redis.call('HDEL', KEYS[4], some[i])
      end
    end
  end
end
return {0, last}
""")

HELD = Script("""
-- KEYS[1] game stream   KEYS[2] answers by idempotency key   ARGV[1] seq of an event
-- Writes, where the stream has got so far, a word that says nothing behind the event, so that whoever waits until
-- replicas have this write knows that they have the event. Returns 1, or 0 where the stream has not got so far.
local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
if not tail[1] or tonumber(string.match(tail[1][1], '^%d+')) < tonumber(ARGV[1]) then
  return 0
end
redis.call('HSET', KEYS[2], 'held', string.char(0, 0, 0, 0))  -- an answer that has expired
if redis.call('PTTL', KEYS[2]) < 0 then
  redis.call('PEXPIRE', KEYS[2], 86400000)
end
return 1
""")

CLAIM = Script("""
-- KEYS[1] due set   ARGV[1] now, Unix ms   ARGV[2] end of the lease, Unix ms   ARGV[3] most games
-- Returns the games that were due, earliest first; each is now due at the end of the lease.
local ripe = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, game in ipairs(ripe) do
  redis.call('ZADD', KEYS[1], ARGV[2], game)
end
return ripe
""")

SETTLE = Script("""
-- KEYS[1] due set   ARGV[1] game   ARGV[2] end of the lease it was claimed with   ARGV[3] due or ''
-- Returns 1 when the lease was still held and is given up, 0 when an append or a claim came between.
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then
  return 0
end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
end
return 1
""")

TRIM = Script("""
-- KEYS[1] game stream   KEYS[2] snapshot   KEYS[3] finished games   ARGV[1] game   ARGV[2] seq of the last event
-- Leaves of a game that is in the archive its last event alone. Returns 1, or 0 where that is another now.
local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
if not tail[1] or tail[1][1] ~= ARGV[2] .. '-0' then
  return 0
end
-- made anew: a stream that is trimmed keeps the memory of what stood in the same block
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('XADD', KEYS[1], tail[1][1], unpack(tail[1][2]))
redis.call('ZREM', KEYS[3], ARGV[1])
-- a new stream has room for a whole block; one that is put back as it was written down has none to spare. Its copy is as good
local packed = redis.pcall('DUMP', KEYS[1])
if type(packed) == 'string' then
  redis.pcall('RESTORE', KEYS[1], 0, packed, 'REPLACE')
end
return 1
""")

RESTORE = Script("""
-- KEYS[1] game stream   KEYS[2] finished games   ARGV[1] game   ARGV[2] seq of the first event that is in the stream
-- ARGV[3] when the game counts as finished, Unix ms   ARGV[4], ARGV[5] public and secret bytes of event 1; then in
-- pairs those of the others, up to the one before ARGV[2]
-- Puts the events of an archived game back. Returns 1, or 0 where the stream begins with another one now.
local there = redis.call('XRANGE', KEYS[1], '-', '+')
if not there[1] or there[1][1] ~= ARGV[2] .. '-0' or #ARGV ~= 3 + 2 * (tonumber(ARGV[2]) - 1) then
  return 0
end
redis.call('DEL', KEYS[1])
for i = 4, #ARGV, 2 do
  local id = string.format('%d-0', (i - 2) / 2)
  if ARGV[i + 1] == '' then
    redis.call('XADD', KEYS[1], id, 'p', ARGV[i])
  else
    redis.call('XADD', KEYS[1], id, 'p', ARGV[i], 's', ARGV[i + 1])
  end
end
for _, entry in ipairs(there) do
  redis.call('XADD', KEYS[1], entry[1], unpack(entry[2]))
end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1
""")

HOLD = Script("""
-- KEYS[1] lease   ARGV[1] who asks   ARGV[2] for how long, ms
-- Returns 1 when the lease is the asker's now, 0 when it is another's.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
""")

RELEASE = Script("""
-- KEYS[1] lease   ARGV[1] who gives it up
-- Returns 1 when it was theirs.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
""")
