-- weir_internal.lock_class(p_queue)
-- First of the two keys of a queue's advisory locks; the second is the slot of a lane, 16384 + a group's number for
-- settling, or -1 for administration and rotation. 22373 is 0x5765, 'We'.
--
-- Parameters:
--   p_queue  queue number, at most 65535
-- Returns: the key.
-- Raises: none
-- Locks: none
create or replace function weir_internal.lock_class(p_queue int)
returns int
language sql immutable
as $$
    select (22373 << 16) | p_queue
$$;
