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
            payload     jsonb,
            headers     jsonb,
            enqueued_at timestamptz, -- when it was sent
            reason      text         -- the last error, as nack told it; null: none was told
        );
    end if;
end
$$;
