-- ARGV: id, kind, queue, access key, body, acls, answer seconds, tombstone seconds, max bytes of all answers,
--       vector
redis.call('HINCRBY', job, 'token', 1)
redis.call('HSET', job, 'kind', ARGV[2], 'queue', ARGV[3], 'rights', ARGV[4])
keep(ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
return 1
