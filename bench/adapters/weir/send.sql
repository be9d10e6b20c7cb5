-- Sends one message. $1: the payload.
select weir.send('bench', $1)
