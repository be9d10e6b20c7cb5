-- weir_log.read_states(q, p_ids, p_txids, p_now), weir_log.claimed_jobs(g, c, p_ids, p_now),
-- weir_log.is_unclaimed(g, p_base, f)
-- What weir_log.job_state_of reads. All are stable, so that they read in the snapshot of the statement that calls them.
--
-- Parameters:
--   q        the queue
--   p_ids    messages
--   p_txids  of each, the transaction that sent it
--   p_now    time against which leases expire
--   g        a group of the queue, its beginning moved on by the ttl
--   c        the newest row of a cursor
--   p_base   the claim log's base
--   f        where a message stands
-- Returns: read_states, claimed_jobs: the messages that a group has before it, perhaps several times, and where a live
-- claim has one, that claim. is_unclaimed: whether the group has still to claim the message there.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.read_states(
    q weir_internal.queues, p_ids bigint[], p_txids xid8[], p_now timestamptz, out ids bigint[], out claims bigint[])
language plpgsql stable
as $$
declare
    g weir_internal.groups;
    c weir_internal.claim;
    v_base weir_internal.claim;
    v_aside weir_internal.claim;
    v record;
    v_more bigint[];
    v_found weir_internal.found_record[] := weir_log.find_records(q, p_ids, p_txids);
begin
    ids := '{}';
    claims := '{}';
    select * into v_base from weir_log.claims_2 t
    where t.kind = 'c' and t.group_no = 0 and t.lane = 0 and t.stripe = 1 order by t.id desc limit 1;
    for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
        g := weir_internal.apply_ttl(g);
        v_aside := case when pg_visible_in_snapshot(g.start_by, v_base.cur) then v_base else g.start end;
        c := null;
        c.lane := 2147483647;
        loop
            select * into c from weir_log.claims_2 t
            where t.kind = 'c' and t.group_no = g.no and (t.lane, t.stripe) < (c.lane, coalesce(c.stripe, 0))
            order by t.lane desc, t.stripe desc, t.id desc limit 1;
            exit when c.kind is null;
            v := weir_log.claimed_jobs(g, c, p_ids, p_now);
            ids := ids || v.ids;
            claims := claims || v.claims;
            if c.lane = -1 and c.stripe = 1 then
                v_aside := c;
            end if;
        end loop;
        v_more := array(select f.id from unnest(v_found) f where weir_log.is_unclaimed(g, v_base, f))
            || array(select l.id from weir_log.delayed l
                     where l.id = any(p_ids) and l.queue_no = q.no and weir_log.is_for(g, l)
                         and not ((l.due_at, l.id) <= (v_aside.due_at, v_aside.due_id)
                             and pg_visible_in_snapshot(l.txid, v_aside.cur)))
            || array(select p.id from weir_log.parked p where p.group_no = g.no and p.id = any(p_ids))
            || weir_log.in_key_queues(g, p_ids);
        ids := ids || v_more;
        claims := claims || array_fill(null::bigint, array[cardinality(v_more)]);
    end loop;
end
$$;
create or replace function weir_log.claimed_jobs(
    g weir_internal.groups, c weir_internal.claim, p_ids bigint[], p_now timestamptz, out ids bigint[],
    out claims bigint[])
language plpgsql stable
as $$
declare
    o weir_internal.claim;
    d record;
    v_asked int8multirange := (select range_agg(int8range(i, i + 1)) from unnest(p_ids) i);
    v_open bigint[];
begin
    ids := '{}';
    claims := '{}';
    for o in
        select * from weir_log.claims_2 t
        where t.kind = 'c' and t.group_no = c.group_no and t.lane = c.lane and t.stripe = c.stripe and t.id >= c.low
            and t.claim is not null and t.ids && v_asked
    loop
        select range_agg(m) filter (where e.kind <> 'e') as done, max(e.deadline) as deadline,
            coalesce(bool_or(e.kind in ('D', 'x') and e.ids is null), false) as whole
        into d
        from weir_log.claims_2 e
        left join lateral unnest(
            case when e.kind = 'd' then int8multirange(int8range(e.id, e.id + 1)) else e.ids end) m on true
        where e.claim = o.claim and e.kind <> 'c';
        continue when d.whole;
        v_open := array(select i from unnest(p_ids) i where i <@ o.ids and not i <@ coalesce(d.done, '{}'));
        ids := ids || v_open;
        claims := claims || array_fill(
            case when greatest(o.deadline, d.deadline) > p_now then o.claim end, array[cardinality(v_open)]);
    end loop;
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
