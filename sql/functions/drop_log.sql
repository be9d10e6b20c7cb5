-- weir.drop_log(log_name)
-- Drops a log that no queue uses.
--
-- Parameters:
--   log_name  the log; not main
-- Returns: nothing.
-- Raises: WR006
-- Locks: an advisory lock on the name, the log's row, and ACCESS EXCLUSIVE on its relations, until the transaction
-- ends.
create or replace function weir.drop_log(log_name text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    l weir_internal.logs := weir_internal.find_log(log_name);
    v_queues text;
begin
    if log_name = 'main' then
        raise exception 'the log "main" cannot be dropped'
            using errcode = 'WR006', hint = 'It goes with the engine. Drop other logs.';
    end if;
    perform pg_advisory_xact_lock(weir_internal.name_lock('log ' || log_name));
    perform pg_advisory_xact_lock(weir_internal.rotation_lock(l.no));
    -- whoever creates a queue in it comes before or after
    perform from weir_internal.logs w where w.no = l.no for update;
    select string_agg(format('"%s"', q.name), ', ' order by q.name) into v_queues
    from (select w.name from weir_internal.queues w where l.no in (w.log_no, w.moving_from)
          order by w.name limit 10) q;
    if v_queues is not null then
        raise exception 'queues are in the log "%": %', log_name, v_queues
            using errcode = 'WR006', hint = 'Drop these queues first, or move them.';
    end if;
    delete from weir_internal.logs w where w.no = l.no;
    execute format('drop schema %s cascade', l.schema_name);
end
$$;
