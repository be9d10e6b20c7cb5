-- weir_internal.samples
-- What each queue's counters showed at two moments of the last minute or so, for the rates that stats tells. Written by
-- maintain, every 30 s at most and only when something was sent or claimed since.
create table if not exists weir_internal.samples (
    queue_no  int not null references weir_internal.queues on delete cascade, -- the queue
    no        smallint not null,    -- 0 or 1, in turn
    at        timestamptz not null, -- when
    sent      bigint not null,      -- message ids given out
    claims    bigint not null,      -- claim numbers given out
    delivered jsonb not null,       -- messages delivered, by group id
    primary key (queue_no, no)
);
