-- Sends a batch and takes one, which finishes it: two transactions.
insert into queue (payload) select unnest(:payloads::jsonb[]);
delete from queue
where id in (select id from queue order by id for update skip locked limit :batch)
returning id, payload;
