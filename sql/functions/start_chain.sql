-- weir.start_chain(queue_name, jobs, name)
-- Starts a chain, in the caller's transaction: each job is enqueued when the one before it is done, and is told its
-- result. It is a workflow, see weir.start_workflow, whose steps come one after the other.
--
-- Parameters:
--   queue_name  the queue
--   jobs        JSON objects as weir.start_workflow takes them, without "after"
--   name        as weir.start_workflow takes it
-- Returns: the workflow.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020, WR050, WR055
-- Locks: as weir.start_workflow.
create or replace function weir.start_chain(queue_name text, jobs jsonb[], name text default null)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    return weir.start_workflow(queue_name, array(
        select case when u.i = 1 or jsonb_typeof(u.job) <> 'object' then u.job else u.job || jsonb_build_object('after',
                   jsonb_build_array(coalesce(lag(u.job ->> 'name') over (order by u.i), (u.i - 1)::text))) end
        from unnest(jobs) with ordinality u (job, i) order by u.i), name);
end
$$;
