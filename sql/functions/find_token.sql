-- weir.find_token(digest)
-- What the holder of a token may do: for servers, whose role needs EXECUTE on it.
--
-- Parameters:
--   digest  SHA-256 of the token
-- Returns: the token's row as in list_tokens; none when there is no such token, it was revoked or has expired.
-- Raises: none
-- Locks: none
create or replace function weir.find_token(digest bytea)
returns table (token_name text, queues text[], verbs text[], expires_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select t.name, t.queues, t.verbs, t.expires_at from weir_internal.tokens t
    where t.digest = find_token.digest and (t.expires_at is null or t.expires_at > weir_internal.clock())
$$;
