-- weir_internal.schedules
-- Jobs that are enqueued again and again. Whoever fires one locks its row; next_at moves in the transaction that
-- enqueues the job.
create table if not exists weir_internal.schedules (
    name       text primary key,                  -- what users call it
    queue_no   int not null references weir_internal.queues on delete cascade, -- the queue of its jobs
    cron       text,                              -- when, see weir.schedule; null: by `every`
    every      interval,                          -- how often; null: by `cron`
    time_zone  text not null,                     -- in which `cron` is meant
    missed     text not null,                     -- 'skip', 'once' or 'all'
    kind       text not null,                     -- of its jobs
    args       jsonb not null,                    -- of its jobs
    key        text,                              -- of its jobs
    headers    jsonb,                             -- of its jobs
    priority   int,                               -- of its jobs
    is_unique  boolean not null,                  -- none is enqueued while one like it is not finished
    tracked    boolean not null,                  -- what happens to its jobs is kept
    paused     boolean not null default false,    -- it is not fired
    next_at    timestamptz not null,              -- the next due time
    last_at    timestamptz,                       -- the last due time for which a job was enqueued
    last_id    bigint,                            -- that job
    error      text,                              -- why it could not be fired last; null: it could
    created_at timestamptz not null default now() -- when it was created
);
create index if not exists schedules_due on weir_internal.schedules (next_at) where not paused;
create index if not exists schedules_queue on weir_internal.schedules (queue_no);
