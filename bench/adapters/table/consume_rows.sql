-- Takes the oldest messages, which finishes them.
delete from queue
where id in (select id from queue order by id for update skip locked limit :batch)
returning id, payload;
