-- weir_internal.list_workflows(queue_name, max, before)
-- Lists a queue's workflows: see weir.list_workflows.
--
-- Parameters:
--   queue_name  the queue
--   max         1 to 1,000 rows at most
--   before      only workflows below this; null: from the newest
-- Returns: one row a workflow, the newest first.
-- Raises: WR001, WR006
-- Locks: none
create or replace function weir_internal.list_workflows(queue_name text, max int, before bigint)
returns setof weir.workflow_status
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
begin
    if max is null or max not between 1 and 1000 then
        raise exception 'max % is out of range', coalesce(max::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 workflows.';
    end if;
    return query
    select w.no, w.name,
        case when w.ended_at is null then 'running'
             when exists (select from weir_internal.workflow_steps s
                          where s.workflow = w.no and not exists (
                              select from weir_internal.workflow_ends e
                              where e.workflow = s.workflow and e.no = s.no and e.what = 2)) then 'stopped'
             else 'done' end,
        w.last_step, c.done, c.failed, c.cancelled, w.created_at, w.ended_at
    from (select * from weir_internal.workflows t
          where t.queue_no = q.no and t.no < coalesce(before, 9223372036854775807)
          order by t.no desc limit max) w
    left join lateral (
        select count(*) filter (where l.what = 2)::int as done, count(*) filter (where l.what = 5)::int as failed,
            count(*) filter (where l.what = 3)::int as cancelled
        from (select distinct on (e.no) e.what from weir_internal.workflow_ends e
              where e.workflow = w.no order by e.no, e.seq desc) l) c on w.last_step <= 1000
    order by w.no desc;
end
$$;
