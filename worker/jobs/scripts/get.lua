-- ARGV: id
-- Returns the fields of the job and those of its answer, with its age in seconds and the milliseconds it has left; nil
-- for an unknown job. Durations instead of times: the clock of the process that asks may differ, and may be set.
local found = redis.call('HMGET', job, 'kind', 'state', 'progress', 'message', 'attempts', 'queue', 'rights', 'failure')
if not found[2] then return nil end
redis.call('ZADD', used, 'XX', now, id)
local kept = redis.call('HMGET', answer, 'body', 'acls', 'stored', 'vector')
local age = math.max(0, now - tonumber(kept[3] or now))
return {found, {kept[1], kept[2], string.format('%.3f', age), redis.call('PTTL', answer), kept[4]}}
