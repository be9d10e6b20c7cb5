-- Reads each key's messages in order. $1: at most so many messages.
select msg_id, message from pgmq.read_grouped('bench', 30, $1)
