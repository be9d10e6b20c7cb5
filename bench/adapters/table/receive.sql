-- Takes the oldest messages and deletes them: what a consumer has when it crashes is lost. $1: at most so many.
delete from queue
where id in (select id from queue order by id for update skip locked limit $1)
returning id, payload
