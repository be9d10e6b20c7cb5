-- Receives a batch in the form that programs use. $1: at most so many. id_sum tells the messages from others.
select claim_id as receipt, n, payloads,
    case when ids is null then n * first_id + n::bigint * (n - 1) / 2
        else (select sum(i) from unnest(ids) i) end::bigint as id_sum
from weir.receive_records('bench', max => $1)
