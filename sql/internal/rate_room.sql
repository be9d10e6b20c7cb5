-- weir_internal.rate_room(g, p_now), rate_step(g)
-- How many messages of a group its rate_max lets through now. It is a token bucket that holds rate_max and is filled
-- evenly within rate_period, kept as one number (the generic cell rate algorithm): the theoretical arrival time, which
-- each delivery moves on by rate_step and which may lie a rate_period ahead. That number is the sequence
-- g.rate_sequence: it does not roll back, so that a delivery counts whatever becomes of its transaction.
--
-- Parameters:
--   g      the group
--   p_now  the time
-- Returns: room, messages; arrival, the theoretical arrival time from which to go on, nanoseconds since 1970; step:
-- what
--   one delivery takes, nanoseconds, rounded up.
-- Raises: none
-- Locks: none
create or replace function weir_internal.rate_step(g weir_internal.groups)
returns bigint
language plpgsql immutable
as $$
begin
    return ceil(extract(epoch from g.rate_period)::numeric * 1000000000 / g.rate_max)::bigint;
end
$$;
create or replace function weir_internal.rate_room(
    g weir_internal.groups, p_now timestamptz, out room bigint, out arrival bigint)
language plpgsql
as $$
declare
    v_now bigint := weir_internal.to_micros(p_now) * 1000;
    v_step bigint := weir_internal.rate_step(g);
    v_depth bigint := v_step * g.rate_max;
begin
    arrival := pg_sequence_last_value(g.rate_sequence);
    -- never further ahead than that: the clock went back, or the period was longer
    arrival := greatest(v_now, least(arrival, v_now + v_depth));
    room := (v_depth - (arrival - v_now)) / v_step;
end
$$;
