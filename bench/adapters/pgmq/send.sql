-- Sends one message. $1: the payload.
select pgmq.send('bench', $1::jsonb)
