-- weir_internal.state_of(q, g, p_id, p_records, p_tables)
-- How a group stands to a message that the queue still holds.
--
-- Parameters:
--   q          the queue
--   g          the group
--   p_id       the message
--   p_records  records of the log with the message in them; null = none
--   p_tables   of each, the table of the log's ring it stands in
-- Returns: waiting, claimed, delayed, parked, dead or done.
-- Raises: none
-- Locks: none
create or replace function weir_internal.state_of(
    q weir_internal.queues, g weir_internal.groups, p_id bigint, p_records weir_internal.log_record[], p_tables int[])
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    c weir_internal.claim;
    r weir_internal.log_record;
    v_seg bigint;
    v_found boolean;
begin
    execute format(
        'select exists (
             select from generate_series(0, $1) l
             cross join lateral weir_internal.q%1$s_cursor(($2 * ($1 + 1) + l)::smallint) k
             cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
             where u.ids @> $3)', q.no)
    into v_found using q.lanes, g.no, p_id;
    if v_found then
        return 'claimed';
    end if;
    execute format('select exists (select from weir_internal.q%s_parked where group_id = $1 and id = $2)', q.no)
    into v_found using g.id, p_id;
    if v_found or exists (select from weir_internal.lined_up(q.no, g.id, p_id)) then
        return 'parked';
    end if;
    if exists (select from weir_internal.dead_letters d where d.queue_no = q.no and d.group_no = g.no and d.id = p_id)
    then
        return 'dead';
    end if;
    execute format(
        'select exists (
             select from weir_internal.q%1$s_later l
             cross join lateral weir_internal.q%1$s_cursor(($1 * ($2 + 1) + $2)::smallint) k
             where l.id = $3 and (l.group_id is null and l.enqueued_at >= $6 or l.group_id = $4)
                 and not ((l.due_at, l.id) <= (k.due_at, k.due_id) and pg_visible_in_snapshot(l.txid, k.cur))
                 and ($5 is null or not pg_visible_in_snapshot(l.txid, $5)))', q.no)
    into v_found using g.no, q.lanes, p_id, g.id, g.purged, g.since;
    if v_found then
        return 'delayed';
    end if;
    for i in 1 .. coalesce(cardinality(p_records), 0) loop
        r := p_records[i];
        continue when r.lane = q.lanes or r.group_id <> g.id; -- found through claims only; for another group
        execute format('select * from weir_internal.q%s_cursor($1)', q.no)
        into c using (g.no * (q.lanes + 1) + r.lane)::smallint;
        v_seg := (select max(s.no) from weir_internal.segments s
                  where s.queue_no = q.no and s.no % 3 = p_tables[i]
                      and s.no <= pg_sequence_last_value(format('weir_internal.q%s_log_ring', q.no)));
        -- as in waiting_records
        if not pg_visible_in_snapshot(r.txid, c.prev)
            and not (pg_visible_in_snapshot(r.txid, c.cur) and
                (c.finished or v_seg < c.seg or v_seg = c.seg and (r.txid, p_id) <= (c.txid, c.pos))) then
            return 'waiting';
        end if;
    end loop;
    return 'done';
end
$$;
