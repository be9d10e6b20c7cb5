-- retry_ordered
-- Template of weir_internal.<q>_retry_ordered: gives messages of an ordered group back to their lines. Each takes along
-- what the claim holds of the same line besides (those were not worked at yet, so this delivery is not counted for
-- them), so that nothing of a line in trouble is delivered but its head.
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
insert into weir_internal.templates (name, body) values ('retry_ordered', $template$
create or replace function weir_internal.{q}_retry_ordered(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_rest int8multirange,
    p_messages weir_internal.later_row[], p_delay interval)
returns int8multirange
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
    v_lane int := c.slot % ({lanes} + 1);
    v_now timestamptz := weir_internal.clock();
    v_all weir_internal.later_row[];
    v_along int8multirange;
    k weir_internal.later_row;
    r int8range;
    v_line text;
    v_lines text[] := '{}';
    v_lanes int[] := '{}';
    v_home int;
begin
    if p_delay < interval '0' or p_delay > interval '10 years' then
        raise exception 'delay % is out of range', p_delay
            using errcode = 'WR006', hint = 'Give a delay of 0 to 10 years.';
    end if;
    p_messages := array(
        select row(null, least(v_now + coalesce(p_delay, weir_internal.backoff(g, m.attempts)),
                               case when g.ttl > interval '0' then m.enqueued_at + g.ttl end), -- to be dropped then
                   m.id, null, m.attempts, m.key, m.payload, m.headers, m.enqueued_at,
                   m.reason)::weir_internal.later_row
        from unnest(p_messages) m);
    if (c.src).seg is not null then -- they stand in their lines already
        foreach k in array p_messages loop -- one by one: a join may be planned as a walk over all that is parked
            update weir_internal.{q}_parked p
            set due_at = k.due_at, attempts = k.attempts, holder = null, came_late = false, reason = k.reason
            where p.group_id = g.id and p.id = k.id
            returning p.line, p.lane into v_line, v_home;
            v_lines := v_lines || v_line;
            v_lanes := v_lanes || v_home;
        end loop;
        select coalesce(range_agg(int8range(w.id, w.id + 1)), '{}') into v_along
        from unnest(p_rest) u
        cross join lateral ( -- by the id: by the lines it may be planned as a walk over all of them for each range
            select p.id, p.line from weir_internal.{q}_parked p
            where p.group_id = g.id and p.id >= lower(u) and p.id < upper(u) offset 0) w
        where (w.line in (select l from unnest(v_lines) l)) is true; -- so it is looked up by hash, whatever the plan
        for r in select unnest(v_along) loop -- what left its lane when it was held had this delivery counted then
            update weir_internal.{q}_parked p
            set attempts = p.attempts - (v_lane < {lanes})::int, holder = null, due_at = null
            where p.group_id = g.id and p.id >= lower(r) and p.id < upper(r) and p.holder = c.id;
        end loop;
        perform weir_internal.{q}_step_up(g.id, v_lines, v_lanes, '{}');
        return v_along;
    end if;
    select array_agg(w.row order by w.place),
        coalesce(range_agg(int8range(w.id, w.id + 1)) filter (where w.along), '{}')
    into v_all, v_along
    from (
        select coalesce(m.row, row(null, null, t.id, null, t.attempts + c.attempt - 1, t.key, t.payload, t.headers,
                                   t.enqueued_at, null)::weir_internal.later_row) as row,
            row_number() over () as place, t.id, m.id is null as along
        from weir_internal.{q}_claim_messages(c, c.ids) t
        left join lateral (select x.id, x as row from unnest(p_messages) x where x.id = t.id) m on true
        where m.id is not null
            or t.id <@ p_rest and weir_internal.line_of(t.key, v_lane) in (
                select weir_internal.line_of(x.key, v_lane) from unnest(p_messages) x)
    ) w;
    perform weir_internal.park(q, g, v_lane, v_all, v_now, null, false, true);
    return v_along;
end
$body$
$template$) on conflict (name) do update set body = excluded.body;
