-- Reads a batch and deletes it in a transaction of its own. A pgbench script cannot gather one column of many rows, so
-- the rows come as arrays in one row; that costs PGMQ less than the rows themselves would.
select count(*) as n, array_agg(msg_id) as ids, array_agg(read_ct) as reads, array_agg(enqueued_at) as sent,
    array_agg(last_read_at) as read, array_agg(vt) as due, array_agg(message) as messages, array_agg(headers) as headers
from pgmq.read('bench', 30, :batch) \gset
\if :n > 0
select pgmq.delete('bench', :ids::bigint[]);
\endif
