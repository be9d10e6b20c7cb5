-- weir_internal.log_record
-- One row of a queue's log: 1..n messages that one call sent into one lane. The segment tables are typed tables of it.
do $$
begin
    if to_regtype('weir_internal.log_record') is null then
        create type weir_internal.log_record as (
            txid           xid8,           -- the transaction that wrote the record; order in a lane is (txid, id)
            id             bigint,         -- id of the last message
            n              int,            -- how many messages
            lane           smallint,       -- 0 .. lanes - 1; lanes itself holds what was claimed straight from `later`
            group_id       int,            -- the one group a redelivery is for; null: every group
            enqueued_at    timestamptz,    -- when send was called
            ids            bigint[],       -- ascending; null when the ids are id - n + 1 .. id
            attempts       smallint[],     -- deliveries each message already had; null when none
            enqueued_times timestamptz[],  -- per message, when they differ; else null
            keys           text[],         -- null when no message has a key
            headers        jsonb[],        -- null when no message has headers
            payloads       jsonb[]         -- one a message
        );
    end if;
end
$$;
