-- claim_one
-- Template of weir_internal.<q>_claim_one: what <q>_claim does, for a receive of one message by a group without order.
-- It has few statements and few expressions, since PL/pgSQL prepares each of them anew in every transaction, and takes
-- the lane's lock only when it has found a message: the INSERT sees whether the cursor is still the one that was read.
-- All that is not plain is left to <q>_claim, and nothing is written then: expired claims, a lane whose group may have
-- changed, stragglers, a record with ids or attempts of its own, a turning ring.
--
-- Parameters:
--   g         the group
--   p_lanes   the lanes to look into; the first that has something is claimed in
--   p_lease   how long the message is the caller's
--   p_now     time against which leases expire
--   p_newest  number of the newest claim when the group was read
-- Returns: the record claimed; with n = 0 when there is nothing in those lanes; null when <q>_claim must see.
-- Raises: none
-- Locks: the advisory lock of a lane, until the transaction ends; ACCESS SHARE on segments, ROW EXCLUSIVE on the open
-- table of the claim log.
insert into weir_internal.templates (name, body) values ('claim_one', $template$
create or replace function weir_internal.{q}_claim_one(
    g weir_internal.groups, p_lanes int[], p_lease interval, p_now timestamptz, p_newest bigint)
returns weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    c weir_internal.claim;
    r weir_internal.log_record;
    v_lane int;
    v_slot smallint;
    v_ring bigint := pg_sequence_last_value('weir_internal.{q}_claims_ring');
    v_hi bigint;     -- the open segment
    v_cursor bigint; -- the claim that is the cursor
    v_more boolean;  -- there is a record after this one
    v_id bigint;     -- the first message of the record that is not claimed
    v_at int;        -- its place there
begin
    foreach v_lane in array p_lanes loop
        v_slot := g.no * ({lanes} + 1) + v_lane;
        --{ 2
        {if} v_ring % 2 = 0 and v_ring / 2 % 2 = {k} then
            select * into c from weir_internal.{q}_claims_{k}
            where slot = v_slot and what = 0 order by id desc limit 1;
        --}
        else
            return null;
        end if;
        if c.id is null or c.n = 0 or c.id >> 14 > p_newest or c.next_expiry <= p_now then
            return null;
        end if;
        v_cursor := c.id;
        if c.finished then
            c.prev := c.cur;
            c.cur := weir_internal.snapshot();
            c.seg := c.lo;
            c.txid := '0';
            c.pos := 0;
        end if;
        v_hi := pg_sequence_last_value('weir_internal.{q}_log_ring');
        --{ 3
        {if} c.seg % 3 = {k} then
            if c.txid < pg_snapshot_xmax(c.prev) and pg_snapshot_xmin(c.prev) < pg_snapshot_xmax(c.prev) then
                if exists (
                    select from pg_snapshot_xip(c.prev) x
                    cross join lateral (
                        select from weir_internal.{q}_log_{k} s where s.lane = v_lane and s.txid = x limit 1) t
                    where x >= c.txid and pg_visible_in_snapshot(x, c.cur)) then
                    return null;
                end if;
            end if;
            select s.txid, s.id, s.n, s.ids, s.attempts, s.keys, s.headers, s.payloads, s.enqueued_at,
                (select true from weir_internal.{q}_log_{k} t
                 where t.lane = v_lane and (t.txid, t.id) > (s.txid, s.id)
                     and t.txid < pg_snapshot_xmax(c.cur) and pg_visible_in_snapshot(t.txid, c.cur)
                 order by t.txid, t.id limit 1),
                greatest(s.id - s.n, case when s.txid = c.txid then c.pos end) + 1
            into r.txid, r.id, r.n, r.ids, r.attempts, r.keys, r.headers, r.payloads, r.enqueued_at, v_more, v_id
            from weir_internal.{q}_log_{k} s
            where s.lane = v_lane and (s.txid, s.id) > (greatest(c.txid, pg_snapshot_xmax(c.prev)),
                    case when c.txid < pg_snapshot_xmax(c.prev) then 0 else c.pos end)
                and s.txid < pg_snapshot_xmax(c.cur) and pg_visible_in_snapshot(s.txid, c.cur)
            order by s.txid, s.id limit 1;
        --}
        end if;
        exit when found;
    end loop;
    if r.id is null then
        return row(null, 0, null, null, null, null, null, null, null, null, null)::weir.message_record;
    end if;
    if r.ids is not null or r.attempts is not null or r.enqueued_at < g.since
        or not pg_try_advisory_xact_lock(weir_internal.lock_class({no}), v_slot) then
        return null;
    end if;
    v_at := r.n - (r.id - v_id);
    c.id := nextval('weir_internal.{q}_claim_ids') * 16384 + v_slot;
    c.claimed_at := weir_internal.clock();
    c.finished := v_more is null and c.seg = v_hi and v_id = r.id;
    if c.finished and c.lo is distinct from v_hi then
        c.lo := weir_internal.next_segment({no}, c.lo, v_hi, c.cur);
    end if;
    if (c.id >> 14) % 16 = 0 then
        c.low := weir_internal.{q}_low(v_slot, c.low, c.id);
    end if;
    --{ 2
    {if} v_ring / 2 % 2 = {k} then
        insert into weir_internal.{q}_claims_{k} (slot, what, id, prev, cur, lo, seg, from_txid, from_pos, txid, pos,
            finished, due_at, due_id, ids, n, attempt, claimed_at, deadline, low, next_expiry, total, pid)
        select v_slot, 0, c.id, c.prev, c.cur, c.lo, c.seg, c.txid, c.pos, r.txid, v_id,
            c.finished, c.due_at, c.due_id, int8multirange(int8range(v_id, v_id + 1)), 1, 1, c.claimed_at,
            c.claimed_at + p_lease, c.low, least(c.next_expiry, c.claimed_at + p_lease), coalesce(c.total, 0) + 1,
            pg_backend_pid()
        where v_cursor = (select id from weir_internal.{q}_claims_{k}
                          where slot = v_slot and what = 0 order by id desc limit 1)
            and pg_sequence_last_value('weir_internal.{q}_claims_ring') = v_ring;
    --}
    end if;
    if not found then
        return null;
    end if;
    return row(c.id, 1, v_id, null, 1, null, r.keys[v_at:v_at], r.payloads[v_at:v_at], r.headers[v_at:v_at],
        r.enqueued_at, null)::weir.message_record;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
