-- weir.workflow_status
-- How a workflow stands, as weir.list_workflows returns it.
do $$
begin
    if to_regtype('weir.workflow_status') is null then
        create type weir.workflow_status as (
            workflow   bigint,      -- the workflow
            name       text,        -- given by who started it; null: none
            state      text,        -- 'running', 'done' (every step is) or 'stopped' (it ended with steps that are not)
            steps      int,         -- how many it has
            done       int,         -- steps that are done; null, as what follows, of one with more than 1,000 steps
            failed     int,         -- steps whose job is a dead letter
            cancelled  int,         -- steps whose job was cancelled
            created_at timestamptz, -- when it was started
            ended_at   timestamptz  -- since when none of its jobs is under way; null: some is
        );
    end if;
end
$$;
