-- weir_log.has_left(q, p_group), weir_log.holds(g)
-- Whether a group has something in this log, which its queue is leaving, that it has to be delivered before it goes on
-- with the other: what could be delivered now, and of a group with an order or limits also what is claimed or parked.
-- group_depth may have looked at the oldest and the newest claims alone, so where it found none, holds looks at all of
-- them: whether a group has something claimed, parked or in a key queue.
--
-- Parameters:
--   q        the queue
--   p_group  name of the group
--   g        the group
-- Returns: see above.
-- Raises: none
-- Locks: ACCESS SHARE on the tables that hold messages, until the transaction ends.
create or replace function weir_log.has_left(q weir_internal.queues, p_group text)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    g weir_internal.groups;
    s weir.group_stats;
    v_segments bigint[];
begin
    select * into g from weir_internal.groups w where w.queue_no = q.no and w.name = p_group;
    lock table weir_log.log_0, weir_log.log_1, weir_log.log_2, weir_log.rest, weir_log.claims_0, weir_log.claims_1,
        weir_log.delayed, weir_log.parked, weir_log.key_queues, weir_log.key_turns in access share mode;
    loop
        v_segments := weir_log.ring_segments();
        s := weir_log.group_depth(q, weir_internal.apply_ttl(g), v_segments);
        exit when not exists (
            select from unnest(v_segments, weir_log.ring_segments()) u (before, after) where u.after > u.before);
    end loop;
    return s.waiting > 0
        or (g.ordered or g.limited) and (s.claimed + s.parked > 0 or not s.exact and weir_log.holds(g));
end
$$;
create or replace function weir_log.holds(g weir_internal.groups)
returns boolean
language plpgsql stable
as $$
begin
    return exists (select from weir_log.open_claims(g, null, 0, 1))
        or exists (select from weir_log.parked p where p.group_no = g.no)
        or exists (select from weir_log.in_key_queues k where k.group_no = g.no);
end
$$;
