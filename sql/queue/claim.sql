-- claim
-- Template of weir_internal.<q>_claim: claims the next messages of one lane for a group, or, with p_max = 0, moves its
-- cursor over nothing (a checkpoint) so that rotation may pass. The caller holds the lane's lock.
--
-- A cursor reads intervals: what is visible in snapshot cur and not in prev, in the order (segment, txid, id). Within a
-- segment those are first the stragglers, transactions that were in progress in prev and are over in cur, then all
-- from xmax(prev): two ranges in index order, so that nothing read is walked again however long a transaction is open.
-- When an interval is exhausted, cur becomes prev and a new snapshot becomes cur. All is stored with the claim; an
-- empty lane writes nothing. What is too old or joins a line is passed over once: the cursor is stored behind it.
--
-- Parameters:
--   c        the lane's newest claim, its low and next_expiry possibly moved on
--   g        the group
--   p_lane   lane, 0 .. lanes - 1
--   p_max    messages, 0 = checkpoint
--   p_lease  how long the messages are the caller's
-- Returns: the records claimed, under one claim_id, as an array: cheaper than rows; none when the lane has nothing.
-- Raises: none
-- Locks: ACCESS SHARE on the segments it reads, ROW EXCLUSIVE on the open table of the claim log.
insert into weir_internal.templates (name, body) values ('claim', $template$
create or replace function weir_internal.{q}_claim(
    c weir_internal.claim, g weir_internal.groups, p_lane int, p_max int, p_lease interval)
returns weir.message_record[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    r weir_internal.log_record;
    o weir.message_record;
    v_out weir.message_record[] := '{}';
    v_rows refcursor;
    v_hi bigint;              -- the open segment
    v_fresh boolean := false; -- the interval ends now
    v_late xid8[];            -- stragglers of the interval
    v_xmax xid8;
    v_taken int := 0;
    v_skip int;
    v_spans int8range[] := '{}';
    v_ids bigint[];           -- what is in no span
    v_lines text[] := '{}';   -- ordered: the lane's lines that are parked; null: too many to list
    v_parked int := 0;        -- ordered: messages that had to join them
    v_rest boolean := false;  -- some of the record did, so that it is gone on with
    v_old int := 0;           -- records passed over that were sent before the group's beginning
begin
    if g.ordered then
        v_lines := weir_internal.{q}_parked_lines(g.id, p_lane);
    end if;
    if c.finished then
        v_fresh := true;
        c.prev := c.cur;
        c.cur := weir_internal.snapshot();
        c.seg := c.lo;
        c.txid := '0';
        c.pos := 0;
    end if;
    c.finished := false;
    loop
        v_hi := pg_sequence_last_value('weir_internal.{q}_log_ring');
        v_xmax := pg_snapshot_xmax(c.prev);
        v_late := '{}';
        if c.txid < v_xmax and pg_snapshot_xmin(c.prev) < v_xmax then
            v_late := array(select x from pg_snapshot_xip(c.prev) x
                            where x >= c.txid and pg_visible_in_snapshot(x, c.cur));
        end if;
        c.from_txid := c.txid;
        c.from_pos := c.pos;
        --{ 3
        {if} c.seg % 3 = {k} then
            open v_rows for
            (
                select l.*
                from unnest(v_late) x
                cross join lateral (
                    select * from weir_internal.{q}_log_{k} s
                    where s.lane = p_lane and s.txid = x and s.id > case when x = c.txid then c.pos else 0 end
                    order by s.id
                ) l
            )
            union all
            (
                select * from weir_internal.{q}_log_{k} s
                where s.lane = p_lane and
                        (s.txid, s.id) > (greatest(c.txid, v_xmax), case when c.txid < v_xmax then 0 else c.pos end)
                    and s.txid < pg_snapshot_xmax(c.cur) and pg_visible_in_snapshot(s.txid, c.cur)
                order by s.txid, s.id
            );
        --}
        end if;
        loop
            if not v_rest then
                fetch v_rows into r;
                exit when not found;
            end if;
            if r.enqueued_at < g.since then
                c.txid := r.txid;
                c.pos := r.id;
                v_old := v_old + 1;
                exit when v_old >= 10000;
                continue;
            end if;
            if o.claim_id is null then
                exit when p_max = 0; -- not idle: whoever consumes will move the cursor
                c.id := nextval('weir_internal.{q}_claim_ids') * 16384 + c.slot;
                o.claim_id := c.id;
                o.attempt := 1;
            end if;
            v_skip := 0;
            if r.txid = c.txid then -- the record may be claimed in part already
                if r.ids is null then
                    v_skip := greatest(0, c.pos - (r.id - r.n));
                elsif r.ids[1] <= c.pos then
                    v_skip := (select count(*) from unnest(r.ids) i where i <= c.pos);
                end if;
            end if;
            if v_skip > 0 or r.n > p_max - v_taken or r.attempts is not null then
                o := weir_internal.slice(r, c.id, v_skip, least(r.n - v_skip, p_max - v_taken));
            else -- all of it, which is what slice would say
                o.n := r.n;
                o.ids := r.ids;
                o.first_id := coalesce(r.ids[1], r.id - r.n + 1);
                o.keys := r.keys;
                o.headers := r.headers;
                o.payloads := r.payloads;
                o.enqueued_at := r.enqueued_at;
            end if;
            c.txid := r.txid;
            c.pos := coalesce(o.ids[o.n], o.first_id + o.n - 1);
            --{ {keyed}
            v_taken := v_taken + o.n * g.keyed::int;
            o.n := weir_internal.{q}_set_aside(g, o);
            --}
            if v_lines is null or cardinality(v_lines) > 0 then
                v_parked := v_parked + o.n;
                o := weir_internal.divert({no}, g, p_lane, v_lines, o);
                v_parked := v_parked - o.n;
                v_rest := c.pos < r.id;
            end if;
            if o.n > 0 then
                v_out := v_out || o;
                v_taken := v_taken + o.n;
                if o.ids is null then
                    v_spans := v_spans || int8range(o.first_id, o.first_id + o.n);
                else
                    v_ids := v_ids || o.ids;
                end if;
            end if;
            if v_taken >= p_max and c.seg = v_hi and c.pos = r.id then -- was it the last? Then nobody need come and see
                fetch v_rows into r;
                c.finished := not found;
            end if;
            exit when v_taken >= p_max or v_parked > 1000;
        end loop;
        close v_rows;
        if c.finished then
            c.lo := weir_internal.next_segment({no}, c.lo, v_hi, c.cur);
        end if;
        exit when v_taken >= p_max and (p_max > 0 or found) or v_parked > 1000 or v_old >= 10000;
        if c.seg < v_hi then
            exit when v_taken > 0; -- a claim stays within one segment
            c.seg := weir_internal.next_segment({no}, c.seg + 1, v_hi, c.prev);
            c.lo := least(c.seg, weir_internal.next_segment({no}, c.lo, v_hi, c.cur));
        else
            c.lo := weir_internal.next_segment({no}, c.lo, v_hi, c.cur);
            c.finished := v_taken > 0 or v_fresh;
            exit when c.finished;
            v_fresh := true;
            c.prev := c.cur;
            c.cur := weir_internal.snapshot();
            c.seg := c.lo;
        end if;
        c.txid := '0';
        c.pos := 0;
    end loop;
    if cardinality(v_out) = 0 then
        if p_max = 0 and c.finished or v_taken > 0 or v_parked > 0 or v_old > 0 then
            perform weir_internal.{q}_checkpoint(c);
        end if;
        return v_out;
    end if;
    c.n := v_taken;
    c.total := coalesce(c.total, 0) + v_taken;
    if cardinality(v_spans) = 1 and v_ids is null then
        c.ids := int8multirange(v_spans[1]);
    else
        c.ids := (select range_agg(m) from unnest(v_spans || array(select int8range(i, i + 1) from unnest(v_ids) i)) m);
    end if;
    c.src := null;
    c.attempt := 1;
    c.claimed_at := weir_internal.clock();
    c.deadline := c.claimed_at + p_lease;
    c.pid := pg_backend_pid();
    c.next_expiry := least(c.next_expiry, c.deadline);
    if (c.id >> 14) % 16 = 0 then
        c.low := weir_internal.{q}_low(c.slot, c.low, c.id);
    end if;
    c.id := weir_internal.{q}_put(c);
    return v_out;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
