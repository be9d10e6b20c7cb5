-- Finishes what was received. $1: the claims as bigint[].
select weir.ack_all('bench', claim_id) from unnest($1::bigint[]) claim_id
