-- Sends a message to a queue and takes it, as a backend does that serves many queues. $1: the queue.
select count(*) from (select weir.send($1, '1')) s cross join lateral weir.pop($1, max => 100)
