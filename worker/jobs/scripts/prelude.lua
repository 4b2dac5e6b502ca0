-- Stands before every script but acquire_lock: the names of the keys and the steps that several scripts share.
-- KEYS[1] is the prefix of all keys, ARGV[1] the id of the job, ARGV[2] the token where held() is called.
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
local function keep(body, acls, ttl, tombstone, most, vector)
  forget(id)
  redis.call('HSET', answer, 'body', body, 'acls', acls, 'stored', now, 'expires', now + tonumber(ttl))
  if vector ~= '' then redis.call('HSET', answer, 'vector', vector) end
  redis.call('PEXPIRE', answer, math.ceil(tonumber(ttl) * 1000))
  redis.call('HSET', sizes, id, #body + #vector)
  redis.call('ZADD', used, now, id)
  local bytes = tonumber(redis.call('INCRBYFLOAT', total, #body + #vector))
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
