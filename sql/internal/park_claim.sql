-- weir_internal.park_claim(q, g, u, p_held)
-- Takes a claim of an ordered group out of its lane, so that the lane's other keys go on: its messages stand in their
-- lines from now on. Held, its consumer keeps them as long as its lease runs, and the claim's messages are copied
-- within the log; otherwise the claim has ended, each line's head is delivered again, and what is past its attempts is
-- dead.
--
-- Parameters:
--   q       the queue
--   g       the group
--   u       the claim, with the ids that are left of it
--   p_held  whether the consumer keeps it
-- Returns: whether it is out of its lane: false while the claim is being acknowledged.
-- Raises: WR016
-- Locks: the claim's advisory lock, tried; ROW EXCLUSIVE on `parked`, the claim log and, when held, the open segment.
create or replace function weir_internal.park_claim(
    q weir_internal.queues, g weir_internal.groups, u weir_internal.claim, p_held boolean)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    d weir_internal.claim;
    s record;
    v_dead weir_internal.later_row[];
    v_live weir_internal.later_row[];
begin
    if not pg_try_advisory_xact_lock(weir_internal.claim_lock(q.no, u.id)) then
        return false;
    end if;
    select * into s from weir_internal.claim_state(q.no, u.id);
    u := s.c;
    u.ids := u.ids - s.done;
    if s.taken or isempty(u.ids) or (u.src).seg is not null then -- it ended, or rotation has parked it, meanwhile
        return true;
    end if;
    select array_agg(m.row) filter (where m.dead), array_agg(m.row) filter (where not m.dead)
    into v_dead, v_live
    from (
        select row(null, null, t.id, g.id, t.attempts + u.attempt, t.key, t.payload, t.headers,
                   t.enqueued_at, case when not p_held then 'the lease expired' end)::weir_internal.later_row as row,
            not p_held and t.attempts + u.attempt >= g.max_attempts as dead
        from weir_internal.claim_messages(q, u, u.ids) t
    ) m;
    if coalesce(cardinality(v_dead), 0) + coalesce(cardinality(v_live), 0) <> weir_internal.count_ids(u.ids) then
        perform weir_internal.fail_missing(q.name, u.id, u.ids);
    end if;
    perform weir_internal.bury(q, g.no, v_dead, 'the lease expired');
    perform weir_internal.park(q, g, (u.slot % (q.lanes + 1))::int, v_live, weir_internal.clock(),
        case when p_held then u.id end, false, true);
    if p_held then
        perform weir_internal.move_claim(q, u);
    else
        d.slot := u.slot;
        d.what := 2;
        d.id := u.id;
        d.n := weir_internal.count_ids(u.ids);
        d.finished := false;
        execute format('select weir_internal.q%s_put($1)', q.no) using d;
    end if;
    return true;
end
$$;
