-- weir_internal.trim_lines(q)
-- Gives back the space of what has left the lines of keys: by TRUNCATE when nothing waits in them and nothing is
-- claimed that counts for a limit, else, once it is much, by deleting some of it.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did, 0 or 1.
-- Raises: WR016
-- Locks: the turns of the queue's groups with lines, tried; ACCESS EXCLUSIVE on `lines` and `turns`, tried for 20 ms,
-- when they are truncated, else ROW EXCLUSIVE. Until the transaction ends.
create or replace function weir_internal.trim_lines(q weir_internal.queues)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    g weir_internal.groups;
    v_lines text := format('weir_internal.q%s_lines', q.no);
    v_turns text := format('weir_internal.q%s_turns', q.no);
    v_idle boolean;
    v_all_idle boolean := true;
    v_trimmed int := 0;
begin
    if to_regclass(v_turns) is null or pg_relation_size(v_turns) = 0 then
        return 0;
    end if;
    for g in select * from weir_internal.groups w where w.queue_no = q.no and w.keyed order by w.no loop
        if not pg_try_advisory_xact_lock(weir_internal.lock_class(q.no), -2 - g.no) then
            return v_trimmed;
        end if;
        if v_all_idle then
            execute format(
                'select not weir_internal.q%1$s_has_turn($1) and case when $2 is null then true
                     else (select claims is null from weir_internal.q%1$s_tally($3, $4)) end', q.no)
            into v_idle using g, g.key_concurrency_max, g.no, weir_internal.clock();
            v_all_idle := v_idle;
        end if;
        if pg_relation_size(v_lines) + pg_relation_size(v_turns) > 8388608 then
            v_trimmed := greatest(v_trimmed, weir_internal.trim_group_lines(q, g));
        end if;
    end loop;
    if v_all_idle and weir_internal.lock_or_skip(v_lines, 'access exclusive')
        and weir_internal.lock_or_skip(v_turns, 'access exclusive') then
        execute format('truncate table %s, %s', v_lines, v_turns);
        return 1;
    end if;
    return v_trimmed;
end
$$;
