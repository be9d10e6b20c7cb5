-- Reads what there is and returns; the client asks again. $1: at most so many.
select msg_id, message from pgmq.read('bench', 30, $1)
