-- weir_internal.claim_range
-- Which rows of the log a claim covers: those of one lane in one segment, visible in cur and not in prev, after
-- (from_txid, from_pos) up to (txid, pos); with prev null every row between the two positions.
do $$
begin
    if to_regtype('weir_internal.claim_range') is null then
        create type weir_internal.claim_range as (
            prev      pg_snapshot,   -- the interval's beginning
            cur       pg_snapshot,   -- the interval's end
            seg       bigint,        -- number of the segment
            from_txid xid8,          -- the position before the first message
            from_pos  bigint,        -- a message id
            txid      xid8,          -- the position of the last message
            pos       bigint         -- a message id
        );
    end if;
end
$$;
