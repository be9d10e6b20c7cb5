-- Receives for a group, by the queue's own function. $1: at most so many messages. $2: the group.
select claim_id, payloads from unnest(weir_internal."receive:bench"($2, $1, '30 seconds'))
