-- ARGV: '', name of the lock, holder, seconds
-- Returns 1 if the holder has the lock now. Needs no prelude. A lock that would last longer than any holder asks for was
-- taken before the server's clock was set back: it counts as expired.
local key = KEYS[1] .. ARGV[2]
local holder = redis.call('GET', key)
local milliseconds = math.ceil(tonumber(ARGV[4]) * 1000)
if holder and holder ~= ARGV[3] and redis.call('PTTL', key) <= milliseconds then return 0 end
redis.call('SET', key, ARGV[3], 'PX', milliseconds)
return 1
