-- Sends one batch. :payloads is the text of a jsonb[].
select pgmq.send_batch('bench', :payloads::jsonb[]);
