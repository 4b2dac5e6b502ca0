"""The atomic steps of the Redis job store, as Lua. Times are the server's own, in seconds.

A job is a hash ``job:ID``; its answer a hash ``answer:ID`` that expires by itself; ``due`` holds
open jobs by the time at which something must be done about them (a lease that ran out, a message
that may be lost); ``used`` and ``sizes`` keep the answers' last use and bytes.
"""

from __future__ import annotations

from typing import Final

_HEAD: Final = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1e6
local prefix = KEYS[1]
local id = ARGV[1]
local job = prefix .. 'job:' .. id
local answer = prefix .. 'answer:' .. id
local callers = prefix .. 'callers:' .. id
local parts = prefix .. 'parts:' .. id
local due = prefix .. 'due'
local used = prefix .. 'used'
local sizes = prefix .. 'sizes'
local total = prefix .. 'bytes'

local function life(seconds) return math.max(1, math.ceil(tonumber(seconds))) end
local function told(which) redis.call('PUBLISH', prefix .. 'events', 'job ' .. which) end
local function held()
  local found = redis.call('HMGET', job, 'state', 'token', 'cancel')
  if found[1] ~= 'running' or found[2] ~= ARGV[2] then return 0 end
  return found[3] == '1' and -1 or 1
end
local function forget(which)
  local size = redis.call('HGET', sizes, which)
  if size then redis.call('INCRBYFLOAT', total, -tonumber(size)) end
  redis.call('HDEL', sizes, which)
  redis.call('ZREM', used, which)
  redis.call('DEL', prefix .. 'answer:' .. which)
end
local function close(which, state, remember, code)
  redis.call('HINCRBY', prefix .. 'ended', code and state .. ':' .. code or state, 1)
  local key = prefix .. 'job:' .. which
  redis.call('HSET', key, 'state', state)
  redis.call('HDEL', key, 'cancel', 'question')
  redis.call('EXPIRE', key, life(remember))
  redis.call('ZREM', due, which)
  redis.call('DEL', prefix .. 'callers:' .. which)
  told(which)
end
local function keep(body, acls, ttl, tombstone, most)
  forget(id)
  redis.call('HSET', answer, 'body', body, 'acls', acls, 'stored', now, 'expires', now + tonumber(ttl))
  redis.call('PEXPIRE', answer, math.ceil(tonumber(ttl) * 1000))
  redis.call('HSET', sizes, id, #body)
  redis.call('ZADD', used, now, id)
  local bytes = tonumber(redis.call('INCRBYFLOAT', total, #body))
  while bytes > tonumber(most) do
    local oldest = redis.call('ZRANGE', used, 0, 0)[1]
    if not oldest then break end
    forget(oldest)
    bytes = tonumber(redis.call('GET', total))
  end
  redis.call('HSET', job, 'progress', 1)
  close(id, 'done', ttl + tombstone)
  redis.call('DEL', parts)
end
"""

# id, kind, question, queue, caller, rights, resend, remember, most open, most open of this caller
SUBMIT: Final = (
    _HEAD
    + """
local mine = prefix .. 'mine:' .. ARGV[5]
local most = tonumber(ARGV[10])
local function note()
  if most == 0 then return end
  redis.call('SADD', mine, id)
  redis.call('EXPIRE', mine, life(ARGV[8]))
end
local function full()
  if most == 0 or redis.call('SCARD', mine) < most then return false end
  for _, which in ipairs(redis.call('SMEMBERS', mine)) do
    local found = redis.call('HGET', prefix .. 'job:' .. which, 'state')
    if found ~= 'queued' and found ~= 'running' then redis.call('SREM', mine, which) end
  end
  return redis.call('SCARD', mine) >= most
end
local found = redis.call('HMGET', job, 'state', 'retry_at')
local state = found[1]
if state == 'queued' or state == 'running' then
  redis.call('SADD', callers, ARGV[5])
  redis.call('HDEL', job, 'cancel')
  note()
  return 0
end
if state == 'done' and redis.call('EXISTS', answer) == 1 then return 0 end
if state == 'failed' and tonumber(found[2] or 0) > now then return 0 end
if redis.call('ZCARD', due) >= tonumber(ARGV[9]) then return -1 end
if full() then return -2 end
local token = redis.call('HINCRBY', job, 'token', 1)
redis.call('DEL', job, callers, parts)
redis.call('HSET', job, 'state', 'queued', 'kind', ARGV[2], 'question', ARGV[3], 'queue', ARGV[4],
  'rights', ARGV[6], 'token', token, 'attempts', 0, 'queued_at', now, 'moved_at', now)
redis.call('SADD', callers, ARGV[5])
redis.call('EXPIRE', job, life(ARGV[8]))
redis.call('EXPIRE', callers, life(ARGV[8]))
redis.call('ZADD', due, now + tonumber(ARGV[7]), id)
note()
return 1
"""
)

# id
GET: Final = (
    _HEAD
    + """
local found = redis.call('HMGET', job, 'kind', 'state', 'progress', 'message', 'attempts', 'queue', 'rights', 'failure')
if not found[2] then return nil end
redis.call('ZADD', used, 'XX', now, id)
return {found, redis.call('HMGET', answer, 'body', 'acls', 'stored', 'expires')}
"""
)

# id, caller, tombstone
DETACH: Final = (
    _HEAD
    + """
if redis.call('SREM', callers, ARGV[2]) == 0 or redis.call('SCARD', callers) > 0 then return 0 end
local state = redis.call('HGET', job, 'state')
if state == 'queued' then close(id, 'cancelled', ARGV[3]) end
if state == 'running' then redis.call('HSET', job, 'cancel', 1) end
return 1
"""
)

# id, kind, queue, rights, body, acls, ttl, tombstone, most
PUT: Final = (
    _HEAD
    + """
redis.call('HINCRBY', job, 'token', 1)
redis.call('HSET', job, 'kind', ARGV[2], 'queue', ARGV[3], 'rights', ARGV[4])
keep(ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9])
return 1
"""
)

# id, owner, lease
START: Final = (
    _HEAD
    + """
if redis.call('HGET', job, 'state') ~= 'queued' then return nil end
redis.call('HSET', job, 'state', 'running', 'owner', ARGV[2])
redis.call('HDEL', job, 'resends')
local attempts = redis.call('HINCRBY', job, 'attempts', 1)
local token = redis.call('HINCRBY', job, 'token', 1)
redis.call('ZADD', due, now + tonumber(ARGV[3]), id)
local found = redis.call('HMGET', job, 'kind', 'question', 'rights', 'cursor')
return {token, attempts, found[1], found[2], found[3], found[4] or '0'}
"""
)

# id, token, lease, share, message (the last two may be missing)
RENEW: Final = (
    _HEAD
    + """
local mine = held()
if mine ~= 1 then return mine end
redis.call('ZADD', due, now + tonumber(ARGV[3]), id)
if ARGV[4] then redis.call('HSET', job, 'progress', ARGV[4], 'message', ARGV[5]) end
return 1
"""
)

# id, token, name, body, ttl
PART: Final = (
    _HEAD
    + """
if held() == 0 then return 0 end
redis.call('HSET', parts, ARGV[3], ARGV[4])
redis.call('EXPIRE', parts, life(ARGV[5]))
return 1
"""
)

# id, token, body, acls, ttl, tombstone, most
FINISH: Final = (
    _HEAD
    + """
if held() == 0 then return 0 end
keep(ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
return 1
"""
)

# id, token, state, failure, hold, tombstone, the failure's code
CLOSE: Final = (
    _HEAD
    + """
if held() == 0 then return 0 end
if ARGV[4] ~= '' then redis.call('HSET', job, 'failure', ARGV[4], 'retry_at', now + tonumber(ARGV[5])) end
close(id, ARGV[3], ARGV[6], ARGV[7])
return 1
"""
)

# id, token, wait, cursor ('' keeps it and the attempts)
HAND_BACK: Final = (
    _HEAD
    + """
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
"""
)

# '', max_lost, resend, tombstone, hold, failure, how many at once, the failure's code
REAP: Final = (
    _HEAD
    + """
local again = {}
for _, which in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[7])) do
  local key = prefix .. 'job:' .. which
  local found = redis.call('HMGET', key, 'state', 'cancel', 'queue')
  local open = found[1] == 'queued'
  if found[1] == 'running' then
    redis.call('HINCRBY', key, 'token', 1)
    if found[2] == '1' then
      close(which, 'cancelled', ARGV[4])
    elseif redis.call('HINCRBY', key, 'lost', 1) >= tonumber(ARGV[2]) then
      redis.call('HSET', key, 'failure', ARGV[6], 'retry_at', now + tonumber(ARGV[5]))
      close(which, 'failed', ARGV[4], ARGV[8])
    else
      redis.call('HSET', key, 'state', 'queued', 'queued_at', now)
      open = true
    end
  end
  if open then
    local times = math.min(redis.call('HINCRBY', key, 'resends', 1), 10)
    redis.call('ZADD', due, now + tonumber(ARGV[3]) * 2 ^ times, which)
    table.insert(again, which)
    table.insert(again, found[3])
  else
    redis.call('ZREM', due, which)
  end
end
for _, which in ipairs(redis.call('ZRANGE', used, 0, 99)) do
  if redis.call('EXISTS', prefix .. 'answer:' .. which) == 0 then forget(which) end
end
return again
"""
)

# '', name of the lock, holder, seconds
HOLD: Final = """
local key = KEYS[1] .. ARGV[2]
local holder = redis.call('GET', key)
if holder and holder ~= ARGV[3] then return 0 end
redis.call('SET', key, ARGV[3], 'PX', math.ceil(tonumber(ARGV[4]) * 1000))
return 1
"""

# '', how many open jobs are looked at. For each: queue, state, seconds since it was queued and since it got on (both 0
# for one that an older version handed in); then what ended how
CENSUS: Final = (
    _HEAD
    + """
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
"""
)
