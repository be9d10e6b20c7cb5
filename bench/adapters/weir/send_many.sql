-- Sends a batch. $1: the payloads as text[].
select weir.send_batch('bench', $1::text[]::json[])
