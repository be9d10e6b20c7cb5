-- weir_internal.workflow_jobs
-- The steps of which the job was enqueued. Rows are never changed.
create table if not exists weir_internal.workflow_jobs (
    workflow bigint not null, -- the workflow
    no       int not null,    -- the step
    id       bigint not null, -- its job
    txid     xid8 not null,   -- the transaction that enqueued it
    primary key (workflow, no),
    unique (workflow, id),
    foreign key (workflow, no) references weir_internal.workflow_steps on delete cascade
);
