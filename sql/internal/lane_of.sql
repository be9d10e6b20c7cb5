-- weir_internal.lane_of(p_key, p_lanes)
-- The lane of a key: the first four bytes of its SHA-256, which no release of PostgreSQL will change, modulo the number
-- of lanes. As a number they are seven bytes, with two zeros behind the first and one behind the second, and stay so:
-- queues hold messages in the lanes that it gives. Where the number of lanes divides 256 the last byte is enough. It is
-- one expression, as stable as convert_to is, and not strict, so that PostgreSQL puts it in place of a call, which
-- takes many times as long.
--
-- Parameters:
--   p_key    the key
--   p_lanes  lanes of the queue
-- Returns: 0 .. p_lanes - 1; null without a key
-- Raises: none
-- Locks: none
create or replace function weir_internal.lane_of(p_key text, p_lanes int)
returns int
language sql stable
as $$
    select case when 256 % p_lanes = 0 then get_byte(sha256(convert_to(p_key, 'UTF8')), 3) % p_lanes
        else (('x' || encode(
            overlay(overlay(substr(sha256(convert_to(p_key, 'UTF8')), 1, 4) placing E'\\x0000' from 2 for 0)
                placing E'\\x00' from 5 for 0), 'hex'))::bit(56)::bigint % p_lanes)::int end
$$;
