-- weir_internal.rotation_blocker(q)
-- What keeps the oldest closed segment of a queue's log from being given back, or else a table of its claim log.
--
-- Parameters:
--   q  the queue
-- Returns: one row: what it is, and of a session its process id, the age of its transaction and its last statement; all
-- null when nothing is in the way of the next maintain.
-- Raises: WR016
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_internal.rotation_blocker(
    q weir_internal.queues, out what text, out pid int, out age interval, out query text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    s weir_internal.segments;
    v_table text;
    v_ring bigint := pg_sequence_last_value(format('weir_internal.q%s_claims_ring', q.no));
    v_groups text;
begin
    select * into s from weir_internal.segments w
    where w.queue_no = q.no and w.freed_by is null
        and w.no < pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no))
    order by w.no limit 1;
    if s.no is null then
        v_table := format('weir_internal.q%s_claims_%s', q.no, ((v_ring + 1) / 2 + 1) % 2);
        if v_ring % 2 = 1 or pg_relation_size(v_table) > 0 then
            select * into what, pid, age, query from weir_internal.holder_of(v_table,
                case v_ring % 2 when 1 then 'share' else 'access exclusive' end);
        end if;
        return;
    end if;
    v_table := format('weir_internal.q%s_log_%s', q.no, s.no % 3);
    if s.sealed_by is null then
        select * into what, pid, age, query from weir_internal.holder_of(v_table, 'share');
        return;
    end if;
    execute format(
        'select string_agg(distinct g.name, '', '' order by g.name)
         from weir_internal.groups g cross join generate_series(0, $2 - 1) l
         cross join lateral weir_internal.q%s_cursor((g.no * ($2 + 1) + l)::smallint) k
         where g.queue_no = $1 and not weir_internal.has_passed(k, $3, $4)', q.no)
    into v_groups using q.no, q.lanes, s.no, s.sealed_by;
    what := 'not read by ' || v_groups;
    if what is null then
        execute format(
            'select string_agg(distinct g.name, '', '' order by g.name)
             from weir_internal.groups g cross join generate_series(0, $2) l
             cross join lateral weir_internal.q%1$s_cursor((g.no * ($2 + 1) + l)::smallint) k
             cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', 1) u
             where g.queue_no = $1 and coalesce((u.src).seg, u.seg) = $3', q.no)
        into v_groups using q.no, q.lanes, s.no;
        what := 'claims not finished by ' || v_groups;
    end if;
    if what is null and s.sealed_at > weir_internal.clock() - q.retention then
        what := 'kept by the retention of the queue';
    elsif what is null then
        select * into what, pid, age, query from weir_internal.holder_of(v_table, 'access exclusive');
    end if;
end
$$;
