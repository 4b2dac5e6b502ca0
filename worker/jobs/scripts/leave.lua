-- ARGV: id, caller, tombstone seconds
if redis.call('SREM', callers, ARGV[2]) == 0 or redis.call('SCARD', callers) > 0 then return 0 end
local state = redis.call('HGET', job, 'state')
if state == 'queued' then close(id, 'cancelled', ARGV[3]) end
if state == 'running' then redis.call('HSET', job, 'cancel', 1) end
return 1
