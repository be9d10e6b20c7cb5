-- workflow
-- Template of weir_internal."start_workflow:<queue>", part of the right to produce, and of
-- weir_internal."workflow:<queue>", which all may call who may do something with the queue.
--
-- Parameters:
--   p_steps     as weir_internal.read_steps takes them
--   p_name      null, or a name
--   p_workflow  the workflow
-- Returns: the workflow; its steps.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR020, WR050, WR055
-- Locks: as enqueueing does.
insert into weir_internal.templates (name, body) values ('workflow', $template$
create or replace function weir_internal."start_workflow:{name}"(p_steps jsonb[], p_name text)
returns bigint
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select weir_internal.start_workflow('{name}', p_steps, p_name)
$body$;
create or replace function weir_internal."workflow:{name}"(p_workflow bigint)
returns setof weir.workflow_step
language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
    select weir_internal.fail_restored('{name}') where {restored};
    select s.no, s.name, s.kind,
        (select array_agg(b.name order by b.no) from weir_internal.workflow_steps b
         where b.workflow = s.workflow and b.no = any(s.after)),
        coalesce((array[null, 'done', 'cancelled', null, 'failed'])[e.what],
            case when j.id is null then 'planned' else 'enqueued' end),
        j.id, e.result, e.at
    from weir_internal.workflows w
    join weir_internal.workflow_steps s on s.workflow = w.no
    left join weir_internal.workflow_jobs j on j.workflow = s.workflow and j.no = s.no
    left join lateral (
        select * from weir_internal.workflow_ends e where e.workflow = s.workflow and e.no = s.no
        order by e.seq desc limit 1) e on true
    where w.no = p_workflow and w.queue_no = {no}
    order by s.no
$body$
$template$) on conflict (name) do update set body = excluded.body;
