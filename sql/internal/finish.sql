-- weir_internal.finish(p_queue, p_claim, p_ids, p_results)
-- Acknowledges jobs of one claim, keeps their results and sends what follows them.
--
-- Parameters:
--   p_queue    queue number
--   p_claim    the claim
--   p_ids      jobs of it
--   p_results  null, or one a job
-- Returns: the jobs that were not finished before.
-- Raises: WR006, WR008, WR009, WR010, WR011, WR012; WR051 when another transaction finished one of them meanwhile
-- Locks: as weir_internal.settle for an ack, and as weir_internal.end_jobs.
create or replace function weir_internal.finish(p_queue int, p_claim bigint, p_ids bigint[], p_results jsonb[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues;
    s record;
    v_open int8multirange;
    v_count int;
    v_jobs weir_internal.later_row[];
    v_results jsonb[];
    v_bytes int;
begin
    perform weir_internal.check_isolation('finish');
    select * into q from weir_internal.queues where no = p_queue;
    if p_claim is null or p_ids is null or array_position(p_ids, null) is not null then
        raise exception 'finish of claim %, jobs %: null', coalesce(p_claim::text, 'null'), p_ids
            using errcode = 'WR006', hint = 'Give the claim_id and the id that receive returned.';
    end if;
    select max(pg_column_size(r)) into v_bytes from unnest(p_results) r;
    if v_bytes > q.message_bytes_max then
        raise exception 'a result of a job of queue "%" has % octets, the limit is %',
            q.name, v_bytes, q.message_bytes_max
            using errcode = 'WR008', hint = 'Keep it elsewhere and give a reference to it.';
    end if;
    select * into s from weir_internal.claim_state(p_queue, p_claim);
    v_open := (select range_agg(int8range(i, i + 1)) from unnest(p_ids) i where i < 9223372036854775807) - s.done;
    v_count := weir_internal.settle(p_queue, p_claim, p_ids, 'ack', null, null);
    if v_count <> weir_internal.count_ids(v_open) then
        raise exception 'some of the jobs % of claim % were finished at this moment', p_ids, p_claim
            using errcode = 'WR051', hint = 'Try again, or finish them one by one.';
    end if;
    if v_count = 0 then
        return '{}';
    end if;
    select array_agg(row(null, null, m.id, null, m.attempts + (s.c).attempt, m.key, m.payload, m.headers,
                         m.enqueued_at)::weir_internal.later_row order by m.id),
        array_agg(u.result order by m.id)
    into v_jobs, v_results
    from weir_internal.claim_messages(q, s.c, v_open) m
    left join unnest(p_ids, p_results) u (id, result) on u.id = m.id;
    if coalesce(cardinality(v_jobs), 0) <> v_count then
        perform weir_internal.fail_missing(q.name, p_claim, v_open);
    end if;
    perform weir_internal.end_jobs(q, v_jobs, 2, v_results, null);
    return array(select m.id from unnest(v_jobs) m);
end
$$;
