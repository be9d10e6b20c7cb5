-- weir_internal.job_digest(p_kind, p_args, p_key)
-- What is kept of the key of a unique job: 128 bits of a SHA-256, other ones than weir_internal.digest_of keeps, so
-- that no dedup key is ever taken for one.
--
-- Parameters:
--   p_kind  the job's kind
--   p_args  its arguments
--   p_key   its key; null = kind and arguments together
-- Returns: the digest.
-- Raises: none
-- Locks: none
create or replace function weir_internal.job_digest(p_kind text, p_args jsonb, p_key text)
returns uuid
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select encode(substr(sha256(convert_to(
        coalesce('key:' || p_key, 'args:' || length(p_kind) || ':' || p_kind || p_args), 'UTF8')), 17, 16), 'hex')::uuid
$$;
