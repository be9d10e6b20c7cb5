-- weir_internal.parked_row
-- A message of an ordered group that stands in the queue of its key: something ahead of it is not done.
do $$ begin if to_regtype('weir_internal.parked_row') is null then
create type weir_internal.parked_row as (
    queue_no    int,         -- the queue
    group_no    int,         -- the group
    key_queue   text,        -- 'k' and the key; of messages without one 'l' and the lane
    no          bigint,      -- order in the key queue
    lane        int,         -- the lane it came from
    id          bigint,      -- the message
    attempts    int,         -- deliveries so far
    key         text,
    headers     jsonb,
    payload     text,        -- JSON as sent; null: it has a body
    body        bytea,
    enqueued_at timestamptz, -- when it was sent
    due_at      timestamptz, -- at the head: not delivered before; null: it stands behind another
    holder      bigint,      -- the claim under which a consumer has it
    was_delayed boolean,     -- it came out of `delayed`, and so from no claim
    parked_at   timestamptz, -- since when it stands here
    reason      text         -- why it was given back
);
end if; end $$;
