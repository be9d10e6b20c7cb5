-- weir.doctor()
-- Looks for what is wrong, or will be, and says what to do about it. A healthy database has no errors or warnings.
-- Whoever consumes from a queue or administers it is told about the queue; who administers one, and the role that
-- installed Weir, about the database, the logs and the server too. Of other sessions it tells what the owner of Weir
-- may see.
--
-- Returns: one row a finding, the worst first, see weir.finding.
-- Raises: none
-- Locks: as weir.stats.
create or replace function weir.doctor()
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_findings weir.finding[] := '{}';
    v_found weir.finding[];
    v_functions text[];
    v_function text;
    v_oid oid;
    v_argument text := '';
begin
    if has_function_privilege('weir_internal.examine_database()', 'execute') then
        v_findings := array(select f from weir_internal.examine_database() f);
    end if;
    if has_schema_privilege('weir_log', 'usage') then
        v_functions := array(select l.schema_name || '.examine' from weir_internal.logs l order by l.no);
        v_argument := 'null';
    else
        v_functions := array(
            select 'weir_gates.' || quote_ident('examine:' || v) from weir_internal.visible_queues() v);
    end if;
    foreach v_function in array v_functions loop
        v_oid := to_regproc(v_function);
        begin
            execute format('select array(select f from %s(%s) f)', v_function, v_argument) into v_found;
        exception
            when others then
                continue when weir_internal.was_dropped(v_function, v_oid);
                v_found := array[row('error', 'unreadable',
                    nullif(trim('"' from split_part(v_function, ':', 2)), ''), null, sqlstate,
                    'The queue, or one of the log, cannot be looked at, and so not be used either: ' || sqlerrm,
                    'See what docs/reference/errors.md says about ' || sqlstate || '.')::weir.finding];
        end;
        v_findings := v_findings || v_found;
    end loop;
    return query
    select f.* from unnest(v_findings) f
    order by array_position(array['error', 'warning', 'info'], f.severity), f.finding, f.queue_name, f.group_name;
end
$$;
