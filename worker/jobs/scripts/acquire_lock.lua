-- ARGV: '', name of the lock, holder, seconds
-- Returns 1 if the holder has the lock now. Needs no prelude.
local key = KEYS[1] .. ARGV[2]
local holder = redis.call('GET', key)
if holder and holder ~= ARGV[3] then return 0 end
redis.call('SET', key, ARGV[3], 'PX', math.ceil(tonumber(ARGV[4]) * 1000))
return 1
