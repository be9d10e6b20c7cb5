-- weir_internal.divert(p_queue, g, p_lane, p_lines, o)
-- Takes out of a record that is being claimed what must wait behind a parked message of its line, and parks it.
--
-- Parameters:
--   p_queue  queue number
--   g        the ordered group
--   p_lane   the lane
--   p_lines  its lines that are parked; null: they are too many to list
--   o        the record
-- Returns: what is left of the record; n is 0 when nothing is.
-- Raises: none
-- Locks: ROW EXCLUSIVE on `parked`.
create or replace function weir_internal.divert(
    p_queue int, g weir_internal.groups, p_lane int, p_lines text[], o weir.message_record)
returns weir.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues;
    v_parked weir_internal.later_row[];
begin
    if p_lines is null then
        execute format(
            'select array_agg(l.line) from (select distinct weir_internal.line_of(k, $3) as line from unnest($2) k) l
             where (select true from weir_internal.q%s_parked p
                    where p.group_id = $1 and p.line = l.line limit 1)', p_queue)
        into p_lines using g.id, coalesce(o.keys, '{null}'), p_lane;
        if p_lines is null then
            return o;
        end if;
    end if;
    -- "in" looks up a hash of the lines; "= any" and "&&" would compare each of them with each message
    if not (select bool_or(weir_internal.line_of(k, p_lane) in (select unnest(p_lines)))
            from unnest(coalesce(o.keys, '{null}')) k) then
        return o;
    end if;
    with messages as materialized ( -- so that it is looked up once
        select coalesce(u.id, o.first_id + u.i - 1) as id, u.i, u.key, u.payload, u.headers,
            weir_internal.line_of(u.key, p_lane) in (select unnest(p_lines)) as waits
        from unnest(o.ids, o.keys, o.payloads, o.headers) with ordinality as u (id, key, payload, headers, i)
    )
    select array_agg(row(null, null, m.id, null, 0, m.key, m.payload, m.headers, o.enqueued_at, null)
                     ::weir_internal.later_row order by m.i) filter (where m.waits),
        count(*) filter (where not m.waits), array_agg(m.id order by m.i) filter (where not m.waits),
        array_agg(m.key order by m.i) filter (where not m.waits),
        array_agg(m.payload order by m.i) filter (where not m.waits),
        array_agg(m.headers order by m.i) filter (where not m.waits)
    into v_parked, o.n, o.ids, o.keys, o.payloads, o.headers
    from messages m;
    if v_parked is not null then
        o.first_id := o.ids[1];
        select * into q from weir_internal.queues where no = p_queue;
        perform weir_internal.park(q, g, p_lane, v_parked, weir_internal.clock(), null, false, false);
    end if;
    return o;
end
$$;
