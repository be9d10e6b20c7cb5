-- Receives a batch and makes dead letters of it. $1: at most so many.
select coalesce(sum(weir.reject('bench', claim_id)), 0)::bigint
from (select distinct claim_id from weir.receive_records('bench', max => $1)) c
