-- Sends one message. $1: the payload.
insert into queue (payload) values ($1::jsonb)
