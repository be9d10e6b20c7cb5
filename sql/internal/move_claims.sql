-- weir_internal.move_claims(q, p_seg)
-- Copies the messages of unfinished claims out of a segment into the open one. Each claim keeps its id, deadline and
-- attempt; a row of what = 1 tells where its messages are now. A claim that is being acknowledged at this moment is
-- left for the next time.
--
-- Parameters:
--   q      the queue
--   p_seg  the segment
-- Returns: nothing.
-- Raises: WR016
-- Locks: the advisory locks of the claims, tried; ROW EXCLUSIVE on the open segment and the claim log.
create or replace function weir_internal.move_claims(q weir_internal.queues, p_seg bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    u weir_internal.claim;
    g weir_internal.groups;
    v_parked boolean;
begin
    for g in select * from weir_internal.groups where queue_no = q.no loop
        for u in execute format(
            'select u.* from generate_series($1, $1 + $2) s
             cross join lateral weir_internal.q%1$s_cursor(s::smallint) k
             cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
             where coalesce((u.src).seg, u.seg) = $3', q.no)
            using g.no * (q.lanes + 1), q.lanes, p_seg
        loop
            if g.ordered and u.src is null then
                v_parked := weir_internal.park_claim(q, g, u, true);
            elsif pg_try_advisory_xact_lock(weir_internal.claim_lock(q.no, u.id)) then
                perform weir_internal.move_claim(q, u);
            end if;
        end loop;
    end loop;
end
$$;
