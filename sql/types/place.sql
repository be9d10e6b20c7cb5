-- weir_internal.place
-- Where a group shall stand in the log: see log/place.sql.
do $$ begin if to_regtype('weir_internal.place') is null then
create type weir_internal.place as (
    -- the end: what is visible in cur is passed over, and what was due among the delayed at due_at
    cur    pg_snapshot,  -- null: not the end
    due_at timestamptz,
    bound  xid8,         -- the position among the delayed: see log/claim_due.sql
    -- elsewhere
    seg    bigint,       -- number of the segment
    since  timestamptz,  -- only what was sent at or after it; null: whatever it holds
    txid   xid8,         -- only from this transaction's records on; null: from its beginning
    lane   int,          -- of the message that was looked for
    id     bigint        -- that message
);
end if; end $$;
