-- weir_internal.cancellations
-- Jobs that were cancelled and that a group may still hold, and messages that are delivered from another place than the
-- lane they were sent to. receive looks here before it hands out messages; maintain removes what nobody holds any more.
create table if not exists weir_internal.cancellations (
    queue_no int not null references weir_internal.queues on delete cascade, -- the queue
    id       bigint not null,      -- the job: its message
    txid     xid8 not null,        -- the transaction that sent it
    at       timestamptz not null, -- when it was cancelled
    reason   text,                 -- why
    moved    boolean not null default false, -- only its first delivery out of its lane is left out: it is elsewhere
    primary key (queue_no, id)
);
