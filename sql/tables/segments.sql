-- weir_internal.segments
-- The segments of each queue's log that may hold messages. Segment number no is table q<queue_no>_log_<no % 3>. The
-- open one is told by the sequence q<queue_no>_log_ring; this table is read only while a lane has an older one to
-- finish, and written only by rotation.
create table if not exists weir_internal.segments (
    queue_no  int not null references weir_internal.queues on delete cascade, -- the queue
    no        bigint not null,                            -- rises with every rotation
    -- the transaction that named it; the ring turns to it only once that is over
    opened_by xid8,
    opened_at timestamptz not null default clock_timestamp(), -- when it became the open one
    -- the transaction that saw no writer left; null while there may be one
    sealed_by xid8,
    -- the transaction that truncated it; the table may serve again once that is over
    freed_by  xid8,
    sealed_at timestamptz, -- when; retention counts from here
    primary key (queue_no, no)
);
