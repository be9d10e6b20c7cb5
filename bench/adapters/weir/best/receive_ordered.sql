-- Receives for the ordered group, by the queue's own function. $1: at most so many messages.
select claim_id, payloads from unnest(weir_internal."receive:bench"('in-order', $1, '30 seconds'))
