-- ARGV: id, token, seconds to wait, next chunk ('' keeps it and the attempts)
if held() == 0 then return 0 end
redis.call('HSET', job, 'state', 'queued', 'queued_at', now)
redis.call('HINCRBY', job, 'token', 1)
if ARGV[4] ~= '' then
  if tonumber(ARGV[4]) > tonumber(redis.call('HGET', job, 'cursor') or 0) then
    redis.call('HSET', job, 'moved_at', now)
  end
  redis.call('HSET', job, 'cursor', ARGV[4], 'attempts', 0, 'lost', 0)
end
redis.call('ZADD', due, now + tonumber(ARGV[3]), id)
return 1
