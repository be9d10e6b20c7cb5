-- weir_internal.workflows
-- Jobs that belong together: batches, chains and workflows, which are all steps of which some come after others.
create table if not exists weir_internal.workflows (
    no         bigint generated always as identity primary key, -- what users call it
    queue_no   int not null references weir_internal.queues on delete cascade, -- the queue of its jobs
    name       text,                                -- given by the user; null: none
    last_step  int not null,                        -- how many steps it has
    created_at timestamptz not null,                -- when it was started
    ended_at   timestamptz,                         -- since when none of its jobs is under way; null: some is
    unique (queue_no, name)
);
create index if not exists workflows_queue on weir_internal.workflows (queue_no, no);
create index if not exists workflows_open on weir_internal.workflows (queue_no) where ended_at is null;
create index if not exists workflows_ended on weir_internal.workflows (queue_no, ended_at);
