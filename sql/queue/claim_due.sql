-- claim_due
-- Template of weir_internal.<q>_claim_due: claims what has become due in `later` for a group: delayed messages, which
-- every group claims for itself, and retries, which are for one group. They move into the log, into the lane after the
-- last, as a record that only this claim refers to.
--
-- The group's place in `later` is (snapshot, due_at, id): every row visible in the snapshot and due up to there is
-- claimed. A row that commits later than that place passed its due time was in progress in the snapshot, so it is found
-- by its transaction; see weir_internal.due_at for why no other can be late.
--
-- The group is read again under the lock: one that was dropped or given limits meanwhile is passed over.
--
-- Parameters:
--   g        the group
--   p_max    messages
--   p_lease  how long they are the caller's
-- Returns: one record, or none.
-- Raises: none
-- Locks: the advisory lock of the group's last lane; ROW EXCLUSIVE on the open segment and the claim log.
insert into weir_internal.templates (name, body) values ('claim_due', $template$
create or replace function weir_internal.{q}_claim_due(g weir_internal.groups, p_max int, p_lease interval)
returns setof weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_slot smallint := g.no * ({lanes} + 1) + {lanes};
    v_limited boolean := g.limited;
    c weir_internal.claim := weir_internal.{q}_cursor(v_slot);
    r weir_internal.log_record;
    l weir_internal.later_row;
    v_rows weir_internal.later_row[] := '{}';
    v_now timestamptz := weir_internal.clock();
    k weir_internal.claim;
    v_bound xid8;
    v_bytes bigint := 0;
    v_ttl_start timestamptz := weir_internal.ttl_start(g); -- what is for this group alone may be older than its since
begin
    if not weir_internal.{q}_is_due(g, c, v_now)
        or not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot) then
        return;
    end if;
    select * into g from weir_internal.groups where queue_no = {no} and no = g.no and id = g.id;
    if not found or g.limited <> v_limited then
        return;
    elsif g.ttl > interval '0' then
        g := weir_internal.apply_ttl(g);
    end if;
    c := weir_internal.{q}_cursor(v_slot);
    k := c;
    v_bound := pg_current_xact_id_if_assigned();
    c.cur := weir_internal.{q}_reach(v_now);
    c.txid := case when v_bound is null then pg_current_xact_id() end; -- later than all that had one in that snapshot
    for l in
        select * from weir_internal.{q}_late(g, k) t where pg_visible_in_snapshot(t.txid, c.cur)
    loop
        if cardinality(v_rows) < p_max and v_bytes < 33554432 then
            v_rows := array_append(v_rows, l);
            v_bytes := v_bytes + pg_column_size(l.payload);
        else -- too many for this call: due again, past the place this call will reach
            l.txid := pg_current_xact_id();
            l.due_at := greatest(v_now, c.due_at) + interval '1 microsecond';
            l.group_id := g.id;
            insert into weir_internal.{q}_later select l.*;
        end if;
    end loop;
    for l in
        select s.* from weir_internal.{q}_later s
        where (s.due_at, s.id) > (c.due_at, c.due_id) and s.due_at <= v_now
            and pg_visible_in_snapshot(s.txid, c.cur)
            and (s.group_id is null or s.group_id = g.id)
            and s.enqueued_at >= case when s.group_id is null then g.since else v_ttl_start end
            and (g.purged is null or not pg_visible_in_snapshot(s.txid, g.purged))
        order by s.due_at, s.id limit greatest(0, p_max - cardinality(v_rows))
    loop
        exit when v_bytes >= 33554432;
        v_rows := array_append(v_rows, l);
        v_bytes := v_bytes + pg_column_size(l.payload);
        c.due_at := l.due_at;
        c.due_id := l.id;
    end loop;
    if cardinality(v_rows) = 0 then
        return;
    end if;
    r := weir_internal.due_record(v_rows, g.id);
    if g.ordered then -- they take their turn
        perform weir_internal.park_record({no}, g, r);
        perform weir_internal.{q}_checkpoint(c);
    --{ {keyed}
    elsif g.keyed then
        r.n := cardinality(v_rows);
        perform weir_internal.{q}_set_aside(g, weir_internal.slice(r, null, 0, r.n));
        perform weir_internal.{q}_checkpoint(c);
    --}
    else
        return next weir_internal.{q}_claim_record(c, r, p_lease);
    end if;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
