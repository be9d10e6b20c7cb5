-- weir_internal.rotate_dedup(q)
-- One step of the ring of a queue's dedup keys and the keys of its unique jobs; the template remember says what they
-- are for, weir_internal.turn_ring how the ring turns.
--
-- Parameters:
--   q  the queue
-- Returns: how many things it did, 0 or 1.
-- Raises: none
-- Locks: SHARE, and later ACCESS EXCLUSIVE, on the table that was left, tried for 20 ms.
create or replace function weir_internal.rotate_dedup(q weir_internal.queues)
returns int
language sql
set search_path = pg_catalog, pg_temp
as $$
    select weir_internal.turn_ring(q.no, 'dedup', q.dedup_window)
$$;
