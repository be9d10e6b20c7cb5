-- Sends one batch. :payloads is the text of a jsonb[].
select weir.send_batch('bench', :payloads);
