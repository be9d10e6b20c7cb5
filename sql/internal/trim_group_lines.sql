-- weir_internal.trim_group_lines(q, g)
-- Deletes rows of lines of keys that nobody needs: of up to 1,000 turns that were taken, the messages of their lines
-- that have left and how those lines stood before; and what was recorded of up to 5,000 deliveries that are over. The
-- caller has the group's turn.
--
-- Parameters:
--   q  the queue
--   g  the group
-- Returns: how many things it did, 0 or 1.
-- Raises: WR016
-- Locks: ROW EXCLUSIVE on `lines` and `turns`.
create or replace function weir_internal.trim_group_lines(q weir_internal.queues, g weir_internal.groups)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
    v_served bigint;
    v_names text[];
    v_needed bigint; -- the oldest delivery that something on the tally is of
    v_count bigint;
    v_sum bigint := 0;
begin
    execute format(
        'select pos, no from weir_internal.q%s_turns
         where group_id = $1 and line = '''' order by no desc limit 1', q.no)
    into v_served, v_needed using g.id;
    execute format(
        'select array_agg(distinct t.line)
         from (select line from weir_internal.q%s_turns
               where group_id = $1 and what = 1 and no <= $2 order by no limit 1000) t', q.no)
    into v_names using g.id, v_served;
    execute format(
        'delete from weir_internal.q%1$s_lines where ctid = any(array(
             select m.ctid from unnest($2) u
             cross join lateral (select t.pos from weir_internal.q%1$s_turns t
                                 where t.group_id = $1 and t.line = u order by t.no desc limit 1) n
             cross join lateral (select e.ctid from weir_internal.q%1$s_lines e
                                 where e.group_id = $1 and e.line = u and e.no <= n.pos) m))', q.no)
    using g.id, v_names;
    get diagnostics v_count = row_count;
    v_sum := v_sum + v_count;
    execute format(
        'delete from weir_internal.q%1$s_turns where ctid = any(array(
             select m.ctid from unnest($2) u
             cross join lateral (select t.no, t.what from weir_internal.q%1$s_turns t
                                 where t.group_id = $1 and t.line = u order by t.no desc limit 1) n
             cross join lateral (select e.ctid from weir_internal.q%1$s_turns e
                                 where e.group_id = $1 and e.line = u and (e.no < n.no or n.what = 3)) m))', q.no)
    using g.id, v_names;
    get diagnostics v_count = row_count;
    v_sum := v_sum + v_count;
    if g.key_concurrency_max is not null then
        execute format(
            'select least($2, min(t.no))
             from unnest((weir_internal.q%1$s_cursor($3)).ids) r
             cross join lateral (select e.no from weir_internal.q%1$s_turns e
                                 where e.group_id = $1 and e.line = '''' and e.no <= lower(r) >> 14
                                 order by e.no desc limit 1) t', q.no)
        into v_needed using g.id, v_needed, (-2 - g.no)::smallint;
    end if;
    execute format(
        'delete from weir_internal.q%1$s_turns where ctid = any(array(
             select e.ctid from weir_internal.q%1$s_turns e
             where e.group_id = $1 and e.line = '''' and e.no < $2 order by e.no limit 5000))', q.no)
    using g.id, v_needed;
    get diagnostics v_count = row_count;
    return (v_sum + v_count > 0)::int;
end
$$;
