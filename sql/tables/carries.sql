-- weir_internal.carries
-- The last time that rows of a ring's older table were carried over to the open one. The older table is given up only
-- when the transaction that did it is over.
create table if not exists weir_internal.carries (
    queue_no int not null references weir_internal.queues on delete cascade, -- the queue
    ring     text not null,   -- 'dedup' or 'jobs'
    state    bigint not null, -- the ring's state then
    txid     xid8 not null,   -- the transaction
    primary key (queue_no, ring)
);
