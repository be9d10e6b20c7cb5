-- weir_internal.job_event
-- One thing that happened to a tracked job. The tables of a log's ring of events, jobs_0 and jobs_1, are typed tables
-- of it. `what` says what happened:
--   0  enqueued; data: when it is due, null = at once
--   1  its worker told how far it is; data: what it told
--   2  done; data: the result
--   3  cancelled; reason: why
--   4  a try failed, another follows; reason: why
--   5  it failed for good and is among the dead letters; reason: why
--   6  it was found to have ended, although nobody had said so
do $$ begin if to_regtype('weir_internal.job_event') is null then
create type weir_internal.job_event as (
    queue_no int,         -- the queue
    id       bigint,      -- the job: its message
    what     smallint,    -- see above
    at       timestamptz, -- when
    txid     xid8,        -- what = 0: the transaction that enqueued it
    kind     text,        -- what = 0
    attempt  int,         -- deliveries so far; null where not known
    data     jsonb,       -- see above
    reason   text         -- see above
);
end if; end $$;
