-- claim_parked
-- Template of weir_internal.<q>_claim_parked: claims what is due of an ordered group's parked lines. A line whose head
-- was delivered before gives that alone; one whose head was not goes on with what follows it, so that a key that has
-- left its trouble behind catches up. What is asked for is shared out among the lines, one message at least for each;
-- those that have been due for longest come first.
--
-- Nothing is claimed of a line of which a claim holds the head; nor of one whose head came out of `later` while a claim
-- of its lane may hold messages of the same line. A group that was dropped or given limits since it was read is passed
-- over. What is past the group's TTL is not delivered, and deleted only when a head is that is due.
--
-- The index of what is due has heads, and few others: what waits for its turn has no time, what is claimed a holder.
-- Before that, the notes of <q>_step_up are seen to, under the locks of their lanes.
--
-- Parameters:
--   g        the group
--   p_max    messages
--   p_lease  how long they are the caller's
-- Returns: one record, or none.
-- Raises: none
-- Locks: the advisory lock of the group's last lane, and of the lanes of what came out of `later` and of notes, tried;
-- the rows claimed.
insert into weir_internal.templates (name, body) values ('claim_parked', $template$
create or replace function weir_internal.{q}_claim_parked(g weir_internal.groups, p_max int, p_lease interval)
returns setof weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim;
    r weir_internal.log_record;
    o weir.message_record;
    h record;
    v_slot smallint := g.no * ({lanes} + 1) + {lanes};
    v_now timestamptz;
    v_start timestamptz := weir_internal.ttl_start(g);
    v_lines text[];
    v_alone boolean[];     -- of each line: only its head
    v_lanes int[];         -- of the lines that lost what is past the TTL
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
    v_now := weir_internal.clock();
    for h in
        select p.line, p.lane from weir_internal.{q}_parked p
        where p.group_id = -g.id and p.due_at <= v_now and p.holder is null order by p.due_at limit 1000
    loop
        continue when not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), g.no * ({lanes} + 1) + h.lane);
        delete from weir_internal.{q}_parked p where p.group_id = -g.id and p.line = h.line;
        update weir_internal.{q}_parked p set due_at = v_now
        where p.group_id = g.id and p.line = h.line and p.due_at is null and p.holder is null
            and p.no = (select f.no from weir_internal.{q}_parked f
                        where f.group_id = g.id and f.line = h.line order by f.no limit 1);
    end loop;
    loop
        v_lines := '{}';
        v_alone := '{}';
        v_expired := false;
        for h in
            select t.line, t.no, t.lane, t.attempts, t.enqueued_at, t.came_late
            from weir_internal.{q}_parked t
            where t.group_id = g.id and t.due_at <= v_now and t.holder is null
                and (select p.no from weir_internal.{q}_parked p
                     where p.group_id = g.id and p.line = t.line order by p.no limit 1) = t.no
            order by t.due_at, t.no
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
        with gone as (
            delete from weir_internal.{q}_parked p
            where p.ctid = any(array(
                select w.ctid from weir_internal.{q}_parked w
                where w.group_id = g.id and w.enqueued_at < v_start and w.holder is null for update skip locked))
            returning p.line, p.lane)
        select array_agg(line), array_agg(lane) into v_lines, v_lanes from gone;
        exit when v_lines is null;
        perform weir_internal.{q}_step_up(g.id, v_lines, v_lanes, '{}');
    end loop;
    if coalesce(cardinality(v_lines), 0) = 0 then
        return;
    end if;
    v_each := greatest(1, least(p_max, 268435456 / {message_bytes_max}) / cardinality(v_lines));
    select array_agg(m.id), array_agg(m.attempts), array_agg(m.key), array_agg(m.payload), array_agg(m.headers),
        array_agg(m.enqueued_at)
    into r.ids, r.attempts, r.keys, r.payloads, r.headers, r.enqueued_times
    from unnest(v_lines, v_alone) l (line, alone)
    cross join lateral (
        select w.*, row_number() over (order by w.no) as place,
            bool_and(w.attempts = 0 and coalesce(w.due_at, v_now) <= v_now and w.holder is null and not w.came_late
                and w.enqueued_at >= v_start) over (order by w.no) as goes_on
        from (select * from weir_internal.{q}_parked p
              where p.group_id = g.id and p.line = l.line
              order by p.no limit case when l.alone then 1 else v_each end) w) m
    where m.place = 1 or m.goes_on;
    r.group_id := g.id;
    o := weir_internal.{q}_claim_record(c, r, p_lease);
    update weir_internal.{q}_parked p set holder = o.claim_id where p.group_id = g.id and p.id = any(r.ids);
    return next o;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
