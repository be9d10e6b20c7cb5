-- weir_internal.claim
-- One row of a queue's claim log, which is only ever appended to. `what` says what the row records:
--   0  a claim: a lease on messages of one lane (n > 0), or a checkpoint (n = 0). The newest of a slot is also the
--      lane's cursor.
--   1  a claim's messages were copied within the log: src tells where they are now
--   2  a claim's messages are done with: ids of it, or all of it when ids is null
--   3  a claim's deadline was moved
--   9  the older table of the ring has been carried over (id = the ring's state then)
-- slot = group number * (lanes + 1) + lane; the last lane of a group is for what became due in `later`.
do $$
begin
    if to_regtype('weir_internal.claim') is null then
        create type weir_internal.claim as (
            slot        smallint,                   -- group and lane
            what        smallint,                   -- see above
            id          bigint,                     -- the claim: a rising number * 16384 + slot
            -- the cursor: where the lane's next claim begins
            prev        pg_snapshot,                -- the interval being read: visible in cur and not in prev
            cur         pg_snapshot,                -- in the last lane: the rows of `later` seen so far
            lo          bigint,                     -- first segment that may hold rows of the interval
            seg         bigint,                     -- segment being read
            from_txid   xid8,                       -- where this claim began
            from_pos    bigint,
            txid        xid8,                       -- how far it went
            pos         bigint,
            -- nothing is left in the interval; of what = 2: by its holder, not taken away
            finished    boolean,
            due_at      timestamptz,                -- last lane: how far `later` has been claimed
            due_id      bigint,
            -- the lease
            -- the messages claimed, when they are not those the cursor passed over
            src         weir_internal.claim_range,
            ids         int8multirange,             -- their ids; null in a row of what = 2: all of the claim
            n           int,                        -- how many
            attempt     smallint,                   -- deliveries through claims; a record's own attempts come on top
            claimed_at  timestamptz,                -- when it was made
            deadline    timestamptz,                -- end of the lease
            low         bigint,                     -- every claim of the slot below this id is finished
            next_expiry timestamptz,                -- no unfinished claim of the slot ends before this
            total       bigint,                     -- messages delivered through the slot, this claim's included
            pid         int                         -- process id of the session that claimed
        );
    end if;
end
$$;
