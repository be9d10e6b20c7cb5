-- weir_internal.line_of(p_key, p_lane)
-- What an ordered group keeps in order: the messages of one key, or of one lane those without a key.
--
-- Parameters:
--   p_key   the key, or null
--   p_lane  the lane
-- Returns: the line's name.
-- Raises: none
-- Locks: none
create or replace function weir_internal.line_of(p_key text, p_lane int)
returns text
language sql immutable
as $$
    select coalesce('k' || p_key, 'l' || p_lane)
$$;
