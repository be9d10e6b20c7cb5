-- weir_internal.spread(p_id, p_lanes)
-- The lane of a message without a key, or of a batch of them. Any would do; that it follows from the id lets a receive
-- go to the lane of the newest message first, instead of looking into all lanes of a queue that is nearly empty.
--
-- Parameters:
--   p_id     the message, of a batch the last one
--   p_lanes  lanes to choose from
-- Returns: 0 .. p_lanes - 1
-- Raises: none
-- Locks: none
create or replace function weir_internal.spread(p_id bigint, p_lanes int)
returns int
language sql immutable
as $$
    select (hashint8(p_id) & 2147483647) % p_lanes
$$;
