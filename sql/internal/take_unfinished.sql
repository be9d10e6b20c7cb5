-- weir_internal.take_unfinished(q, g, p)
-- Drops what a group holds for itself (retries, parked messages, claims) as far as the log will give it again, or it
-- lies before the group's new place. What stays of the retries and the parked messages stays where it is. The caller
-- holds the locks of the group's lanes and claims, and the turn of one with lines of keys; it ends the claims.
--
-- Parameters:
--   q  the queue
--   g  the group
--   p  its new place
-- Returns: the messages under claims, or in lines of keys, that are to be delivered again and have no other place.
-- Raises: none
-- Locks: rows of `later` and of `parked`.
create or replace function weir_internal.take_unfinished(
    q weir_internal.queues, g weir_internal.groups, p weir_internal.place)
returns weir_internal.later_row[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_log int8multirange := case when p.cur is not null then '{}' else weir_internal.replayed_ids(q, p) end;
    v_stays text := 'not $2 and not t.id <@ $3 and ($4 is null or t.enqueued_at >= $4) and ($5 is null or t.id >= $5)';
    v_rest weir_internal.later_row[];
    v_lined weir_internal.later_row[];
begin
    execute format('delete from weir_internal.q%s_later t where t.group_id = $1 and not (%s)', q.no, v_stays)
    using g.id, p.cur is not null, v_log, p.since, p.id;
    if g.keyed then
        execute format(
            'select array_agg(row(null, null, t.id, null, t.attempts, t.key, t.payload, t.headers, t.enqueued_at, null)
                              ::weir_internal.later_row order by t.no)
             from weir_internal.q%s_in_line t where t.group_id = $1 and %s', q.no, v_stays)
        into v_lined using g.id, p.cur is not null, v_log, p.since, p.id;
        perform weir_internal.clear_lines(q, g);
    end if;
    if g.ordered then -- a claim's messages are in the log or among the parked ones
        execute format('delete from weir_internal.q%s_parked t where t.group_id = $1 and not (%s)', q.no, v_stays)
        using g.id, p.cur is not null, v_log, p.since, p.id;
        execute format(
            'update weir_internal.q%1$s_parked p set holder = null, due_at = coalesce(p.due_at, weir_internal.clock())
             where p.group_id = $1 and (p.holder is not null or p.due_at is null and not exists (
                 select from weir_internal.q%1$s_parked f
                 where f.group_id = $1 and f.line = p.line and f.no < p.no))', q.no)
        using g.id;
        return null;
    end if;
    execute format(
        'select array_agg(row(null, null, t.id, null, t.attempts + u.attempt, t.key, t.payload, t.headers,
                              t.enqueued_at, null)::weir_internal.later_row order by t.id)
         from generate_series($6, $7) s
         cross join lateral weir_internal.q%1$s_cursor(s::smallint) k
         cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u
         cross join lateral weir_internal.claim_messages($1, u, u.ids - $3) t
         where %2$s', q.no, v_stays)
    into v_rest
    using q, p.cur is not null, v_log, p.since, p.id, g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes;
    return v_lined || v_rest;
end
$$;
