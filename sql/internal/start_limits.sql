-- weir_internal.start_limits(q, o, g)
-- Makes a change of a group's limits take effect. The caller holds the group's turn and, when it had no limits, the
-- locks of its lanes.
--
-- Parameters:
--   q  the queue
--   o  the group as it was; all null: it is new
--   g  the group as it is stored now
-- Returns: nothing.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on the open table of the claim log, and as weir_internal.start_lines.
create or replace function weir_internal.start_limits(
    q weir_internal.queues, o weir_internal.groups, g weir_internal.groups)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
    v_name text;
    v_claims int8multirange;
begin
    foreach v_name in array array['held', 'rate_' || g.id] loop
        continue when not g.limited or v_name <> 'held' and g.rate_max is null;
        v_name := format('weir_internal.q%s_%s', q.no, v_name);
        continue when to_regclass(v_name) is not null;
        execute format('create sequence %s minvalue 0', v_name);
        perform setval(v_name, 0);
    end loop;
    if g.rate_max is not null then -- what another period left ahead of the time counts for one of the new at most
        perform setval(format('weir_internal.q%s_rate_%s', q.no, g.id), r.arrival)
        from weir_internal.rate_room(g, weir_internal.clock()) r;
    end if;
    perform weir_internal.start_lines(q, o, g);
    if o.no is not null and coalesce(g.concurrency_max, g.key_concurrency_max) is not null
        and coalesce(o.concurrency_max, o.key_concurrency_max) is null then
        execute format(
            'select coalesce(range_agg(int8range(u.id, u.id + 1)), ''{}'') from generate_series($1, $2) s
             cross join lateral weir_internal.q%1$s_cursor(s::smallint) k
             cross join lateral weir_internal.q%1$s_unfinished(k.slot, k.low, ''infinity'', null) u', q.no)
        into v_claims using g.no * (q.lanes + 1), g.no * (q.lanes + 1) + q.lanes;
        perform weir_internal.start_tally(q, g.no, v_claims);
    end if;
    if o.no is not null and g.limited and not o.limited then
        perform weir_internal.mark_lanes(q, g); -- who has read the group before must not claim without its turn
    end if;
    if (g.limited, g.keyed) <> (coalesce(o.limited, false), coalesce(o.keyed, false)) then
        perform weir_internal.generate_queue_functions(q);
    end if;
end
$$;
