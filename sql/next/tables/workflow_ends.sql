-- weir_internal.workflow_ends
-- How the jobs of steps ended. Rows are never changed; a step that failed and was redriven has several.
create table if not exists weir_internal.workflow_ends (
    workflow bigint not null references weir_internal.workflows on delete cascade, -- the workflow
    seq      bigint generated always as identity, -- order
    no       int not null,         -- the step
    what     smallint not null,    -- as weir_internal.job_event says: 2 done, 3 cancelled, 5 failed
    result   jsonb,                -- of the job
    at       timestamptz not null, -- when
    low      int not null,         -- no job of a step below this one was under way then
    primary key (workflow, seq)
);
create index if not exists workflow_ends_step on weir_internal.workflow_ends (workflow, no);
