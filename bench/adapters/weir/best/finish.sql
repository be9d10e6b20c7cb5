-- Finishes what was received, by the queue's own function. $1: the claims as bigint[].
select weir_internal."ack:bench"(claim_id, null) from unnest($1::bigint[]) claim_id
