-- weir_internal.source
-- Where the messages of a claim lie: in one lane of one segment, between two positions.
do $$ begin if to_regtype('weir_internal.source') is null then
create type weir_internal.source as (
    seg       bigint, -- the segment
    lane      int,    -- the lane
    from_txid xid8,   -- after (from_txid, from_pos)
    from_pos  bigint,
    to_txid   xid8,   -- up to the record that holds the message to_pos of the transaction to_txid
    to_pos    bigint
);
end if; end $$;
