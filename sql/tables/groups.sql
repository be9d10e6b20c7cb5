-- weir_internal.groups
-- The consumer groups of each queue. Read by every receive, written by administration only.
create table if not exists weir_internal.groups (
    no           int primary key,              -- never used again
    queue_no     int not null references weir_internal.queues on delete cascade, -- the queue
    name         text not null,                -- what users call it
    ordered      boolean not null default false, -- one key's messages one after the other
    max_attempts int not null default 5,       -- deliveries before a message is a dead letter
    backoff_min  interval not null default '1 second',   -- wait before the second delivery; doubles with each further
    backoff_max  interval not null default '10 minutes', -- and never exceeds this
    since        timestamptz not null,         -- messages sent before are not for this group
    start        weir_internal.claim not null, -- the cursor of a lane that has none in the claim log
    start_by     xid8 not null,                -- the transaction that set it: the claim log's base replaces what it saw
    purged       pg_snapshot,                  -- what `delayed` held in this snapshot is not for this group
    paused       boolean not null default false, -- nothing is delivered: this group is paused
    queue_paused boolean not null default false, -- nothing is delivered: the queue is; as queues.paused
    ttl          interval not null default '0', -- as queues.ttl
    concurrency_max int,                       -- messages claimed and unfinished at once; null: no limit
    rate_max     int,                          -- deliveries a rate_period; null: no limit
    rate_period  interval not null default '1 second', -- see rate_max
    rate_sequence regclass,                    -- with a rate: how far ahead of it the group is
    key_concurrency_max int,                   -- messages of one key claimed and unfinished at once; null: no limit
    fair         boolean not null default false, -- keys take turns
    limited      boolean not null default false, -- it has one of these limits; one transaction at a time claims in it
    keyed        boolean not null default false, -- fair, or a limit a key: its messages wait in key queues
    created_at   timestamptz not null default now(), -- when it was created
    unique (queue_no, name)
);
