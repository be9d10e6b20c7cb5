-- weir_internal.texts_of(p_payloads, p_bodies)
-- The texts of payloads that came as json: as the log keeps them.
--
-- Parameters:
--   p_payloads  one a message, or null
--   p_bodies    one a message, or null
-- Returns: the texts; where there are bodies alone, as many nulls; null where there is neither.
-- Raises: none
-- Locks: none
create or replace function weir_internal.texts_of(p_payloads json[], p_bodies bytea[])
returns text[]
language sql immutable
as $$
    select case when p_payloads is null and p_bodies is not null
        then array_fill(null::text, array[cardinality(p_bodies)])
        else p_payloads::text[] end
$$;
