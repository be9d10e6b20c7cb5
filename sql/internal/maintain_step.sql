-- weir_internal.maintain_step(step_name, log_name)
-- One step of weir.maintain. Who calls it ends the transaction at once: a step may take locks for which others wait.
--
-- Parameters:
--   step_name  which
--   log_name   of which log; null = the step belongs to none
-- Returns: how much it did; 0 also where somebody else does it at this moment, or where it failed, which a warning
-- tells.
-- Raises: WR006, WR012, WR019
-- Locks: an advisory lock on the log's upkeep, tried; the step's.
create or replace function weir_internal.maintain_step(step_name text, log_name text default null)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    s record;
    l weir_internal.logs;
    v_done int;
begin
    perform weir_internal.check_isolation('maintain');
    select * into s from weir_internal.maintenance_steps() m where m.step_name = maintain_step.step_name;
    select * into l from weir_internal.logs w where w.name = log_name;
    if s.step_name is null or s.per_log <> (l.no is not null) then
        raise exception 'there is no step "%" of log %', step_name, coalesce('"' || log_name || '"', 'null')
            using errcode = 'WR006', hint = 'select * from weir.maintenance() tells the steps.';
    elsif l.no is not null and l.origin is distinct from weir_internal.origin_of(l.schema_name) then
        raise exception 'log "%" came here in a dump', log_name
            using errcode = 'WR019', hint = 'select weir.adopt()';
    elsif not pg_try_advisory_xact_lock(weir_internal.rotation_lock(coalesce(l.no, 0))) then
        return 0;
    end if;
    begin
        execute 'select ' || replace(s.call, '{log}', coalesce(l.schema_name, '')) || ' from (select $1.*) l'
        into v_done using l;
    exception
        when others then
            raise warning 'maintain: step "%" of log %: % (%)', step_name, coalesce('"' || log_name || '"', 'null'),
                sqlerrm, sqlstate;
    end;
    return coalesce(v_done, 0);
end
$$;
