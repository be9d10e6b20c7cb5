-- weir.message
-- One delivered message, as receive, pop and peek return it.
do $$
begin
    if to_regtype('weir.message') is null then
        create type weir.message as (
            id          bigint,       -- rises within the queue; the same at every delivery
            claim_id    bigint,       -- what ack, nack, reject and extend take; null from peek
            attempt     int,          -- 1 at the first delivery
            key         text,         -- null when the message was sent without one
            payload     jsonb,        -- the JSON that was sent; null: see body
            headers     jsonb,        -- as sent, an object, or null
            enqueued_at timestamptz,  -- when send was called
            body        bytea         -- of a message that was sent as bytes; of JSON that jsonb cannot hold: its text
        );
    end if;
end
$$;
