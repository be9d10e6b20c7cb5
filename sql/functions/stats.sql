-- weir.stats(queue_name)
-- How each group of a queue stands.
--
-- Parameters:
--   queue_name  the queue; null = all that the caller consumes from or administers
-- Returns: one row a group, by queue and group; see weir.group_stats. The messages of the queues of a log are counted
-- at one moment, each once: a group of which waiting, claimed, delayed and parked are 0 has nothing to do. Numbers of
-- messages are exact when small: of each kind while there are less than 1,000 rows to read (a row of the log is what
-- one call sent into one lane, up to 1,000 messages). Beyond that they are estimates from 128 pages of the table, 3 to
-- 10 per cent off; `exact` is false, and the cost stays the same whatever the backlog. Rates are those of the last
-- messages: up to 200 records of a lane, and no older than a minute. What is told of the log is repeated in each row.
-- Raises: WR001, WR012, WR019
-- Locks: ACCESS SHARE on the tables of the log, until the transaction ends.
create or replace function weir.stats(queue_name text default null)
returns setof weir.group_stats
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_functions text[];
    v_argument text := '';
    v_function text;
    v_oid oid;
begin
    if not has_schema_privilege('weir_log', 'usage') then
        v_functions := case when stats.queue_name is null
            then array(select 'weir_gates.' || quote_ident('stats:' || v) from weir_internal.visible_queues() v)
            else array[weir_internal.gate('stats', stats.queue_name)] end;
    else
        v_argument := quote_nullable(stats.queue_name);
        v_functions := array(
            select l.schema_name || '.stats' from weir_internal.logs l
            where stats.queue_name is null or l.no = (weir_internal.find_queue(stats.queue_name)).log_no order by l.no);
    end if;
    foreach v_function in array v_functions loop
        v_oid := to_regproc(v_function);
        begin
            return query execute format('select * from %s(%s) s order by s.queue_name, s.group_name', v_function,
                v_argument);
        exception
            when sqlstate 'WR001' or undefined_function or undefined_table or internal_error or invalid_schema_name then
                if stats.queue_name is not null or not weir_internal.was_dropped(v_function, v_oid) then
                    raise;
                end if;
        end;
    end loop;
end
$$;
