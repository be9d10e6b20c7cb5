-- weir_internal.stripes_of(p_stripe), stripe_of(p_id, p_mask)
-- Stripe s + i is the i-th of s stripes of a lane, s a power of two; stripe 1 is all of it. Which of them a record
-- belongs to follows from its number; bits are folded, since records of several queues may alternate. Numbers of
-- records are multiples of 1,000, or, of a queue with a sequence of its own, follow each other.
--
-- Parameters:
--   p_stripe  a stripe
--   p_id      id of a record
--   p_mask    number of stripes, less one
-- Returns: how many stripes there are; the stripe of the record.
-- Raises: none
-- Locks: none
create or replace function weir_internal.stripes_of(p_stripe int)
returns int language sql immutable
as $$ select case when p_stripe < 2 then 1 when p_stripe < 4 then 2 when p_stripe < 8 then 4 when p_stripe < 16 then 8
    when p_stripe < 32 then 16 when p_stripe < 64 then 32 else 64 end $$;
create or replace function weir_internal.stripe_of(p_id bigint, p_mask int)
returns int language sql immutable
as $$ select p_mask + 1 + ((p_id # (p_id / 1000) # (p_id / 57000)) & p_mask)::int $$;
