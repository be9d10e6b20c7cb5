-- weir_internal.delayed_row
-- A message that is not due yet: delayed by its sender for all groups, or to be delivered again to one.
do $$ begin if to_regtype('weir_internal.delayed_row') is null then
create type weir_internal.delayed_row as (
    txid        xid8,        -- the transaction that wrote it
    queue_no    int,         -- the queue
    group_no    int,         -- the group; null: all
    due_at      timestamptz, -- not delivered before
    id          bigint,      -- the message
    attempts    int,         -- deliveries so far
    key         text,
    headers     jsonb,
    payload     text,        -- JSON as sent; null: it has a body
    body        bytea,
    enqueued_at timestamptz, -- when it was sent
    reason      text         -- why it is delivered again
);
end if; end $$;
