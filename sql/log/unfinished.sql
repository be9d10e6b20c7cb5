-- weir_log.unfinished(g, p_lane, p_stripe, p_low, p_until, p_max), weir_log.advance_low(c, p_next)
-- unfinished: the claims of a cursor that still have messages to answer for, expired or not. advance_low: moves the low
-- watermark over finished ones; it stops at the first unfinished, so that each claim is passed once.
--
-- Parameters:
--   g, p_lane, p_stripe  the cursor
--   p_low    its low watermark: nothing below it is looked at
--   p_until  only claims whose deadline is not later; 'infinity' = all
--   p_max    at most so many; null = all
--   c        the cursor
--   p_next   the mark when nothing is unfinished
--   p_group  the group
-- Returns: unfinished: the claims' rows, oldest first, with ids and n reduced to what is not done yet and the deadline
-- as
--   extended; advance_low: the new mark.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.unfinished(
    p_group int, p_lane int, p_stripe int, p_low bigint, p_until timestamptz, p_max int)
returns setof weir_internal.claim
language plpgsql
as $$
declare
    v_out weir_internal.claim[];
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        case weir_internal.read_claims_table(v_ring)
            when 0 then v_out := weir_log.unfinished_0(p_group, p_lane, p_stripe, p_low, p_until, p_max);
            when 1 then v_out := weir_log.unfinished_1(p_group, p_lane, p_stripe, p_low, p_until, p_max);
            else v_out := weir_log.unfinished_2(p_group, p_lane, p_stripe, p_low, p_until, p_max);
        end case;
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
    return query select * from unnest(v_out);
end
$$;
create or replace function weir_log.advance_low(c weir_internal.claim, p_next bigint)
returns bigint
language plpgsql
as $$
begin
    return coalesce(
        (select u.id from weir_log.unfinished(c.group_no, c.lane, c.stripe, c.low, 'infinity', 1) u), p_next);
end
$$;
