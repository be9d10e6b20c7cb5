-- Reads what there is and returns; the client asks again. $1: at most so many.
-- https://github.com/pgmq/pgmq/blob/main/docs/api/sql/functions.md#read
select msg_id, message from pgmq.read('bench', 30, $1)
