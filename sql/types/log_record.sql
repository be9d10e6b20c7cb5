-- weir_internal.log_record
-- A row of a log's segments: the messages that one call sent into one lane. Message i (1..n) has the id ids[i], or
-- id - n + i when ids is null.
do $$ begin if to_regtype('weir_internal.log_record') is null then
create type weir_internal.log_record as (
    txid           xid8,          -- the transaction that sent them
    id             bigint,        -- of the last message; ids are places in the log, see log/next_ids.sql
    n              int,           -- how many messages
    queue_no       int,           -- the queue
    lane           int,           -- the lane; -1: what became due or was parked, found only through its claim
    group_no       int,           -- the one group that it is for; null: all
    enqueued_at    timestamptz,   -- when they were sent, where enqueued_times is null
    ids            bigint[],      -- all ids, when they are not consecutive
    attempts       int[],         -- deliveries before, when there were any
    enqueued_times timestamptz[], -- when each was sent, when not by one call
    keys           text[],        -- null when none has a key
    headers        jsonb[],       -- null when none has headers
    payloads       text[],        -- JSON as sent; null where there is a body
    bodies         bytea[]        -- null when none has one
);
end if; end $$;
