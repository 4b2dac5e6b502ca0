-- ARGV: '', max open jobs looked at
-- Returns for each open job: queue, state, seconds since it was queued and since its last progress (both 0 for a job
-- that an older version entered); then the counts of ended jobs, whether a reaper lives, request durations.
local open = {}
for _, which in ipairs(redis.call('ZRANGE', due, 0, tonumber(ARGV[2]) - 1)) do
  local found = redis.call('HMGET', prefix .. 'job:' .. which, 'queue', 'state', 'queued_at', 'moved_at')
  if found[1] and found[2] then
    local queued, moved = tonumber(found[3] or now), tonumber(found[4] or now)
    table.insert(open, {found[1], found[2], string.format('%.3f', now - queued), string.format('%.3f', now - moved)})
  end
end
return {open, redis.call('HGETALL', prefix .. 'ended'), redis.call('EXISTS', prefix .. 'reaper'),
  redis.call('HGETALL', prefix .. 'elasticsearch')}
