"""The scripts that Redis runs for a call: one counts it, one looks its answer up.

Limits are counted by the clock of Redis, with the two algorithms of the store in memory.
"""

from mcp_core.state.interface import MAX_EXACT_CALLS

HIT = f"""
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

return hit(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]))
"""
"""KEYS: the log of calls. ARGV: the limit, and its window in microseconds. Returns the microseconds to wait."""

LOOKUP = """
local generation = ''
if #KEYS > 1 then
  local generations = redis.call('MGET', unpack(KEYS, 2))
  for i = 1, #generations do
    if not generations[i] then -- never invalidated, or lost: a new one, so that none ever comes back
      generations[i] = ARGV[1]
      redis.call('SET', KEYS[i + 1], ARGV[1])
    end
  end
  generation = table.concat(generations, '.')
end
local entry = redis.call('GET', KEYS[1])
local start = generation .. '\\n'
if entry and string.sub(entry, 1, #start) == start then return {generation, entry} end
return {generation}
"""
"""KEYS: the answer, and the generation of each tag. ARGV: a new generation. Returns the generation, and the entry."""
