-- ARGV: id
-- Returns the fields of the job and of its answer; nil for an unknown job.
local found = redis.call('HMGET', job, 'kind', 'state', 'progress', 'message', 'attempts', 'queue', 'rights', 'failure')
if not found[2] then return nil end
redis.call('ZADD', used, 'XX', now, id)
return {found, redis.call('HMGET', answer, 'body', 'acls', 'stored', 'expires')}
