-- Receives as rows. $1: at most so many.
select msg_id as receipt, message as payload from pgmq.read('bench', 30, $1)
