-- ARGV: id, token, state, failure ('' for none), seconds the failure stands, tombstone seconds, code of the failure
if held() == 0 then return 0 end
if ARGV[4] ~= '' then redis.call('HSET', job, 'failure', ARGV[4], 'retry_at', now + tonumber(ARGV[5])) end
close(id, ARGV[3], ARGV[6], ARGV[7])
return 1
