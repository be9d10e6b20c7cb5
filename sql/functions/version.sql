-- weir.version()
-- The release that is installed in this database.
--
-- Returns: a version such as 0.2.0.
-- Raises: none
-- Locks: none
create or replace function weir.version()
returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select version from weir_internal.installation
$$;
