-- ARGV: id, token, body, acls, answer seconds, tombstone seconds, max bytes of all answers, vector
if held() == 0 then return 0 end
keep(ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8])
return 1
