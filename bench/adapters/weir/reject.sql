-- Receives a batch and makes dead letters of it. $1: at most so many.
select coalesce(sum(weir.reject('bench', claim_id, ids)), 0)::bigint
from (select claim_id, array_agg(id) as ids from weir.receive('bench', max => $1) group by claim_id) c
