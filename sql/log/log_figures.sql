-- weir_log.log_figures(p_queue), weir_log.rotation_blocker(p_queue)
-- How the log stands, and what keeps its oldest closed segment from being given back, or else a table of its claim log.
--
-- Parameters:
--   p_queue  whose figures are asked for: of other queues no names are told; null = all
-- Returns: log_figures: the fields from `log` on, but for held_segments; rotation_blocker: what it is, and of a session
-- its process id, the age of its transaction and its last statement; all null when nothing is in the way of the next
-- maintain.
-- Raises: none
-- Locks: none
create or replace function weir_log.log_figures(p_queue text)
returns weir.group_stats
language plpgsql stable
as $$
declare
    o weir.group_stats;
    b record := weir_log.rotation_blocker(p_queue);
begin
    select l.name into o.log from weir_internal.logs l where l.schema_name = 'weir_log';
    select count(*) into o.segments from weir_log.segments s
    where s.freed_by is null and s.no <= pg_sequence_last_value('weir_log.log_ring');
    o.bytes := (select sum(pg_total_relation_size(c.oid)) from pg_class c
                where c.relnamespace = 'weir_log'::regnamespace and c.relkind = 'r');
    o.blocked_by := b.what;
    o.blocker_pid := b.pid;
    o.blocker_age := b.age;
    o.blocker_query := b.query;
    return o;
end
$$;
create or replace function weir_log.rotation_blocker(
    p_queue text, out what text, out pid int, out age interval, out query text)
language plpgsql stable
as $$
declare
    s record;
    v_table text;
    v_ring bigint := pg_sequence_last_value('weir_log.claims_ring');
begin
    select * into s from weir_log.segments w
    where w.no < pg_sequence_last_value('weir_log.log_ring')
        and (w.freed_by is null or weir_log.segment_table(w.no) < 3)
    order by w.no limit 1;
    v_table := 'weir_log.log_' || s.no % 3;
    if s.no is not null and s.sealed_by is null then
        select * into what, pid, age, query from weir_internal.holder_of(v_table, 'share');
    elsif s.no is not null and s.freed_by is null and s.holder_queue is not null then
        select case when q.name = p_queue or p_queue is null
                    then 'not finished by ' || coalesce('group "' || g.name || '" of ', '')
                        || 'queue "' || q.name || '"'
                    else 'not finished by another queue of the log' end
        into what
        from weir_internal.queues q left join weir_internal.groups g on g.no = s.holder_group
        where q.no = s.holder_queue;
    elsif s.no is not null and s.freed_by is null and s.sealed_at > weir_internal.clock()
            - (select l.retention from weir_internal.logs l where l.schema_name = 'weir_log') then
        what := 'kept by the retention of the log';
    else
        select h.what, h.pid, h.age, h.query into what, pid, age, query
        from generate_series(0, 2) k
        cross join lateral weir_internal.holder_of('weir_log.log_' || k, 'access exclusive') h
        where weir_log.is_stale(k) and h.what is not null limit 1;
    end if;
    if what is null then
        v_table := 'weir_log.claims_' || 1 - weir_internal.open_claims_table(v_ring);
        if v_ring % 2 = 1 or pg_relation_size(v_table) > 0 then
            select * into what, pid, age, query from weir_internal.holder_of(v_table,
                case v_ring % 2 when 1 then 'share' else 'access exclusive' end);
        end if;
    end if;
end
$$;
