-- Sends a batch. $1: the payloads as text[]. Returns the sum of the ids.
select sum(i)::bigint from weir.send_batch('bench', $1::text[]::json[]) i
