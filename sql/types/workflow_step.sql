-- weir.workflow_step
-- A step of a workflow, as weir.workflow returns it.
do $$
begin
    if to_regtype('weir.workflow_step') is null then
        create type weir.workflow_step as (
            no       int,        -- from 1 on, in the order in which they were given
            name     text,       -- as given, else its number
            kind     text,       -- of its job
            after    text[],     -- the steps it comes after; null: none, or all
            state    text,       -- 'planned' (no job yet), 'enqueued', 'done', 'failed' or 'cancelled'
            id       bigint,     -- its job; null: planned
            result   jsonb,      -- of its job
            ended_at timestamptz -- when its job ended
        );
    end if;
end
$$;
