-- weir_internal.key_queue_row
-- A message of a group that shares its deliveries out among keys: it was set aside, into the queue of its key.
do $$ begin if to_regtype('weir_internal.key_queue_row') is null then
create type weir_internal.key_queue_row as (
    queue_no    int,         -- the queue
    group_no    int,         -- the group
    key_queue   text,        -- 'k' and the key; of messages without one 'l'
    no          bigint,      -- order in the key queue
    id          bigint,      -- the message
    attempts    int,         -- deliveries so far
    key         text,
    headers     jsonb,
    payload     text,        -- JSON as sent; null: it has a body
    body        bytea,
    enqueued_at timestamptz  -- when it was sent
);
end if; end $$;
