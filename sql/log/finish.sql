-- weir_log.finish(p_queue, p_claim, p_ids, p_results)
-- Finishes jobs of a claim, as ack does, keeps the results of those that are tracked, and enqueues what follows those
-- that are steps of a workflow.
--
-- Parameters:
--   p_queue    name of the queue
--   p_claim    the claim
--   p_ids      jobs of it
--   p_results  null, or one a job, null elements allowed
-- Returns: the jobs that it finished; those that were finished already are left out.
-- Raises: WR001, WR006, WR008, WR009, WR010, WR011, WR012, WR016, WR019, and what enqueueing raises
-- Locks: the claim's advisory lock (shared, with one a job, for up to 32 jobs), until the transaction ends; ROW
-- EXCLUSIVE on the claim log and the ring of events.
create or replace function weir_log.finish(p_queue text, p_claim bigint, p_ids bigint[], p_results jsonb[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    g weir_internal.groups;
    s record;
    v_open int8multirange;
    v_left int8multirange;
    v_jobs weir_internal.delayed_row[];
    v_bytes int;
begin
    perform weir_internal.check_settle('finish', p_claim, coalesce(p_ids, '{null}'));
    select max(pg_column_size(r)) into v_bytes from unnest(p_results) r;
    if v_bytes > q.message_bytes_max then
        raise exception 'a result of a job of queue "%" has % octets, the limit is %',
            q.name, v_bytes, q.message_bytes_max
            using errcode = 'WR008', hint = 'Keep it elsewhere and give a reference to it.';
    end if;
    perform weir_log.lock_claim(p_claim, p_ids);
    s := weir_log.held_claim(q, p_claim, p_ids);
    v_left := s.ids - s.done - s.taken;
    v_open := s.asked - s.done;
    if isempty(v_open) then
        return '{}';
    end if;
    if not isempty(v_open * s.taken) or s.deadline <= weir_internal.clock() then
        raise exception 'claim % ended at %', p_claim, s.deadline
            using errcode = 'WR010',
            hint = 'Its messages are delivered again. Take a longer lease, or extend it while working.';
    end if;
    select * into g from weir_internal.groups where no = (s.parts[1]).group_no;
    v_jobs := weir_log.messages_of(q, s.parts, v_open, 0, null);
    perform weir_log.settle_messages(q, g, s.parts, v_open, v_left, s.parked, 'ack', null, null);
    perform weir_log.end_jobs(q, v_jobs, 2,
        array(select p_results[array_position(p_ids, m.id)] from unnest(v_jobs) m), null);
    return array(select m.id from unnest(v_jobs) m);
end
$$;
