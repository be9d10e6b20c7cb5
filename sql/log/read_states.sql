-- weir_log.read_states(q, p_ids, p_txids, p_now), weir_log.base(), weir_log.is_unclaimed(g, p_base, f)
-- What weir_log.job_state_of reads. All are stable, so that they read in the snapshot of the statement that calls them.
--
-- Parameters:
--   q        the queue
--   p_ids    messages
--   p_txids  of each, the transaction that sent it
--   p_now    time against which leases expire
--   g        a group of the queue, its beginning moved on by the ttl
--   p_base   the claim log's base
--   f        where a message stands
-- Returns: read_states: the messages that a group has before it, perhaps several times, and where a live claim has one,
-- that claim. base: the claim log's base. is_unclaimed: whether the group has still to claim the message there.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.read_states(
    q weir_internal.queues, p_ids bigint[], p_txids xid8[], p_now timestamptz, out ids bigint[], out claims bigint[])
language plpgsql stable
as $$
declare
    v_base weir_internal.claim := weir_log.base();
    v_found weir_internal.found_record[] := weir_log.find_records(q, p_ids, p_txids);
begin
    select coalesce(array_agg(s.id), '{}'), coalesce(array_agg(case when s.state = 'claimed' then s.claim end), '{}')
    into ids, claims
    from weir_internal.groups g
    cross join lateral weir_log.group_states(q, weir_internal.apply_ttl(g), v_base, v_found, p_ids, p_now) s
    where g.queue_no = q.no;
end
$$;
create or replace function weir_log.base()
returns weir_internal.claim
language plpgsql stable
as $$
declare
    c weir_internal.claim;
begin
    select * into c from weir_log.claims_2 t
    where t.kind = 'c' and t.group_no = 0 and t.lane = 0 and t.stripe = 1 order by t.id desc limit 1;
    return c;
end
$$;
create or replace function weir_log.is_unclaimed(
    g weir_internal.groups, p_base weir_internal.claim, f weir_internal.found_record)
returns boolean
language plpgsql stable
as $$
declare
    c weir_internal.claim;
begin
    select * into c from weir_log.claims_2 t
    where t.kind = 'c' and t.group_no = g.no and t.lane = f.lane and t.stripe = 1 order by t.id desc limit 1;
    if c.kind is null then
        c := case when pg_visible_in_snapshot(g.start_by, p_base.cur) then p_base else g.start end;
    elsif c.width is not null then
        select * into c from weir_log.claims_2 t
        where t.kind = 'c' and t.group_no = g.no and t.lane = f.lane
            and t.stripe = weir_internal.stripe_of(f.record, c.width - 1)
        order by t.id desc limit 1;
    end if;
    return f.enqueued_at >= g.since and (f.group_no is null or f.group_no = g.no)
        and not pg_visible_in_snapshot(f.txid, c.prev)
        and not (pg_visible_in_snapshot(f.txid, c.cur)
            and (c.finished or f.seg < c.seg or f.seg = c.seg and (f.txid, f.id) <= (c.txid, c.pos)));
end
$$;
