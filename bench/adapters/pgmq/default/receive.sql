-- Reads and waits for messages as long and as often as PGMQ itself does: 5 s, every 100 ms. $1: at most so many.
-- https://github.com/pgmq/pgmq/blob/main/docs/api/sql/functions.md#read_with_poll
select msg_id, message from pgmq.read_with_poll('bench', 30, $1)
