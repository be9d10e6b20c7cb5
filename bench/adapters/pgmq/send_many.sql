-- Sends a batch. $1: the payloads as text[].
select pgmq.send_batch('bench', $1::text[]::jsonb[])
