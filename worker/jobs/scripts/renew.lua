-- ARGV: id, token, lease seconds, progress, message (the last two may be missing)
-- Returns 1: renewed, 0: the claim is void, -1: the job was cancelled.
local mine = held()
if mine ~= 1 then return mine end
redis.call('ZADD', due, now + tonumber(ARGV[3]), id)
if ARGV[4] then redis.call('HSET', job, 'progress', ARGV[4], 'message', ARGV[5]) end
return 1
