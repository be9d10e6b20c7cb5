-- Reads with a visibility timeout. $1: at most so many messages. $2: seconds.
select msg_id, message from pgmq.read('bench', $2::int, $1)
