-- weir_log.append_job_event(p_events), weir_log.job_events(q, p_ids), weir_log.job_events_here(p_queue, p_ids)
-- Writes and reads the ring of events of tracked jobs: see weir_internal.job_event and log/turn_ring.sql. Of a queue
-- that is moving, job_events reads the rings of both logs, and first that from which events are taken over.
--
-- Parameters:
--   p_events  what happened
--   q, p_queue  the queue
--   p_ids     jobs
-- Returns: append_job_event: nothing; others: what happened to the jobs. What was carried over may be there twice.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table; job_events: ACCESS SHARE on one or both: until the transaction ends.
create or replace function weir_log.append_job_event(p_events weir_internal.job_event[])
returns void
language plpgsql
as $$
declare
    v_ring bigint;
    v_done boolean;
begin
    while cardinality(p_events) > 0 loop
        v_ring := pg_sequence_last_value('weir_log.jobs_ring');
        if weir_internal.open_ring_table(v_ring) = 0 then
            v_done := weir_log.append_events_0(v_ring, p_events);
        else
            v_done := weir_log.append_events_1(v_ring, p_events);
        end if;
        exit when v_done;
    end loop;
end
$$;
create or replace function weir_log.job_events(q weir_internal.queues, p_ids bigint[])
returns setof weir_internal.job_event
language plpgsql
as $$
begin
    if q.moving_from is not null then
        return query execute format('select * from %s.job_events_here($1, $2)', weir_internal.moving_logs(q, 1))
        using q.no, p_ids;
        return query execute format('select * from %s.job_events_here($1, $2)', weir_internal.moving_logs(q, 2))
        using q.no, p_ids;
    else
        return query select * from weir_log.job_events_here(q.no, p_ids);
    end if;
end
$$;
create or replace function weir_log.job_events_here(p_queue int, p_ids bigint[])
returns setof weir_internal.job_event
language plpgsql
as $$
declare
    v_ring bigint;
    v_events weir_internal.job_event[];
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.jobs_ring');
        v_events := '{}';
        if weir_internal.ring_phase(v_ring) < 2 or weir_internal.open_ring_table(v_ring) = 0 then
            v_events := weir_log.events_0(p_queue, p_ids);
        end if;
        if weir_internal.ring_phase(v_ring) < 2 or weir_internal.open_ring_table(v_ring) = 1 then
            v_events := v_events || weir_log.events_1(p_queue, p_ids);
        end if;
        exit when pg_sequence_last_value('weir_log.jobs_ring') = v_ring;
    end loop;
    return query select * from unnest(v_events);
end
$$;
