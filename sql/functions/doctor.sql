-- weir.doctor()
-- Looks for what is wrong, or will be, and says what to do about it. A healthy database has no errors or warnings.
-- Whoever consumes from a queue or administers it is told about the queue; who administers one, and the role that
-- installed Weir, about the database and the server too. Of other sessions it tells what the owner of Weir may see.
--
-- Returns: one row a finding, the worst first, see weir.finding.
-- Raises: none
-- Locks: none
create or replace function weir.doctor()
returns setof weir.finding
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_findings weir.finding[] := '{}';
    v_found weir.finding[];
    v_queue text;
begin
    if has_function_privilege('weir_internal.examine_database()', 'execute') then
        v_findings := array(select f from weir_internal.examine_database() f);
    end if;
    for v_queue in select * from weir_internal.visible_queues() loop
        begin
            execute 'select array(select f from ' || weir_internal.queue_function('examine', v_queue) || '() f)'
            into v_found;
        exception
            when others then
                continue when v_queue not in (select * from weir_internal.visible_queues()); -- dropped meanwhile
                v_found := array[row('error', 'unreadable', v_queue, null, sqlstate,
                    'The queue cannot be looked at, and so not be used either: ' || sqlerrm,
                    'See what docs/reference/errors.md says about ' || sqlstate || '.')::weir.finding];
        end;
        v_findings := v_findings || v_found;
    end loop;
    return query
    select f.* from unnest(v_findings) f
    order by array_position(array['error', 'warning', 'info'], f.severity), f.finding, f.queue_name, f.group_name;
end
$$;
