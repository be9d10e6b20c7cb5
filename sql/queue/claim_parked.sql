-- claim_parked
-- Template of weir_internal.<q>_claim_parked: claims what is due of an ordered group's parked lines. A line whose head
-- was delivered before gives that alone; one whose head was not goes on with what follows it, so that a key that has
-- left its trouble behind catches up. What is asked for is shared out among the lines, one message at least for each.
--
-- Nothing is claimed of a line of which a claim holds the head; nor of one whose head came out of `later` while a claim
-- of its lane may hold messages of the same line. A group that was dropped or given limits since it was read is passed
-- over. The lines are walked by the index, head after head, because there may be much behind each; what is past the
-- group's TTL is not delivered, and deleted only when a head is.
--
-- Parameters:
--   g        the group
--   p_max    messages
--   p_lease  how long they are the caller's
-- Returns: one record, or none.
-- Raises: none
-- Locks: the advisory lock of the group's last lane, and of the lanes of what came out of `later`, tried.
insert into weir_internal.templates (name, body) values ('claim_parked', $template$
create or replace function weir_internal.{q}_claim_parked(g weir_internal.groups, p_max int, p_lease interval)
returns setof weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim;
    r weir_internal.log_record;
    h record;
    v_slot smallint := g.no * ({lanes} + 1) + {lanes};
    v_now timestamptz;
    v_start timestamptz := weir_internal.ttl_start(g);
    v_held int8multirange; -- what is claimed of the lines
    v_lines text[];
    v_alone boolean[];     -- of each line: only its head
    v_each int;            -- messages of a line at most
    v_expired boolean;
begin
    if not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot) then
        return;
    end if;
    if not exists (select from weir_internal.groups w
                   where w.queue_no = {no} and w.no = g.no and w.id = g.id and w.limited = g.limited) then
        return;
    end if;
    c := weir_internal.{q}_cursor(v_slot);
    select coalesce(range_agg(m), '{}'), coalesce(min(u.id), c.id) into v_held, c.low
    from weir_internal.{q}_unfinished(v_slot, c.low, 'infinity', null) u cross join lateral unnest(u.ids) m;
    v_now := weir_internal.clock();
    loop
        v_lines := '{}';
        v_alone := '{}';
        v_expired := false;
        for h in
            with recursive lines (line) as (
                (select p.line from weir_internal.{q}_parked p where p.group_id = g.id order by p.line limit 1)
                union all
                select (select p.line from weir_internal.{q}_parked p
                        where p.group_id = g.id and p.line > l.line order by p.line limit 1)
                from lines l where l.line is not null)
            select t.line, t.no, t.lane, t.attempts, t.enqueued_at, t.came_late
            from lines l
            cross join lateral (select * from weir_internal.{q}_parked p
                                where p.group_id = g.id and p.line = l.line order by p.no limit 1) t
            where t.holder is null and (t.due_at <= v_now or t.enqueued_at < v_start) and not t.id <@ v_held
        loop
            v_expired := h.enqueued_at < v_start;
            exit when v_expired;
            if h.came_late then
                continue when not pg_try_advisory_xact_lock(
                    weir_internal.lock_class({no}), g.no * ({lanes} + 1) + h.lane);
                continue when exists (
                    select from weir_internal.{q}_cursor((g.no * ({lanes} + 1) + h.lane)::smallint) k
                    cross join lateral weir_internal.{q}_unfinished(k.slot, k.low, 'infinity', null) u
                    where u.src is null or exists (
                        select from unnest(u.ids) i
                        cross join lateral (
                            select p.line from weir_internal.{q}_parked p
                            where p.group_id = g.id and p.id >= lower(i) and p.id < upper(i) offset 0) p
                        where p.line = h.line));
                continue when exists ( -- the claim was there until just now, and has left messages ahead
                    select from weir_internal.{q}_parked p
                    where p.group_id = g.id and p.line = h.line and p.no < h.no);
            end if;
            v_lines := v_lines || h.line;
            v_alone := v_alone || (h.came_late or h.attempts > 0);
            exit when cardinality(v_lines) >= p_max;
        end loop;
        exit when not v_expired;
        delete from weir_internal.{q}_parked
        where group_id = g.id and enqueued_at < v_start and holder is null and not id <@ v_held;
    end loop;
    if cardinality(v_lines) = 0 then
        return;
    end if;
    v_each := greatest(1, least(p_max, 268435456 / {message_bytes_max}) / cardinality(v_lines));
    select array_agg(m.id), array_agg(m.attempts), array_agg(m.key), array_agg(m.payload), array_agg(m.headers),
        array_agg(m.enqueued_at)
    into r.ids, r.attempts, r.keys, r.payloads, r.headers, r.enqueued_times
    from unnest(v_lines, v_alone) l (line, alone)
    cross join lateral (
        select w.*, row_number() over (order by w.no) as place,
            bool_and(w.attempts = 0 and w.due_at <= v_now and w.holder is null and not w.came_late
                and w.enqueued_at >= v_start and not w.id <@ v_held) over (order by w.no) as goes_on
        from (select * from weir_internal.{q}_parked p
              where p.group_id = g.id and p.line = l.line
              order by p.no limit case when l.alone then 1 else v_each end) w) m
    where m.place = 1 or m.goes_on;
    r.group_id := g.id;
    return next weir_internal.{q}_claim_record(c, r, p_lease);
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
