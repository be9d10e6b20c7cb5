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
            payload     jsonb,        -- as sent
            headers     jsonb,        -- as sent, an object, or null
            enqueued_at timestamptz   -- when send was called
        );
    end if;
end
$$;
