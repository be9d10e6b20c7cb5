-- weir_internal.groups
-- The consumer groups of each queue. Read by every receive, written only by administration.
create table if not exists weir_internal.groups (
    queue_no     int not null references weir_internal.queues on delete cascade, -- the queue
    no           smallint not null,            -- small and reused: part of a claim's slot
    id           int not null,                 -- never reused: marks the records that are for this group only
    name         text not null,                -- what users call it
    ordered      boolean not null default false, -- one key's messages one after the other
    patience     interval not null default '1 second', -- ordered: how long one claim may keep a lane from the others
    max_attempts int not null,                 -- deliveries before a message is a dead letter
    backoff_min  interval not null,            -- wait before the second delivery; doubles with each further one
    backoff_max  interval not null,            -- and never exceeds this
    since        timestamptz not null,         -- messages sent before are not for this group
    created_at   timestamptz not null default now(), -- when it was created
    paused       boolean not null default false, -- nothing is delivered: this group is paused
    queue_paused boolean not null default false, -- nothing is delivered: the queue is; as queues.paused
    purged       pg_snapshot,                  -- what `later` held in this snapshot is not for this group
    ttl          interval not null default '0', -- as queues.ttl
    concurrency_max int,                       -- messages claimed and unfinished at once; null: no limit
    rate_max     int,                          -- deliveries a rate_period; null: no limit
    rate_period  interval not null default '1 second', -- see rate_max
    limited      boolean not null default false, -- it has a limit and takes turns: see queue/turn.sql
    key_concurrency_max int,                   -- messages of one key claimed and unfinished at once; null: no limit
    fair         boolean not null default false, -- keys take turns
    keyed        boolean not null default false, -- either of these: its messages wait in lines, see queue/lines.sql
    primary key (queue_no, no),
    unique (queue_no, name)
);
