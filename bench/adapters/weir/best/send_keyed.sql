-- Sends a batch with keys, by the queue's own function. $1: the payloads as text[]. $2: a key for each.
select weir_internal."send_batch:bench"($1::text[]::jsonb[], $2, null, null, null)
