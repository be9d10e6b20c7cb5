-- weir_log.list_jobs(p_queue, p_state, p_kind, p_max, p_after), weir_log.job_ids(q, p_kind, p_after, p_max)
-- list_jobs: how tracked jobs of a queue stand. job_ids: which jobs are tracked.
--
-- Parameters:
--   p_queue, q  the queue
--   p_state     only those of this state; null = all
--   p_kind      only those of this kind; null = all
--   p_max       how many at most
--   p_after     only those above this
-- Returns: list_jobs: one row a job, in the order of their ids; see weir.list_jobs. job_ids: their ids, in order.
-- Raises: WR001, WR006, WR019
-- Locks: ACCESS SHARE on the log, the claim log and the ring of events.
create or replace function weir_log.list_jobs(p_queue text, p_state text, p_kind text, p_max int, p_after bigint)
returns setof weir.job_status
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    o weir.job_status;
    v_left int := p_max;
    v_ids bigint[];
begin
    if p_max is null or p_max not between 1 and 1000 then
        raise exception 'list_jobs of % jobs of queue "%"', coalesce(p_max::text, 'null'), p_queue
            using errcode = 'WR006', hint = 'Ask for 1 to 1,000 jobs.';
    end if;
    if p_state not in ('waiting', 'running', 'done', 'failed', 'cancelled') then
        raise exception 'list_jobs of queue "%" in state "%"', p_queue, p_state
            using errcode = 'WR006', hint = 'A state is waiting, running, done, failed or cancelled.';
    end if;
    loop
        v_ids := weir_log.job_ids(q, p_kind, coalesce(p_after, 0), greatest(p_max, 100));
        exit when cardinality(v_ids) = 0;
        for o in
            select * from weir_log.job_statuses(q, v_ids) s where p_state is null or s.state = p_state order by s.id
        loop
            return next o;
            v_left := v_left - 1;
            if v_left = 0 then
                return;
            end if;
        end loop;
        p_after := v_ids[cardinality(v_ids)];
    end loop;
end
$$;
create or replace function weir_log.job_ids(q weir_internal.queues, p_kind text, p_after bigint, p_max int)
returns bigint[]
language plpgsql
as $$
declare
    v_ring bigint;
    v_ids bigint[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.jobs_ring');
        v_ids := '{}';
        if weir_internal.ring_phase(v_ring) < 2 or weir_internal.open_ring_table(v_ring) = 0 then
            v_ids := weir_log.job_ids_0(q.no, p_kind, p_after, p_max);
        end if;
        if weir_internal.ring_phase(v_ring) < 2 or weir_internal.open_ring_table(v_ring) = 1 then
            v_ids := v_ids || weir_log.job_ids_1(q.no, p_kind, p_after, p_max);
        end if;
        exit when pg_sequence_last_value('weir_log.jobs_ring') = v_ring;
    end loop;
    return array(select distinct i from unnest(v_ids) i order by i limit p_max);
end
$$;
