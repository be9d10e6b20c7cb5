-- Sends one message, by the queue's own function. $1: the payload.
select weir_internal."send:bench"($1, null, null, null, null)
