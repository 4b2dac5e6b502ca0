-- ARGV: '', max lost workers, seconds to the next announcement, tombstone seconds, seconds the failure stands, failure,
--       max jobs, code of the failure
-- Returns id, queue, id, queue, ... of the jobs to announce again.
-- If the server's clock was set back, what was stored before that is due, and expires, as much earlier.
local clock = prefix .. 'clock'
local before = tonumber(redis.call('GET', clock) or 0)
if before - now > tonumber(ARGV[3]) then
  for _, which in ipairs(redis.call('ZRANGEBYSCORE', due, before, '+inf')) do
    redis.call('ZINCRBY', due, now - before, which)
  end
  local cursor = '0'
  repeat
    local page = redis.call('SCAN', cursor, 'MATCH', prefix .. '*', 'COUNT', 1000)
    cursor = page[1]
    for _, key in ipairs(page[2]) do
      local left = redis.call('PTTL', key) - math.floor((before - now) * 1000)
      if left > 0 then redis.call('PEXPIRE', key, left) end
    end
  until cursor == '0'
end
redis.call('SET', clock, now)
local again = {}
for _, which in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[7])) do
  local key = prefix .. 'job:' .. which
  local found = redis.call('HMGET', key, 'state', 'cancel', 'queue')
  local open = found[1] == 'queued'
  if found[1] == 'running' then
    redis.call('HINCRBY', key, 'token', 1)
    if found[2] == '1' then
      close(which, 'cancelled', ARGV[4])
    elseif redis.call('HINCRBY', key, 'lost', 1) >= tonumber(ARGV[2]) then
      redis.call('HSET', key, 'failure', ARGV[6], 'retry_at', now + tonumber(ARGV[5]))
      close(which, 'failed', ARGV[4], ARGV[8])
    else
      redis.call('HSET', key, 'state', 'queued', 'queued_at', now)
      open = true
    end
  end
  if open then
    local times = math.min(redis.call('HINCRBY', key, 'resends', 1), 10)
    redis.call('ZADD', due, now + tonumber(ARGV[3]) * 2 ^ times, which)
    table.insert(again, which)
    table.insert(again, found[3])
  else
    redis.call('ZREM', due, which)
  end
end
for _, which in ipairs(redis.call('ZRANGE', used, 0, 99)) do
  if redis.call('EXISTS', prefix .. 'answer:' .. which) == 0 then forget(which) end
end
return again
