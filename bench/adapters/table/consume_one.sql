-- Takes the oldest message, which finishes it.
delete from queue
where id in (select id from queue order by id for update skip locked limit 1)
returning id, payload;
