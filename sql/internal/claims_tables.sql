-- weir_internal.open_claims_table(p_ring), read_claims_table(p_ring)
-- What a state of the claim log's ring means. 2k: table k % 2 alone is in use. 2k + 1: table (k + 1) % 2 is written,
-- both are read.
--
-- Parameters:
--   p_ring  the state
-- Returns: the number of the table that is written; of what is read: 0 or 1, or 2 for both.
-- Raises: none
-- Locks: none
create or replace function weir_internal.open_claims_table(p_ring bigint)
returns int language sql immutable
as $$ select ((p_ring + 1) / 2 % 2)::int $$;
create or replace function weir_internal.read_claims_table(p_ring bigint)
returns int language sql immutable
as $$ select case when p_ring % 2 = 1 then 2 else (p_ring / 2 % 2)::int end $$;
