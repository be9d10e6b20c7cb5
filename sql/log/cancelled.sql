-- weir_log.cancelled(p_queue, p_claims), weir_log.drop_cancelled(p, p_out, p_max, p_lease, p_now, p_limited),
-- weir_log.drop_moved(p_claim, p_ids)
-- cancelled: which jobs under some claims were cancelled since they were claimed. drop_cancelled: takes the jobs that
-- were cancelled out of what a receive is about to return, and finishes them; when all were, there may be others, which
-- it claims instead. What was moved is left out where it comes fresh out of its lane, which is where no record has
-- attempts; its copy elsewhere has some. drop_moved: takes what was moved out of the claim's row of its lane, which
-- nobody has seen yet. To finish it there would finish the copy too, when the same claim has that.
--
-- Parameters:
--   p_queue    name of the queue
--   p_claims   claims; those that are not held any more count for nothing
--   p          the queue and the group
--   p_out      what was claimed in this transaction
--   p_max      messages
--   p_lease    how long they are the caller's
--   p_now      time against which leases expire
--   p_limited  the group has limits, and its turn is the caller's
--   p_claim, p_ids  a claim made in this transaction, and messages that were moved
-- Returns: cancelled: one row a job; drop_cancelled: records without those jobs.
-- Raises: cancelled: WR001, WR019; drop_cancelled: WR016
-- Locks: cancelled: ACCESS SHARE on the claim log; drop_cancelled: as claim_all, and the advisory locks of the claims,
-- until the transaction ends.
create or replace function weir_log.cancelled(p_queue text, p_claims bigint[])
returns table (claim_id bigint, id bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    s record;
begin
    if p_claims is null or not exists (select from weir_internal.cancellations n where n.queue_no = q.no) then
        return;
    end if;
    foreach claim_id in array p_claims loop
        s := weir_log.claim_state(claim_id);
        return query
        select claim_id, n.id from weir_internal.cancellations n
        where n.queue_no = q.no and not n.moved and n.id <@ (s.ids - s.done - s.taken)
            and exists (select from weir_internal.groups g where g.no = (s.parts[1]).group_no and g.queue_no = q.no);
    end loop;
end
$$;
create or replace function weir_log.drop_cancelled(
    p weir_internal.peeked, p_out weir.message_record[], p_max int, p_lease interval, p_now timestamptz,
    p_limited boolean)
returns weir.message_record[]
language plpgsql
as $$
declare
    o weir.message_record;
    s record;
    v_out weir.message_record[];
    v_ids bigint[];
    v_moved bigint[];
    v_finished int8multirange;
    v_gone bigint[];
begin
    p.with_cancelled := true;
    loop
        v_out := '{}';
        foreach o in array p_out loop
            v_ids := coalesce(o.ids, array(select o.first_id + i from generate_series(0, o.n - 1) i));
            v_gone := array(
                select c.id from weir_internal.cancellations c
                where c.queue_no = (p.q).no and c.id = any(v_ids) and (o.attempts is null or not c.moved));
            if cardinality(v_gone) > 0 then
                v_moved := array(select n.id from weir_internal.cancellations n
                                 where n.queue_no = (p.q).no and n.id = any(v_gone) and n.moved);
                perform weir_log.drop_moved(o.claim_id, v_moved) where cardinality(v_moved) > 0;
                v_finished := (select range_agg(int8range(i, i, '[]')) from unnest(v_gone) i where i <> all(v_moved));
                if v_finished is not null then -- the claim is seen by nobody yet, and its lease may be none
                    s := weir_log.claim_state(o.claim_id);
                    perform weir_log.settle_messages(p.q, p.g, s.parts, v_finished, s.ids - s.done - s.taken, s.parked,
                        'ack', null, null);
                end if;
                select count(*), (array_agg(u.id order by u.i))[1], array_agg(u.id order by u.i),
                    case when o.attempts is not null then array_agg(u.attempt order by u.i) end,
                    case when o.keys is not null then array_agg(u.key order by u.i) end,
                    array_agg(u.payload order by u.i),
                    case when o.headers is not null then array_agg(u.headers order by u.i) end,
                    case when o.enqueued_times is not null then array_agg(u.enqueued_at order by u.i) end,
                    case when o.bodies is not null then array_agg(u.body order by u.i) end
                into o.n, o.first_id, o.ids, o.attempts, o.keys, o.payloads, o.headers, o.enqueued_times, o.bodies
                from unnest(v_ids, o.attempts, o.keys, o.payloads, o.headers, o.enqueued_times, o.bodies)
                    with ordinality u (id, attempt, key, payload, headers, enqueued_at, body, i)
                where u.id <> all(v_gone);
            end if;
            if o.n > 0 then
                v_out := array_append(v_out, o);
            end if;
        end loop;
        exit when cardinality(v_out) > 0 or cardinality(p_out) = 0;
        p_out := weir_log.claim_all(p, p_max, p_lease, p_now, p_limited);
    end loop;
    return v_out;
end
$$;
create or replace function weir_log.drop_moved(p_claim bigint, p_ids bigint[])
returns void
language plpgsql
as $$
declare
    v_ids int8multirange := (select range_agg(int8range(i, i, '[]')) from unnest(p_ids) i);
begin
    for k in 0 .. 1 loop
        execute format(
            'update weir_log.claims_%s c
             set ids = nullif(c.ids - $2, ''{}''), n = nullif(weir_internal.count_ids(c.ids - $2), 0),
                 claim = case when not c.ids <@ $2 then c.claim end,
                 deadline = case when not c.ids <@ $2 then c.deadline end
             where c.kind = ''c'' and c.claim = $1 and c.lane >= 0 and c.ids && $2', k)
        using p_claim, v_ids;
    end loop;
end
$$;
