-- ARGV: id, owner, lease seconds
-- Returns token, attempts, kind, payload, access key, next chunk; nil unless the job is queued.
if redis.call('HGET', job, 'state') ~= 'queued' then return nil end
redis.call('HSET', job, 'state', 'running', 'owner', ARGV[2])
redis.call('HDEL', job, 'resends')
local attempts = redis.call('HINCRBY', job, 'attempts', 1)
local token = redis.call('HINCRBY', job, 'token', 1)
redis.call('ZADD', due, now + tonumber(ARGV[3]), id)
local found = redis.call('HMGET', job, 'kind', 'question', 'rights', 'cursor')
return {token, attempts, found[1], found[2], found[3], found[4] or '0'}
