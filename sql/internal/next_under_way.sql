-- weir_internal.next_under_way(p_workflow, p_low)
-- The first step of a workflow whose job was enqueued and has not ended.
--
-- Parameters:
--   p_workflow  the workflow
--   p_low       steps below this are not looked at
-- Returns: its number; null when there is none.
-- Raises: none
-- Locks: none
create or replace function weir_internal.next_under_way(p_workflow bigint, p_low int)
returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select j.no from weir_internal.workflow_jobs j
    where j.workflow = p_workflow and j.no >= p_low
        and (select true from weir_internal.workflow_ends e
             where e.workflow = j.workflow and e.no = j.no limit 1) is null
    order by j.no limit 1
$$;
