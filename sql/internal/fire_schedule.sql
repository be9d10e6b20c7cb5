-- weir_internal.fire_schedule(q, s)
-- Enqueues the jobs for which a schedule is due, up to 1,000, and moves its next due time on. A due time is missed when
-- it is more than a minute past; what becomes of those `missed` says.
--
-- Parameters:
--   q  the queue
--   s  the schedule, whose row the caller has locked
-- Returns: how many jobs it enqueued.
-- Raises: what enqueueing raises
-- Locks: as enqueueing does.
create or replace function weir_internal.fire_schedule(q weir_internal.queues, s weir_internal.schedules)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_late timestamptz := v_now - interval '1 minute';
    v_count int := 0;
begin
    if s.next_at <= v_late and s.missed = 'skip' then
        s.next_at := weir_internal.following(s, v_late);
    end if;
    while s.next_at <= v_now and v_count < 1000 loop
        execute format('select ids[1] from %I.enqueue(
                $1, array[$2], array[$3::json], case when $4 is not null then array[$4] end, array[$5], null, null, $6,
                null, $7, null, $8)', (select schema_name from weir_internal.logs where no = q.log_no))
        into s.last_id
        using q.name, s.kind, s.args, s.key, coalesce(s.headers, '{}')
            || jsonb_build_object('schedule', jsonb_build_object('name', s.name, 'due', s.next_at)),
            s.priority, s.is_unique, s.tracked;
        v_count := v_count + 1;
        s.last_at := s.next_at;
        s.next_at := weir_internal.following(s,
            case s.missed when 'all' then s.next_at else greatest(s.next_at, v_late) end);
    end loop;
    update weir_internal.schedules
    set next_at = s.next_at, last_at = s.last_at, last_id = s.last_id, error = null
    where name = s.name;
    return v_count;
end
$$;
