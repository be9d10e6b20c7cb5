-- weir.delayed_message
-- A message that is not due, as weir.delayed returns it.
do $$
begin
    if to_regtype('weir.delayed_message') is null then
        create type weir.delayed_message as (
            id          bigint,      -- the message
            due_at      timestamptz, -- not delivered before
            attempts    int,         -- deliveries it had: 0 = delayed by its sender, more = a retry
            key         text,        -- as sent, as are those that follow
            payload     jsonb,       -- null: see body
            headers     jsonb,
            enqueued_at timestamptz, -- when it was sent
            reason      text,        -- the last error, as nack told it; null: none was told
            body        bytea,       -- of a message that was sent as bytes; of JSON that jsonb cannot hold: its text
            payload_text text        -- the JSON text, character by character; null of bytes
        );
    end if;
end
$$;
