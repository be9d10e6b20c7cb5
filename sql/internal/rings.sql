-- weir_internal.open_ring_table(p_ring), ring_phase(p_ring)
-- What a state of the ring of dedup keys, or of job events, means: see log/turn_ring.sql. Every step adds one, so that
-- no state comes twice.
--
-- Parameters:
--   p_ring  the state
-- Returns: open_ring_table: the number of the table that is written, 0 or 1. ring_phase: what the other one is:
--   0  just left: somebody may still write to it
--   1  sealed: what is in it is committed
--   2  forgotten: nobody reads it, and it may be truncated
-- Raises: none
-- Locks: none
create or replace function weir_internal.open_ring_table(p_ring bigint)
returns int language sql immutable
as $$ select (p_ring / 3 % 2)::int $$;
create or replace function weir_internal.ring_phase(p_ring bigint)
returns int language sql immutable
as $$ select (p_ring % 3)::int $$;
