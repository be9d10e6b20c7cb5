-- weir_internal.retry_ordered(q, g, c, p_rest, p_messages, p_delay)
-- Gives messages of an ordered group back to their lines. Out of a lane's claim each takes along what the claim holds
-- of the same line besides (those were not worked at yet, so this delivery is not counted for them), so that nothing of
-- a line in trouble is delivered but its head.
--
-- Parameters:
--   q           the queue
--   g           the group
--   c           the claim
--   p_rest      what else of it is not done
--   p_messages  the messages, attempts counting every delivery so far
--   p_delay     null = the group's backoff
-- Returns: the messages taken along.
-- Raises: WR006
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_internal.retry_ordered(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_rest int8multirange,
    p_messages weir_internal.later_row[], p_delay interval)
returns int8multirange
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_lane int := c.slot % (q.lanes + 1);
    v_now timestamptz := weir_internal.clock();
    v_all weir_internal.later_row[];
    v_along int8multirange;
begin
    if p_delay < interval '0' or p_delay > interval '10 years' then
        raise exception 'delay % is out of range', p_delay
            using errcode = 'WR006', hint = 'Give a delay of 0 to 10 years.';
    end if;
    p_messages := array(
        select row(null, v_now + coalesce(p_delay, weir_internal.backoff(g, m.attempts)), m.id, null, m.attempts, m.key,
                   m.payload, m.headers, m.enqueued_at, m.reason)::weir_internal.later_row
        from unnest(p_messages) m);
    if (c.src).seg is not null then -- they stand in their lines already
        execute format(
            'update weir_internal.q%s_parked p
             set due_at = m.due_at, attempts = m.attempts, holder = null, came_late = false, reason = m.reason
             from unnest($2) m where p.group_id = $1 and p.id = m.id', q.no)
        using g.id, p_messages;
        execute format(
            'with along as (
                 update weir_internal.q%1$s_parked p set attempts = p.attempts - 1, holder = null
                 from unnest($3) r
                 where p.group_id = $1 and p.id >= lower(r) and p.id < upper(r) and p.holder = $4
                     and p.line in (select m.line from weir_internal.q%1$s_parked m
                                    where m.group_id = $1 and m.id in (select x.id from unnest($2) x))
                 returning p.id)
             select coalesce(range_agg(int8range(id, id + 1)), ''{}'') from along', q.no)
        into v_along using g.id, p_messages, p_rest, c.id;
        return v_along;
    end if;
    select array_agg(w.row order by w.place),
        coalesce(range_agg(int8range(w.id, w.id + 1)) filter (where w.along), '{}')
    into v_all, v_along
    from (
        select coalesce(m.row, row(null, null, t.id, null, t.attempts + c.attempt - 1, t.key, t.payload, t.headers,
                                   t.enqueued_at, null)::weir_internal.later_row) as row,
            row_number() over () as place, t.id, m.id is null as along
        from weir_internal.claim_messages(q, c, c.ids) t
        left join lateral (select x.id, x as row from unnest(p_messages) x where x.id = t.id) m on true
        where m.id is not null
            or t.id <@ p_rest and weir_internal.line_of(t.key, v_lane) in (
                select weir_internal.line_of(x.key, v_lane) from unnest(p_messages) x)
    ) w;
    perform weir_internal.park(q, g, v_lane, v_all, v_now, null, false);
    return v_along;
end
$$;
