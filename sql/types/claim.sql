-- weir_internal.claim
-- A row of a log's claim log. Of kind 'c' it is a cursor: how far a group has claimed in a lane, or in a stripe of one;
-- the newest is the one that counts. If it names a claim, it is also that claim's hold on messages of the lane.
-- A claim over several lanes has a row in each. The other kinds tell what became of a claim:
--   'd'  its holder finished the message `id`
--   'D'  its holder settled the messages `ids`; null: all that were left
--   'x'  the messages `ids` were taken from its holder, at `claimed_at` if because the lease had ended; null: all that
--        were left
--   'e'  its deadline is now `deadline`, if that is later
--   'p'  its messages stand in key queues: an ack has to look there
-- Of kind 'n' it notes a step of the claim log's rotation.
do $$ begin if to_regtype('weir_internal.claim') is null then
create type weir_internal.claim as (
    kind        "char",
    claim       bigint,         -- the claim; null: this row only moves the cursor
    id          bigint,         -- 'c': rises within the cursor, is the claim's number in its first lane; 'd': message
    queue_no    int,            -- the queue
    group_no    int,            -- the group; only of kind 'c'
    lane        int,            -- the lane; -1: what became due or was parked
    stripe      int,            -- 1: all of the lane; s + i: the i-th of s stripes, s a power of two
    width       int,            -- of stripe 1: the lane is read in so many stripes; null: in one
    prev        pg_snapshot,    -- the interval that is read: what is visible in cur and not in prev
    cur         pg_snapshot,
    lo          bigint,         -- the first segment that may hold something of it
    seg         bigint,         -- the position in it: a segment, and (txid, pos) there
    txid        xid8,
    pos         bigint,
    finished    boolean,        -- all of the interval was claimed
    due_at      timestamptz,    -- lane -1: the position among the delayed messages
    due_id      bigint,
    src         weir_internal.source, -- where they lie; null: between (from_txid, from_pos) and (txid, pos)
    from_txid   xid8,
    from_pos    bigint,
    ids         int8multirange, -- the messages that this row claims, settles or takes
    n           int,            -- how many they are
    attempt     int,            -- deliveries of them through claims, this one included
    claimed_at  timestamptz,
    deadline    timestamptz,    -- when the lease ends
    pid         int,            -- the backend that claimed them
    limited     boolean,        -- true: the group has a limit, so that somebody may wait for them to be finished
    low         bigint,         -- low watermark: every claim of this cursor below it is finished
    next_expiry timestamptz,    -- no lease of this cursor's claims ends before
    total       bigint,         -- messages delivered through this cursor
    inflight    bigint[],       -- ordered groups: the claims of this cursor that were unfinished, this one included
    keys        int[]           -- ordered groups: hashes of the claimed messages' keys
);
end if; end $$;
