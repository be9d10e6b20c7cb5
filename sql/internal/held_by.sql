-- weir_internal.held_by(q, g)
-- Which of its limits holds a group back at this moment.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: concurrency, rate, key_concurrency (each key that has something waiting is at its limit), or null.
-- Raises: WR016
-- Locks: none
create or replace function weir_internal.held_by(q weir_internal.queues, g weir_internal.groups)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := weir_internal.clock();
    v_claimed bigint;
    v_waits boolean;
begin
    if g.concurrency_max is not null then
        execute format(
            'select sum(u.n) from weir_internal.q%s_tally($1, $2) t
             cross join lateral unnest(t.lefts, t.over) u (n, over) where not u.over', q.no)
        into v_claimed using g.no, v_now;
        if v_claimed >= g.concurrency_max then
            return 'concurrency';
        end if;
    end if;
    if g.rate_max is not null and (select room from weir_internal.rate_room(g, v_now)) <= 0 then
        return 'rate';
    end if;
    if g.key_concurrency_max is not null then
        execute format(
            'select exists (select from weir_internal.q%1$s_in_line m where m.group_id = ($1).id)
                 and not weir_internal.q%1$s_has_turn($1)', q.no)
        into v_waits using g;
        if v_waits then
            return 'key_concurrency';
        end if;
    end if;
    return null;
end
$$;
