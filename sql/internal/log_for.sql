-- weir_internal.log_for(p_log)
-- A log by its name, made when it is not there.
--
-- Parameters:
--   p_log  name of the log
-- Returns: its row.
-- Raises: WR005, WR019
-- Locks: as weir.create_log, when it is made.
create or replace function weir_internal.log_for(p_log text)
returns weir_internal.logs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    l weir_internal.logs;
begin
    if not exists (select from weir_internal.logs where name = p_log) then
        perform weir.create_log(p_log);
    end if;
    l := weir_internal.find_log(p_log);
    if l.origin is distinct from weir_internal.origin_of(l.schema_name) then
        raise exception 'log "%" came here in a dump', p_log using errcode = 'WR019', hint = 'select weir.adopt()';
    end if;
    return l;
end
$$;
