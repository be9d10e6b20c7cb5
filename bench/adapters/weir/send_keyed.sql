-- Sends a batch with keys. $1: the payloads as text[]. $2: a key for each.
select count(*) from weir.send_batch('bench', $1::text[]::json[], keys => $2)
