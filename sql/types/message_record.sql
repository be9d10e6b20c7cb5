-- weir.message_record
-- Several delivered messages of one claim in one row: the form the SDKs and the server read. Message i (1..n) has the
-- id ids[i], or first_id + i - 1 when ids is null; attempt attempts[i], or attempt when attempts is null; and so on.
do $$
begin
    if to_regtype('weir.message_record') is null then
        create type weir.message_record as (
            claim_id       bigint,         -- the claim the messages belong to; several records may share it
            n              int,            -- how many messages
            first_id       bigint,         -- id of the first message
            ids            bigint[],       -- all ids, when they are not consecutive; else null
            attempt        int,            -- the attempt of every message, when attempts is null
            attempts       int[],          -- the attempt of each message, when some differ; else null
            keys           text[],         -- the key of each message; null when none has one
            payloads       text[],         -- the payload of each message, the JSON text that was sent; null: see bodies
            headers        jsonb[],        -- the headers of each message; null when none has any
            enqueued_at    timestamptz,    -- when the messages were sent, when enqueued_times is null
            enqueued_times timestamptz[],  -- when each was sent, when they were not sent by one call; else null
            bodies         bytea[]         -- the bytes of each message that was sent as such; null when none was
        );
    end if;
end
$$;
