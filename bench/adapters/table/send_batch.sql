-- Sends one batch. :payloads is the text of a jsonb[].
insert into queue (payload) select unnest(:payloads::jsonb[]);
