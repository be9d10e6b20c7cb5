-- Sends a batch in one call: https://github.com/pgmq/pgmq/blob/main/docs/api/sql/functions.md#send_batch
-- $1: the payloads as text[].
select pgmq.send_batch('bench', $1::text[]::jsonb[])
