-- Sends a batch. $1: the payloads as text[].
insert into queue (payload) select unnest($1::text[])::jsonb
