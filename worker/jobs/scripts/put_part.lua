-- ARGV: id, token, name, body, answer seconds
if held() == 0 then return 0 end
redis.call('HSET', parts, ARGV[3], ARGV[4])
redis.call('EXPIRE', parts, life(ARGV[5]))
return 1
