-- weir_internal.release_parked(q, g, e)
-- Ends an expired claim whose messages stand in their lines: their heads may be delivered to others again; what is past
-- its attempts becomes a dead letter. The delivery counts for each of them: for what was held when the claim left its
-- lane it was counted then. The next of each line may have to step up.
--
-- Parameters:
--   q  the queue
--   g  the ordered group
--   e  the claim
-- Returns: whether it could be done: false while the claim is being acknowledged, or was extended.
-- Raises: none
-- Locks: the claim's advisory lock, tried; the rows of `parked`.
create or replace function weir_internal.release_parked(
    q weir_internal.queues, g weir_internal.groups, e weir_internal.claim)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    d weir_internal.claim;
    s record;
    v_dead weir_internal.later_row[];
    v_ids bigint[]; -- an array, because a join may be planned as a walk over all that is parked
    v_lines text[];
    v_lanes int[];
begin
    if not pg_try_advisory_xact_lock(weir_internal.claim_lock(q.no, e.id)) then
        return false;
    end if;
    select * into s from weir_internal.claim_state(q.no, e.id);
    if s.taken or (s.c).ids <@ s.done or (s.c).deadline > weir_internal.clock() then
        return false;
    end if;
    v_ids := array(select i from unnest((s.c).ids - s.done) r cross join generate_series(lower(r), upper(r) - 1) i);
    d.slot := e.slot;
    d.what := 2;
    d.id := e.id;
    d.n := weir_internal.count_ids((s.c).ids - s.done);
    d.finished := false;
    execute format('select weir_internal.q%s_put($1)', q.no) using d;
    execute format(
        'with ended as (
             update weir_internal.q%s_parked p
             set holder = null, reason = ''the lease expired'',
                 attempts = p.attempts + case when $4 or p.holder is null then $3 else 0 end
             where p.group_id = $1 and p.id = any($2)
             returning p.line, p.lane)
         select array_agg(line), array_agg(lane) from ended', q.no)
    into v_lines, v_lanes using g.id, v_ids, e.attempt, e.slot % (q.lanes + 1) = q.lanes;
    execute format(
        'with dead as (
             delete from weir_internal.q%s_parked
             where group_id = $1 and id = any($2) and attempts >= $3 returning *)
         select array_agg(row(null, null, id, null, attempts, key, payload, headers, enqueued_at, null)
                          ::weir_internal.later_row)
         from dead', q.no)
    into v_dead using g.id, v_ids, g.max_attempts;
    perform weir_internal.bury(q, g.no, v_dead, 'the lease expired');
    execute format('select weir_internal.q%s_step_up($1, $2, $3, ''{}'')', q.no) using g.id, v_lines, v_lanes;
    return true;
end
$$;
