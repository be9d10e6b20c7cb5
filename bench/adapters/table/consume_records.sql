-- Takes the oldest messages, which finishes them: a table has no other form than rows.
delete from queue
where id in (select id from queue order by id for update skip locked limit :batch)
returning id, payload;
