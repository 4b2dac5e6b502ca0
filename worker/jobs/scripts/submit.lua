-- ARGV: id, kind, payload, queue, caller, access key, seconds to the next announcement, seconds the job is remembered,
--       max open jobs, max open jobs of this caller (0: no limit), seconds a failure stands
-- Returns 1: entered, 0: known or under way, -1: the queue is full, -2: the caller has too many open jobs.
local mine = prefix .. 'mine:' .. ARGV[5]
local most = tonumber(ARGV[10])
local function note()
  if most == 0 then return end
  redis.call('SADD', mine, id)
  redis.call('EXPIRE', mine, life(ARGV[8]))
end
local function full()
  if most == 0 or redis.call('SCARD', mine) < most then return false end
  for _, which in ipairs(redis.call('SMEMBERS', mine)) do
    local found = redis.call('HGET', prefix .. 'job:' .. which, 'state')
    if found ~= 'queued' and found ~= 'running' then redis.call('SREM', mine, which) end
  end
  return redis.call('SCARD', mine) >= most
end
local found = redis.call('HMGET', job, 'state', 'retry_at')
local state = found[1]
if state == 'queued' or state == 'running' then
  redis.call('SADD', callers, ARGV[5])
  redis.call('HDEL', job, 'cancel')
  note()
  return 0
end
if state == 'done' and redis.call('EXISTS', answer) == 1 then return 0 end
local standing = tonumber(found[2] or 0) - now
if state == 'failed' and standing > 0 and standing <= tonumber(ARGV[11]) then return 0 end
if redis.call('ZCARD', due) >= tonumber(ARGV[9]) then return -1 end
if full() then return -2 end
local token = redis.call('HINCRBY', job, 'token', 1)
redis.call('DEL', job, callers, parts)
redis.call('HSET', job, 'state', 'queued', 'kind', ARGV[2], 'question', ARGV[3], 'queue', ARGV[4],
  'rights', ARGV[6], 'token', token, 'attempts', 0, 'queued_at', now, 'moved_at', now)
redis.call('SADD', callers, ARGV[5])
redis.call('EXPIRE', job, life(ARGV[8]))
redis.call('EXPIRE', callers, life(ARGV[8]))
redis.call('ZADD', due, now + tonumber(ARGV[7]), id)
note()
return 1
