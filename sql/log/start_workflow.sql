-- weir_log.start_workflow(p_queue, p_steps, p_name)
-- Starts a workflow: keeps its steps and enqueues those that come after none.
--
-- Parameters:
--   p_queue  name of the queue
--   p_steps  as weir_internal.read_steps takes them
--   p_name   null, or a name: when a workflow of the queue has it, that one is returned and nothing is started
-- Returns: the workflow.
-- Raises: WR001, WR006, WR007, WR008, WR012, WR019, WR020, WR050, WR055
-- Locks: as enqueueing does; the name, until the transaction ends.
create or replace function weir_log.start_workflow(p_queue text, p_steps jsonb[], p_name text)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_log.find_home(p_queue);
    v_workflow bigint;
begin
    if q.no is null then
        execute 'select ' || weir_internal.call('start_workflow', p_queue, '$1, $2')
        into v_workflow using p_steps, p_name;
        return v_workflow;
    end if;
    perform weir_internal.check_isolation('start of a workflow');
    if length(p_name) not between 1 and 255 then
        raise exception 'the name of a workflow of queue "%" has % characters', q.name, length(p_name)
            using errcode = 'WR055', hint = 'Give 1 to 255 characters.';
    end if;
    insert into weir_internal.workflows (queue_no, name, last_step, created_at)
    values (q.no, p_name, coalesce(cardinality(p_steps), 0), weir_internal.clock())
    on conflict (queue_no, name) do nothing
    returning no into v_workflow;
    if v_workflow is null then
        return (select no from weir_internal.workflows where queue_no = q.no and name = p_name);
    end if;
    insert into weir_internal.workflow_steps
    select v_workflow, s.no, s.name, s.after, s.after_all, s.kind, s.args, s.key, s.headers
    from weir_internal.read_steps(q.name, p_steps) s;
    perform weir_internal.check_jobs(q.name, '', array_agg(s.kind), array_agg(s.headers), null, null, null),
        weir_internal.check_batch(
            q.name, q.message_bytes_max, array_agg(s.args::text), null, array_agg(s.key), array_agg(s.headers))
    from weir_internal.workflow_steps s where s.workflow = v_workflow; -- also those that are not enqueued yet
    perform weir_log.send_steps(q, v_workflow, array(
        select s.no from weir_internal.workflow_steps s
        where s.workflow = v_workflow and s.after is null and not s.after_all order by s.no));
    return v_workflow;
exception
    when not_null_violation then -- of kind: the only column that may be null so far
        raise exception 'a step of a workflow of queue "%" has no kind', p_queue
            using errcode = 'WR050', hint = 'Name what handles its job.';
end
$$;
