"""The script that Redis runs for a call: the rate limit and the cached answer in one round trip.

Limits are counted by the clock of Redis, with the two algorithms of the store in memory.
"""

from mcp_core.state.interface import MAX_EXACT_CALLS

LOOK_UP = f"""
local function hit(key, max, window)
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  if max > {MAX_EXACT_CALLS} then
    local index, passed = math.floor(now / window), (now % window) / window
    local seen = redis.call('HMGET', key, 'index', 'current', 'previous')
    local current, previous = tonumber(seen[2] or 0), tonumber(seen[3] or 0)
    local seen_index = tonumber(seen[1] or index)
    if seen_index ~= index then
      previous = seen_index == index - 1 and current or 0
      current = 0
    end
    if previous * (1 - passed) + current + 1 > max then
      local share
      if current + 1 <= max and previous > 0 then
        share = 1 - (max - 1 - current) / previous - passed
      else
        share = 1 - passed + math.max(0, 1 - (max - 1) / current)
      end
      return math.max(1, math.ceil(share * window))
    end
    redis.call('HSET', key, 'index', string.format('%.0f', index), 'current', current + 1, 'previous', previous)
    redis.call('PEXPIRE', key, math.ceil(2 * window / 1000))
    return 0
  end
  local length = redis.call('LLEN', key)
  if length > 0 and redis.call('LINDEX', key, -1) - now > window then
    redis.call('DEL', key) -- the clock of Redis was set back
    length = 0
  end
  if length >= max then
    if length > max then redis.call('LTRIM', key, -max, -1) end -- the limit was lowered
    local wait = redis.call('LINDEX', key, 0) + window - now
    if wait > 0 then return wait end
    redis.call('LPOP', key)
  end
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(window / 1000))
  return 0
end

local max = tonumber(ARGV[1])
if max > 0 then
  local wait = hit(KEYS[1], max, tonumber(ARGV[2]))
  if wait > 0 then return {{wait}} end
end
if ARGV[3] == '' then return {{0}} end

local generation = ''
if #KEYS > 2 then
  local generations = redis.call('MGET', unpack(KEYS, 3))
  for i = 1, #generations do
    if not generations[i] then -- never forgotten, or lost: a new one, so that none ever comes back
      generations[i] = ARGV[3]
      redis.call('SET', KEYS[i + 2], ARGV[3])
    end
  end
  generation = table.concat(generations, '.')
end
local entry = redis.call('GET', KEYS[2])
local start = generation .. '\\n'
if entry and string.sub(entry, 1, #start) == start then return {{0, generation, entry}} end
return {{0, generation}}
"""
"""KEYS: the log of calls, the answer, and the generation of each tag. ARGV: the limit (0 for none), its window in
microseconds, and a new generation (empty where no answer is looked up). Returns the microseconds to wait, the
generation, and the entry."""
