-- weir_internal.workflow_steps
-- The steps of each workflow, as it was started. Rows are never changed.
create table if not exists weir_internal.workflow_steps (
    workflow  bigint not null references weir_internal.workflows on delete cascade, -- the workflow
    no        int not null,     -- from 1 on; a step comes after steps of lower numbers only
    name      text not null,    -- what users call it
    after     int[],            -- steps that must be done before; null: none
    after_all boolean not null, -- it comes when all others have ended, however they did
    kind      text not null,    -- of its job
    args      jsonb not null,   -- of its job
    key       text,             -- of its job
    headers   jsonb,            -- of its job
    primary key (workflow, no)
);
create index if not exists workflow_steps_late on weir_internal.workflow_steps (workflow)
    where after is not null or after_all;
