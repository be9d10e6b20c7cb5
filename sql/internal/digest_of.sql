-- weir_internal.digest_of(p_key)
-- What is kept of a dedup key: the first 128 bits of its SHA-256, of one size whatever the key's. Two different keys of
-- one digest are not to be found, by chance or by intent.
--
-- Parameters:
--   p_key  the key
-- Returns: the digest.
-- Raises: none
-- Locks: none
create or replace function weir_internal.digest_of(p_key text)
returns uuid
language sql stable -- as convert_to is declared, so that it is inlined
as $$
    select encode(substr(sha256(convert_to(p_key, 'UTF8')), 1, 16), 'hex')::uuid
$$;
