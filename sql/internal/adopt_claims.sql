-- weir_internal.adopt_claims(q, g)
-- Ends the unfinished claims of a group in a queue that came in a dump. The delivery counts; a message that had its
-- last one gets another, because it was the restore that ended it. A message that is not in the log was finished while
-- the dump was taken: TRUNCATE, unlike the rest, is seen by older snapshots. What waits in lines of keys is put where
-- the claims' messages are.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: nothing.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked` and <q>_new_later.
create or replace function weir_internal.adopt_claims(q weir_internal.queues, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    u weir_internal.claim;
    v_messages weir_internal.later_row[];
begin
    if g.keyed then
        v_messages := array(
            select row(null, null, m.id, g.id, m.attempts, m.key, m.payload, m.headers, m.enqueued_at, null)
                ::weir_internal.later_row
            from weir_internal.lined_up(q.no, g.id, null) m order by m.no);
        perform weir_internal.adopt_messages(q, g, null, v_messages);
        perform weir_internal.clear_lines(q, g);
    end if;
    for u in execute format(
        'select u.* from generate_series(0, $2) l
         cross join lateral (select ($1 * ($2 + 1) + l)::smallint as slot) s
         left join lateral (select k.low from weir_internal.q%1$s_claims_2 k
                            where k.slot = s.slot and k.what = 0 order by k.id desc limit 1) k on true
         cross join lateral weir_internal.q%1$s_unfinished(s.slot, coalesce(k.low, 0), ''infinity'', null) u
         order by u.slot, u.id', q.no)
        using g.no, q.lanes
    loop
        v_messages := array(
            select row(null, null, m.id, g.id, m.attempts + u.attempt, m.key, m.payload, m.headers, m.enqueued_at, null)
                ::weir_internal.later_row
            from weir_internal.claim_messages(q, u, u.ids) m);
        if not g.ordered or u.src is null then
            perform weir_internal.adopt_messages(q, g, u.slot % (q.lanes + 1), v_messages);
        elsif u.slot % (q.lanes + 1) = q.lanes then -- heads of their lines, where they still stand
            execute format(
                'update weir_internal.q%s_parked p set attempts = m.attempts from unnest($2) m
                 where p.group_id = $1 and p.id = m.id', q.no)
            using g.id, v_messages;
        end if;
    end loop;
end
$$;
