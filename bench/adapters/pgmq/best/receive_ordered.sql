-- Reads each key's messages in order, of as many keys as there are. $1: at most so many messages.
-- https://github.com/pgmq/pgmq/blob/main/docs/api/sql/functions.md#read_grouped_rr
select msg_id, message from pgmq.read_grouped_rr('bench', 30, $1)
