-- weir.list_tokens()
-- The tokens, without what would let anybody in. Those that have expired are listed until they are revoked.
--
-- Returns: one row a token, by name.
-- Raises: none
-- Locks: none
create or replace function weir.list_tokens()
returns table (
    token_name text, queues text[], verbs text[], created_at timestamptz, created_by text, expires_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select name, queues, verbs, created_at, created_by, expires_at from weir_internal.tokens order by name
$$;
