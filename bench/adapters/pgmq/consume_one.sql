-- Reads one message and deletes it in a transaction of its own.
\set msg_id 0
select * from pgmq.read('bench', 30, 1) \aset
\if :msg_id > 0
select pgmq.delete('bench', :msg_id::bigint);
\endif
