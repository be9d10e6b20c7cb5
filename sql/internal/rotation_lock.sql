-- weir_internal.rotation_lock(p_log)
-- Key of the advisory lock under which the upkeep of a log is done; 0: of what belongs to no log.
--
-- Parameters:
--   p_log  number of the log
-- Returns: the key.
-- Raises: none
-- Locks: none
create or replace function weir_internal.rotation_lock(p_log int)
returns bigint language sql immutable
as $$ select (22392::bigint << 48) | p_log $$;
