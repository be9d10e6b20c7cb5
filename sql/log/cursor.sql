-- weir_log.cursor(g, p_lane, p_stripe)
-- How far a group has claimed in a lane or stripe: the newest row of that cursor in the claim log. While the ring of
-- the claim log turns, both tables are read; its state is looked at again afterwards, as a reader of a seqlock does. A
-- lane that has no row stands where the group began, or at the base of the claim log: at a turn, lanes that have
-- nothing to deliver get no row, so that what is idle costs nothing.
--
-- Parameters:
--   g         the group
--   p_lane    the lane
--   p_stripe  1 = the lane
-- Returns: the cursor.
-- Raises: none
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.cursor(g weir_internal.groups, p_lane int, p_stripe int)
returns weir_internal.claim
language plpgsql
as $$
declare
    c weir_internal.claim;
    f weir_internal.claim;
    v_ring bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log.claims_ring');
        case weir_internal.read_claims_table(v_ring)
            when 0 then c := weir_log.cursor_0(g.no, p_lane, p_stripe);
            when 1 then c := weir_log.cursor_1(g.no, p_lane, p_stripe);
            else c := weir_log.cursor_2(g.no, p_lane, p_stripe);
        end case;
        if c.kind is null then
            f := weir_log.first_cursor(g, p_lane, p_stripe);
            c := weir_log.cursor_2(g.no, p_lane, p_stripe); -- a new base may have come with a row for this lane
            if c.kind is null then
                c := f;
            end if;
        end if;
        exit when pg_sequence_last_value('weir_log.claims_ring') = v_ring;
    end loop;
    return c;
end
$$;
