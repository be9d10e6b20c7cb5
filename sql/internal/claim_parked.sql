-- weir_internal.claim_parked(p_queue, g, p_max, p_lease)
-- Claims the heads of an ordered group's parked lines that are due. A line's head is not claimed while a claim holds
-- it; one that came out of `later` not while a claim of its lane may hold messages of the same line. A group that was
-- dropped or given limits since it was read is passed over.
--
-- Parameters:
--   p_queue  queue number
--   g        the group
--   p_max    messages
--   p_lease  how long they are the caller's
-- Returns: one record, or none.
-- Raises: none
-- Locks: the advisory lock of the group's last lane, and of the lanes of what came out of `later`, tried.
create or replace function weir_internal.claim_parked(
    p_queue int, g weir_internal.groups, p_max int, p_lease interval)
returns setof weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    c weir_internal.claim;
    r weir_internal.log_record;
    h weir_internal.parked_row;
    o weir.message_record;
    v_slot smallint;
    v_held int8multirange;
    v_busy boolean;
begin
    select * into q from weir_internal.queues where no = p_queue;
    v_slot := g.no * (q.lanes + 1) + q.lanes;
    if not pg_try_advisory_xact_lock(weir_internal.lock_class(q.no), v_slot) then
        return;
    end if;
    if not exists (select from weir_internal.groups w
                   where w.queue_no = q.no and w.no = g.no and w.id = g.id and w.limited = g.limited) then
        return;
    end if;
    execute format('select * from weir_internal.q%s_cursor($1)', q.no) into c using v_slot;
    execute format(
        'select coalesce(range_agg(m), ''{}'') from weir_internal.q%s_unfinished($1, $2, ''infinity'', null) u
         cross join lateral unnest(u.ids) m', q.no)
    into v_held using v_slot, c.low;
    if g.ttl > interval '0' then
        execute format(
            'delete from weir_internal.q%s_parked
             where group_id = $1 and enqueued_at < $2 and holder is null and not id <@ $3', q.no)
        using g.id, weir_internal.ttl_start(g), v_held;
    end if;
    r.payloads := '{}';
    for h in execute format(
        'with recursive lines (line) as (
             (select p.line from weir_internal.q%1$s_parked p where p.group_id = $1 order by p.line limit 1)
             union all
             select (select p.line from weir_internal.q%1$s_parked p
                     where p.group_id = $1 and p.line > l.line order by p.line limit 1)
             from lines l where l.line is not null)
         select h.* from lines l
         cross join lateral (select * from weir_internal.q%1$s_parked p
                             where p.group_id = $1 and p.line = l.line order by p.no limit 1) h
         where h.holder is null and h.due_at <= $2 and not h.id <@ $3', q.no)
        using g.id, weir_internal.clock(), v_held
    loop
        if h.came_late then
            continue when not pg_try_advisory_xact_lock(
                weir_internal.lock_class(q.no), g.no * (q.lanes + 1) + h.lane);
            execute format(
                'select exists (select from weir_internal.q%1$s_cursor($1) k
                                cross join lateral weir_internal.q%1$s_unfinished($1, k.low, ''infinity'', null) u
                                where u.src is null or exists (
                                    select from unnest(u.ids) r join weir_internal.q%1$s_parked p
                                        on p.group_id = $2 and p.id >= lower(r) and p.id < upper(r)
                                    where p.line = $3))', q.no)
            into v_busy using (g.no * (q.lanes + 1) + h.lane)::smallint, g.id, h.line;
            continue when v_busy;
        end if;
        r := weir_internal.add_due(r, row(null, null, h.id, h.group_id, h.attempts, h.key, h.payload, h.headers,
                                          h.enqueued_at, null)::weir_internal.later_row, g.id);
        exit when cardinality(r.payloads) >= p_max;
    end loop;
    if cardinality(r.payloads) > 0 then
        execute format('select * from weir_internal.q%s_claim_record($1, $2, $3)', q.no) into o using c, r, p_lease;
        return next o;
    end if;
end
$$;
