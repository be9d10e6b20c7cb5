-- Deletes what was read, in one call: https://github.com/pgmq/pgmq/blob/main/docs/api/sql/functions.md#delete-batch
-- $1: the messages as bigint[].
select pgmq.delete('bench', $1::bigint[])
