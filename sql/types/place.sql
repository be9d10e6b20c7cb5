-- weir_internal.place
-- Where a group shall stand in the log, see weir_internal.find_place and weir_internal.end_place.
do $$
begin
    if to_regtype('weir_internal.place') is null then
        create type weir_internal.place as (
            -- the end: what is visible in cur is passed over, and what was due in `later` at due_at
            cur    pg_snapshot,  -- null: not the end
            due_at timestamptz,
            bound  xid8,         -- the place in `later`: see the template claim_due
            -- elsewhere
            seg    bigint,       -- number of the segment
            since  timestamptz,  -- only what was sent at or after it; null: whatever it holds
            txid   xid8,         -- only from this transaction's records on; null: from its beginning
            lane   smallint,     -- of the message that was looked for
            id     bigint        -- that message
        );
    end if;
end
$$;
