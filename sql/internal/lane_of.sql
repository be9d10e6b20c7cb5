-- weir_internal.lane_of(p_key, p_lanes)
-- The lane of a key: the first four bytes of its SHA-256, which no release of PostgreSQL will change, modulo the number
-- of lanes.
--
-- Parameters:
--   p_key    the key
--   p_lanes  lanes of the queue
-- Returns: 0 .. p_lanes - 1
-- Raises: none
-- Locks: none
create or replace function weir_internal.lane_of(p_key text, p_lanes int)
returns int
language sql immutable strict
as $$
    select ((get_byte(h, 0)::bigint << 24 | get_byte(h, 1) << 16 | get_byte(h, 2) << 8 | get_byte(h, 3)) % p_lanes)::int
    from (select sha256(convert_to(p_key, 'UTF8')) as h) t
$$;
