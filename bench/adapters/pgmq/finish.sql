-- Deletes what was read. $1: the messages as bigint[].
select pgmq.delete('bench', $1::bigint[])
