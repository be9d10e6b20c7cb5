-- weir_log.cancelled(p_queue, p_claims), weir_log.drop_cancelled(p, p_out, p_max, p_lease, p_now, p_limited)
-- cancelled: which jobs under some claims were cancelled since they were claimed. drop_cancelled: takes the jobs that
-- were cancelled out of what a receive is about to return, and finishes them; when all were, there may be others, which
-- it claims instead.
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
        where n.queue_no = q.no and n.id <@ (s.ids - s.done - s.taken)
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
    v_out weir.message_record[];
    v_ids bigint[];
    v_gone bigint[];
begin
    p.with_cancelled := true;
    loop
        v_out := '{}';
        foreach o in array p_out loop
            v_ids := coalesce(o.ids, array(select o.first_id + i from generate_series(0, o.n - 1) i));
            v_gone := array(
                select c.id from weir_internal.cancellations c where c.queue_no = (p.q).no and c.id = any(v_ids));
            if cardinality(v_gone) > 0 then
                perform weir_log.settle((p.q).name, o.claim_id, v_gone, 'ack', null, null);
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
