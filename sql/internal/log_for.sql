-- weir_internal.log_for(p_log)
-- A log by its name, made when it is not there.
--
-- Parameters:
--   p_log  name of the log
-- Returns: its row.
-- Raises: WR005
-- Locks: as weir.create_log, when it is made.
create or replace function weir_internal.log_for(p_log text)
returns weir_internal.logs
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from weir_internal.logs where name = p_log) then
        perform weir.create_log(p_log);
    end if;
    return weir_internal.find_log(p_log);
end
$$;
