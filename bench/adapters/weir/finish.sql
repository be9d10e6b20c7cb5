-- Finishes what was received. $1: the claims as bigint[]. Several claims are one transaction.
select weir.ack('bench', claim_id) from unnest($1::bigint[]) claim_id
