-- Sends a batch, by the queue's own function. $1: the payloads as text[].
select weir_internal."send_batch:bench"($1::text[]::jsonb[], null, null, null, null)
