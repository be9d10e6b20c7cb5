-- weir_internal.lock_tables(p_tables)
-- Locks the tables that an upgrade step is about to change, all or none, without holding up anybody for long: it tries
-- for 100 ms, lets go of what it has, and tries again. Once it has them, who uses queues waits until the install
-- commits.
--
-- Parameters:
--   p_tables  the tables
-- Returns: nothing.
-- Raises: WR021, after the session's lock_timeout or, where there is none, after 30 s
-- Locks: ACCESS EXCLUSIVE on the tables, until the transaction ends.
create or replace function weir_internal.lock_tables(p_tables regclass[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_timeout text := current_setting('lock_timeout');
    v_wait interval := coalesce(nullif(v_timeout::interval, '0'), '30 seconds');
    v_until timestamptz := clock_timestamp() + v_wait;
    v_list text := (select string_agg(t::text, ', ' order by t) from unnest(p_tables) t);
    v_blockers text;
begin
    loop
        begin
            perform set_config('lock_timeout', '100ms', true);
            execute format('lock table %s in access exclusive mode', v_list);
            perform set_config('lock_timeout', v_timeout, true);
            return;
        exception
            when lock_not_available or deadlock_detected then
                null;
        end;
        if clock_timestamp() >= v_until then
            select string_agg(distinct format('pid %s of %s since %s', b.pid, b.usename,
                coalesce(b.xact_start::text, '?')), ', ')
            into v_blockers
            from pg_locks l join pg_stat_activity b using (pid)
            where l.relation = any(p_tables) and l.pid <> pg_backend_pid()
                and l.database = (select oid from pg_database where datname = current_database());
            raise exception 'the tables to upgrade stayed in use for %', v_wait
                using errcode = 'WR021', detail = 'In use by ' || coalesce(v_blockers, 'nobody any more') || '.',
                hint = 'End or commit what holds them, then install again. A larger lock_timeout waits longer.';
        end if;
        perform pg_sleep(0.05 + random() / 10);
    end loop;
end
$$;
